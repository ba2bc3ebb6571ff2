/**
 * The map: the whole conversation as a strip at the edge, and what one looks at as a frame on it. Pressed or dragged it
 * leads to any place, also to messages that are not on the page.
 */

import { find } from "../shared/dom.js";
import { MapBubble } from "./map_bubble.js";
import { MapDates } from "./map_dates.js";
import { MapDrawing } from "./map_drawing.js";
import { MapFrame } from "./map_frame.js";
import { startMapKeys } from "./map_keys.js";
import { MarkedMessages, startMapPlaces } from "./map_places.js";
import { MapPointer } from "./map_pointer.js";
import { MapScale } from "./map_scale.js";
import { MapSigns } from "./map_signs.js";

/**
 * @import { Bucket } from "./map_scale.js"
 * @import { Hits, Marked } from "./map_signs.js"
 *
 * @typedef {{messages: number, buckets: Bucket[], marks: Marked[], markup: string}} MapFigures the server's answer
 *
 * @typedef {object} MapOptions
 * @property {MapFigures} figures of the conversation as it is
 * @property {() => Promise<MapFigures>} fetchFigures asks for them again
 * @property {string} threadUrl of the thread at a place
 * @property {HTMLElement} scroller
 * @property {import("../messages/thread_range.js").ThreadRange} range
 * @property {import("../messages/window_coverage.js").WindowCoverage} coverage
 * @property {() => void} toNewest
 * @property {AbortSignal} signal ends it
 */

const PIXELS_A_MESSAGE = 8; // the strip is as tall as it needs, until it has the whole height
const AGAIN_MS = 1_500; // after which the figures of a conversation that has gone on are asked for
const AGAIN_MS_A_MESSAGE = 0.1; // and later where they cost more

export class ConversationMap {
  /** @type {MapScale | undefined} */
  scale;
  /** @type {Hits} */
  hits = { positions: [], words: "" };
  #askedFor = ""; // the last message on the page when figures were asked for, and its state
  #askTimer = 0;
  #isDrawing = false;
  #drawn = ""; // what the strip was drawn from

  /**
   * @param {HTMLElement} element
   * @param {MapOptions} options
   */
  constructor(element, { figures, fetchFigures, threadUrl, scroller, range, coverage, toNewest, signal }) {
    this.element = element;
    this.fetchFigures = fetchFigures;
    this.scroller = scroller;
    this.range = range;
    this.coverage = coverage;
    this.toNewest = toNewest;
    this.signal = signal;
    this.strip = find(element, "[data-map-strip]");
    this.signs = new MapSigns({ range, coverage });
    this.drawing = new MapDrawing(find(element, ".map-drawing", SVGElement));
    this.dates = new MapDates(element);
    this.frame = new MapFrame(element, { scroller, range, signs: this.signs });
    this.bubble = new MapBubble(element, this.signs);
    this.marked = new MarkedMessages(this, threadUrl);
    this.pointer = new MapPointer(this, signal);
    startMapKeys(this);
    startMapPlaces(this, signal);
    const observer = new ResizeObserver(() => this.draw());
    observer.observe(scroller);
    observer.observe(range.list);
    scroller.addEventListener("scroll", () => this.draw(), { passive: true });
    signal.addEventListener("abort", () => {
      observer.disconnect();
      clearTimeout(this.#askTimer);
    });
    this.#askedFor = keyOfLast(range);
    this.#take(figures);
  }

  /**
   * Show what a search has found.
   * @param {number[]} positions
   * @param {string} words for how many, `%(count)s hits`
   */
  showHits(positions, words) {
    this.hits = { positions, words };
    this.draw();
  }

  /** Draw what there is, before the next frame. */
  draw() {
    if (!this.#isDrawing && !this.signal.aborted) {
      this.#isDrawing = true;
      requestAnimationFrame(() => {
        this.#isDrawing = false;
        this.#draw();
      });
    }
  }

  /** Draw where one looks, or what the pointer drags. */
  drawFrame() {
    this.scale && this.frame.draw(this.scale, this.strip.clientHeight, this.pointer.dragged);
  }

  /**
   * Show in the bubble what is at a height of the strip.
   * @param {number} y in pixels
   */
  tell(y) {
    this.scale && this.bubble.show(this.scale, { y, height: this.strip.clientHeight, hits: this.hits });
  }

  #draw() {
    const { shown, isLong } = this.range;
    if (!isLong || !shown.length) {
      this.element.hidden = true;
      return;
    }
    if (keyOfLast(this.range) !== this.#askedFor) {
      this.#ask(keyOfLast(this.range));
    }
    if (!this.scale) {
      return;
    }
    this.element.hidden = false;
    this.#drawStrip(this.scale);
    this.drawFrame();
  }

  /**
   * Draw what is not drawn yet.
   * @param {MapScale} scale
   */
  #drawStrip(scale) {
    this.strip.style.blockSize = `min(100%, ${scale.messages * PIXELS_A_MESSAGE}px)`;
    const height = this.strip.clientHeight;
    const line = this.coverage.window.first_position;
    const signed = this.signs.all;
    const hits = this.hits.positions;
    const drawn = JSON.stringify([height, line, signed, hits]);
    if (drawn !== this.#drawn) {
      this.#drawn = drawn;
      this.drawing.draw(scale, { height, line, signed, hits });
      this.dates.draw(scale, height);
      const above = scale.countAbove(line);
      const count = (/** @type {string} */ wanted) => signed.filter(({ sign }) => sign === wanted).length;
      this.#writeCounts({ in: scale.messages - above, recalled: count("recalled"), pinned: count("pinned") });
      this.coverage.noteMessagesAbove(above);
    }
  }

  /** @param {Record<string, number>} counts */
  #writeCounts(counts) {
    for (const [name, count] of Object.entries(counts)) {
      find(this.element, `[data-count-${name}]`).textContent = String(count);
    }
  }

  /**
   * Ask for the figures, a little after the conversation has gone on or its last reply has ended.
   * @param {string} last what tells the last message and its state
   */
  #ask(last) {
    const pause = Math.max(AGAIN_MS, (this.scale?.messages ?? 0) * AGAIN_MS_A_MESSAGE);
    this.#askedFor = last;
    clearTimeout(this.#askTimer);
    this.#askTimer = setTimeout(async () => {
      /** @type {MapFigures | undefined} */
      const figures = await this.fetchFigures().catch(() => undefined);
      if (figures && !this.signal.aborted) {
        this.#take(figures);
      }
    }, pause);
  }

  /** @param {MapFigures} figures */
  #take({ buckets, marks }) {
    this.scale = new MapScale(buckets);
    this.signs.take(marks);
    this.marked.draw(marks, this.scale);
    this.#drawn = "";
    this.draw();
  }
}

/**
 * Return what tells the last message, and whether it has ended: how long a reply is, is known by then.
 * @param {import("../messages/thread_range.js").ThreadRange} range
 */
function keyOfLast({ newest }) {
  const { message, position, state } = newest.at(-1)?.dataset ?? {};
  return [message, position, state].join();
}
