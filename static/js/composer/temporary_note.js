/** When a temporary conversation is deleted, in the viewer's own time: today or tomorrow, and at what time. */

import { find } from "../shared/dom.js";
import { CLOCK, timeFormat } from "../shared/local_times.js";
import { sentence } from "../shared/sentences.js";

const DAY_MS = 24 * 60 * 60 * 1_000;
const AGAIN_MS = 60_000;

export class TemporaryNote {
  /**
   * @param {HTMLElement} element
   * @param {AbortSignal} signal ends it
   */
  constructor(element, signal) {
    this.element = element;
    this.#draw();
    const timer = setInterval(() => this.#draw(), AGAIN_MS); // midnight may pass
    signal.addEventListener("abort", () => clearInterval(timer));
  }

  /** The conversation has begun at this moment. */
  begin() {
    this.element.dataset.until ||= new Date(Date.now() + DAY_MS).toISOString();
    this.#draw();
  }

  #draw() {
    const { until } = this.element.dataset;
    if (!until) {
      return;
    }
    const [moment, now] = [new Date(until), new Date()];
    const time = timeFormat(CLOCK).format(moment);
    const isToday = moment.toDateString() === now.toDateString();
    const words = sentence(isToday ? "deletedToday" : "deletedTomorrow", { time });
    const line = find(this.element, "[data-words]");
    if (line.textContent !== words) {
      line.textContent = words;
    }
  }
}
