/** Which messages have a sign on the map: on the page as that says, elsewhere as the server did. */

import { dataOf } from "../shared/dom.js";

/**
 * @import { Sign, Signed } from "./map_drawing.js"
 *
 * @typedef {{message: number, position: number, mark: string, at: number}} Marked a message, as the server tells of it
 *
 * @typedef {{positions: number[], words: string}} Hits what a search has found, and how so many are called: `%(count)s hits`
 */

export class MapSigns {
  /** @type {Map<number, Sign>} by position, as the server knows them */
  #decided = new Map();

  /**
   * @param {object} parts
   * @param {import("../messages/thread_range.js").ThreadRange} parts.range
   * @param {import("../messages/window_coverage.js").WindowCoverage} parts.coverage
   */
  constructor({ range, coverage }) {
    this.range = range;
    this.coverage = coverage;
  }

  /** @param {Marked[]} marks */
  take(marks) {
    const decided = marks.filter(({ mark }) => mark === "pinned" || mark === "excluded");
    this.#decided = new Map(decided.map(({ position, mark }) => [position, /** @type {Sign} */ (mark)]));
  }

  /** The messages with a sign, by position. */
  get all() {
    const { first_position: line, forgotten_before: forgotten } = this.coverage.window;
    const decided = [...this.#decided].filter(([position, sign]) => sign !== "pinned" || position >= forgotten);
    const marks = new Map(decided);
    for (const article of [...this.range.shown, ...this.range.newest]) {
      const [position, mark] = [Number(article.dataset.position), dataOf(article, "mark")];
      if (mark === "pinned" || mark === "excluded") {
        marks.set(position, mark);
      } else {
        marks.delete(position);
      }
    }
    for (const position of this.coverage.recalledPositions) {
      if (position < line && !marks.has(position)) {
        marks.set(position, "recalled");
      }
    }
    /** @type {Signed[]} */
    const signed = [...marks].map(([position, sign]) => ({ position, sign }));
    return signed.sort((one, other) => one.position - other.position);
  }

  /**
   * Return the words for what the model sees of the message at *position*.
   * @param {number} position
   */
  wordsAt(position) {
    const sign = this.all.find((signed) => signed.position === position)?.sign;
    return this.coverage.words[sign ?? (position >= this.coverage.window.first_position ? "in" : "out")];
  }
}
