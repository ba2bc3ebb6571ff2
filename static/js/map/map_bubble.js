/** The bubble at the map: date, number and signs of the place under the pointer. */

import { find } from "../shared/dom.js";
import { timeFormat } from "../shared/local_times.js";
import { sentence } from "../shared/sentences.js";

/** @import { MapScale } from "./map_scale.js" */

export const SNAP_PIXELS = 4;

export class MapBubble {
  /**
   * @param {HTMLElement} element of the map
   * @param {import("./map_signs.js").MapSigns} signs
   */
  constructor(element, signs) {
    this.bubble = find(element, "[data-map-bubble]");
    this.signs = signs;
    this.day = timeFormat({ weekday: "short", day: "numeric", month: "long" });
  }

  /**
   * @param {MapScale} scale
   * @param {object} place
   * @param {number} place.y in pixels
   * @param {number} place.height of the strip
   * @param {import("./map_signs.js").Hits} place.hits
   */
  show(scale, { y, height, hits }) {
    const { position } = scale.messageAt(y / height);
    const values = { number: String(scale.numberOf(position)), count: String(scale.messages) };
    const isNear = (/** @type {number} */ at) => Math.abs(scale.placeOf(at) * height - y) <= SNAP_PIXELS;
    const near = this.signs.all.filter((signed) => isNear(signed.position));
    const words = [...new Set(near.map(({ sign }) => this.signs.coverage.words[sign]))];
    const found = hits.positions.filter(isNear);
    if (found.length) {
      words.push(hits.words.replace("%(count)s", String(found.length)));
    }
    if (!words.length) {
      words.push(this.signs.wordsAt(position));
    }
    find(this.bubble, "[data-bubble-date]").textContent = this.day.format(scale.momentOf(position));
    find(this.bubble, "[data-bubble-number]").textContent = sentence("mapNumber", values);
    find(this.bubble, "[data-bubble-marks]").textContent = words.join(" · ");
    this.bubble.hidden = false;
    this.bubble.style.insetBlockStart = `${Math.min(Math.max(y, 40), height - 40)}px`;
  }

  hide() {
    this.bubble.hidden = true;
  }
}
