/**
 * The text of a reply while it streams: the part known without a gap, and the pieces that wait beyond one.
 *
 * The code points before `tailAt` are finished blocks, shown as HTML; those from `tailAt` to `length` are the tail,
 * shown as text. Pieces may come twice, late, or never: a piece that follows what is known is taken, one that is known
 * already is ignored, and one beyond a gap waits until the gap is filled, by a late piece or by a snapshot.
 *
 * Pure: knows neither the page nor the socket.
 */

import { countCodePoints, skipCodePoints } from "./code_points.js";

/**
 * @typedef {object} Change what to do to the page, in this order
 * @property {string[]} blocks HTML to add behind the finished blocks
 * @property {boolean} redraw whether the whole tail must be written again
 * @property {string} appended text to add to the tail, if it needn't be written again
 */

export class ReplyText {
  /** @param {{tailAt: number, tail: string}} stored */
  constructor({ tailAt, tail }) {
    this.tailAt = tailAt;
    this.tail = tail;
    this.length = tailAt + countCodePoints(tail);
    /** @type {{at: number, text: string}[]} */
    this.waitingTexts = [];
    /** @type {{start: number, end: number, html: string}[]} */
    this.waitingBlocks = [];
  }

  /** Whether something is missing that a snapshot would bring. */
  get hasGap() {
    return this.waitingTexts.length > 0 || this.waitingBlocks.length > 0;
  }

  /**
   * From code point *at* on, the text is *text*.
   * @param {number} at
   * @param {string} text
   * @returns {Change}
   */
  takeText(at, text) {
    this.waitingTexts.push({ at, text });
    return this.#settle();
  }

  /**
   * The code points from *start* to *end* are finished and look like *html*.
   * @param {number} start
   * @param {number} end
   * @param {string} html
   * @returns {Change}
   */
  takeBlock(start, end, html) {
    this.waitingBlocks.push({ start, end, html });
    return this.#settle();
  }

  /**
   * Whether a stored state holds anything that is not known here.
   * @param {{tailAt: number, length: number}} stored
   */
  isBehind({ tailAt, length }) {
    return length > this.length || tailAt > this.tailAt;
  }

  /**
   * Return the stored state, with all that this one knows beyond it.
   * @param {{tailAt: number, tail: string}} stored
   * @returns {{text: ReplyText, change: Change}}
   */
  mergedInto(stored) {
    const merged = new ReplyText(stored);
    merged.waitingTexts = [{ at: this.tailAt, text: this.tail }, ...this.waitingTexts];
    merged.waitingBlocks = this.waitingBlocks;
    return { text: merged, change: merged.#settle() };
  }

  /** @returns {Change} */
  #settle() {
    /** @type {Change} */
    const change = { blocks: [], redraw: false, appended: "" };
    while (this.#appendWaitingText(change) || this.#finishWaitingBlock(change)) {
      // Each may make the other possible.
    }
    return change;
  }

  /**
   * @param {Change} change
   * @returns {boolean} whether there was one
   */
  #appendWaitingText(change) {
    const index = this.waitingTexts.findIndex(({ at }) => at <= this.length);
    if (index < 0) {
      return false;
    }
    const [{ at, text }] = this.waitingTexts.splice(index, 1);
    const news = skipCodePoints(text, this.length - at);
    this.tail += news;
    this.length += countCodePoints(news);
    change.appended += news;
    return true;
  }

  /**
   * @param {Change} change
   * @returns {boolean} whether there was one
   */
  #finishWaitingBlock(change) {
    this.waitingBlocks = this.waitingBlocks.filter(({ end }) => end > this.tailAt);
    const index = this.waitingBlocks.findIndex(({ start }) => start === this.tailAt);
    if (index < 0) {
      return false;
    }
    const [{ start, end, html }] = this.waitingBlocks.splice(index, 1);
    this.tail = skipCodePoints(this.tail, end - start);
    this.tailAt = end;
    this.length = Math.max(this.length, end);
    change.blocks.push(html);
    change.redraw = true;
    return true;
  }
}
