/** The frame on the map: which messages are on the screen, and, for screen readers, the value of the strip. */

import { find } from "../shared/dom.js";
import { timeFormat } from "../shared/local_times.js";
import { sentence } from "../shared/sentences.js";

/** @import { MapScale } from "./map_scale.js" */

const LEAST_FRAME = 40;

export class MapFrame {
  /**
   * @param {HTMLElement} element of the map
   * @param {object} parts
   * @param {HTMLElement} parts.scroller
   * @param {import("../messages/thread_range.js").ThreadRange} parts.range
   * @param {import("./map_signs.js").MapSigns} parts.signs
   */
  constructor(element, { scroller, range, signs }) {
    this.strip = find(element, "[data-map-strip]");
    this.frame = find(element, "[data-map-frame]");
    this.scroller = scroller;
    this.range = range;
    this.signs = signs;
    this.day = timeFormat({ weekday: "short", day: "numeric", month: "long" });
  }

  /**
   * @param {MapScale} scale
   * @param {number} height of the strip in pixels
   * @param {number} [dragged] where the pointer holds its middle
   */
  draw(scale, height, dragged) {
    const [start, end] = this.#lookedAt(scale);
    const size = Math.max(LEAST_FRAME, (end - start) * height);
    const middle = dragged ?? ((start + end) / 2) * height;
    const top = Math.min(Math.max(middle - size / 2, -3), height - size + 3);
    this.frame.style.blockSize = `${size}px`;
    this.frame.style.transform = `translateY(${top}px)`;
    const { position } = this.current(scale);
    this.strip.ariaValueMax = String(scale.messages);
    this.strip.ariaValueNow = String(scale.numberOf(position));
    this.strip.ariaValueText = sentence("mapPlace", {
      date: this.day.format(scale.momentOf(position)),
      number: String(scale.numberOf(position)),
      count: String(scale.messages),
      mark: this.signs.wordsAt(position),
    });
  }

  /**
   * Return the message that a key goes on from: the one at the top of the screen, and at the end the newest.
   * @param {MapScale} scale
   */
  current(scale) {
    const view = this.scroller.getBoundingClientRect();
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    const isAtEnd = !this.range.hasGap && scrollHeight - scrollTop - clientHeight < 2;
    const { shown } = this.range;
    const article = isAtEnd ? shown.at(-1) : shown.find((each) => each.getBoundingClientRect().bottom > view.top + 40);
    const position = Number(article?.dataset.position ?? scale.lastPosition);
    return { article, position, first: Number(article?.dataset.firstPosition ?? position) };
  }

  /**
   * Return where what is on the screen begins and ends, from 0 to 1.
   * @param {MapScale} scale
   */
  #lookedAt(scale) {
    const view = this.scroller.getBoundingClientRect();
    const seen = this.range.shown.filter((article) => {
      const { top, bottom } = article.getBoundingClientRect();
      return bottom > view.top && top < view.bottom;
    });
    const [first, last] = [seen[0], seen.at(-1)];
    if (!first || !last) {
      return [1, 1];
    }
    return [placeIn(first, view.top, scale), placeIn(last, view.bottom, scale)];
  }
}

/**
 * Return the place of what stands at the height *y* of the screen in *article*.
 * @param {HTMLElement} article
 * @param {number} y
 * @param {MapScale} scale
 */
function placeIn(article, y, scale) {
  const { top, height } = article.getBoundingClientRect();
  const within = Math.min(Math.max((y - top) / height, 0), 1);
  const start = scale.placeOf(Number(article.dataset.firstPosition), 0);
  return start + within * (scale.placeOf(Number(article.dataset.position), 1) - start);
}
