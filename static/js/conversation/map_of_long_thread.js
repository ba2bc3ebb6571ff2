/** The map, as far as the page needs it: fetched once the thread is longer than two screens, and drawn from then on. */

import { fetchStyles } from "../shared/bundles.js";
import { dataOf, find } from "../shared/dom.js";

/**
 * @typedef {typeof import("../map/map.js")} MapBundle
 * @typedef {ReturnType<MapBundle["startMap"]>} ConversationMap
 */

export class MapOfLongThread {
  /** @type {ConversationMap | undefined} */
  #map;
  #isLoading = false;
  /** @type {Parameters<ConversationMap["showHits"]>} */
  #hits = [[], ""];

  /**
   * @param {HTMLElement} page
   * @param {Omit<Parameters<MapBundle["startMap"]>[1], "figures">} options
   */
  constructor(page, options) {
    this.page = page;
    this.options = options;
    const { scroller, range, signal } = options;
    const observer = new ResizeObserver(() => this.draw());
    observer.observe(scroller);
    observer.observe(range.list);
    signal.addEventListener("abort", () => observer.disconnect());
  }

  /** Draw what there is, before the next frame. */
  draw() {
    if (this.#map) {
      this.#map.draw();
    } else if (this.options.range.isLong) {
      this.#load();
    }
  }

  /** @param {Parameters<ConversationMap["showHits"]>} hits */
  showHits(...hits) {
    this.#hits = hits;
    this.#map?.showHits(...hits);
  }

  async #load() {
    if (this.#isLoading) {
      return;
    }
    this.#isLoading = true;
    try {
      const { fetchFigures, signal } = this.options;
      /** @type {Promise<MapBundle>} */
      const bundle = import(dataOf(document.body, "map"));
      const [{ startMap }, figures] = await Promise.all([bundle, fetchFigures(), fetchStyles("mapStyles")]);
      if (!signal.aborted) {
        find(this.page, '[data-part="map"]').innerHTML = figures.markup;
        this.#map = startMap(this.page, { ...this.options, figures });
        this.#map.showHits(...this.#hits);
      }
    } catch {
      // Without it the thread is read by scrolling; what changes next tries again.
    } finally {
      this.#isLoading = false;
    }
  }
}
