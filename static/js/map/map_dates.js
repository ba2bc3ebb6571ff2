/** The dates beside the map. */

import { find } from "../shared/dom.js";
import { isLongAgo, timeFormat } from "../shared/local_times.js";

/** @import { MapScale } from "./map_scale.js" */

const MOST_DATES = 8;
const DATE_PIXELS = 72;

export class MapDates {
  /** @param {HTMLElement} element of the map */
  constructor(element) {
    this.list = find(element, "[data-map-dates]");
    this.day = timeFormat({ day: "numeric", month: "short" });
    this.month = timeFormat({ month: "short", year: "numeric" });
  }

  /**
   * @param {MapScale} scale
   * @param {number} height in pixels
   */
  draw(scale, height) {
    const labels = this.#labels(scale, height);
    const key = JSON.stringify(labels);
    if (this.list.dataset.key !== key) {
      this.list.dataset.key = key;
      this.list.replaceChildren(...labels.map(({ label, place }) => itemOf(label, place)));
    }
    this.list.style.blockSize = `${height}px`;
  }

  /**
   * Return the days at equal distances, each once, and how far down they stand.
   * @param {MapScale} scale
   * @param {number} height
   */
  #labels(scale, height) {
    const most = Math.min(MOST_DATES, Math.floor(height / DATE_PIXELS) + 1);
    const labels = [];
    let before = "";
    for (let index = 0; index < most; index += 1) {
      const place = most > 1 ? index / (most - 1) : 0;
      const moment = scale.momentOf(scale.messageAt(place).position);
      const label = (isLongAgo(moment) ? this.month : this.day).format(moment);
      if (label !== before) {
        labels.push({ label, place });
      }
      before = label;
    }
    return labels;
  }
}

/**
 * @param {string} label
 * @param {number} place from 0 to 1
 */
function itemOf(label, place) {
  const item = document.createElement("li");
  item.textContent = label;
  item.style.insetBlockStart = `${100 * place}%`;
  return item;
}
