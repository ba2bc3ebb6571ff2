/** The map, as far as the page needs it: fetched once the thread is longer than two screens, and drawn from then on. */

import { dataOf } from "../shared/dom.js";

/**
 * @typedef {typeof import("../map/map.js")} MapBundle
 * @typedef {ReturnType<MapBundle["startMap"]>} ConversationMap
 */

export class MapOfLongThread {
  /** @type {ConversationMap | undefined} */
  #map;
  #isLoading = false;

  /**
   * @param {HTMLElement} page
   * @param {Parameters<MapBundle["startMap"]>[1]} options
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

  async #load() {
    if (this.#isLoading) {
      return;
    }
    this.#isLoading = true;
    try {
      /** @type {MapBundle} */
      const { startMap } = await import(dataOf(document.body, "map"));
      if (!this.options.signal.aborted) {
        this.#map = startMap(this.page, this.options);
      }
    } catch {
      // Without it the thread is read by scrolling; what changes next tries again.
    } finally {
      this.#isLoading = false;
    }
  }
}
