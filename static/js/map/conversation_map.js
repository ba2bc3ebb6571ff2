/**
 * The map: the whole conversation as a strip at the edge, and what one looks at as a frame on it. Pressed or dragged it
 * leads to any place, also to messages that are not on the page.
 */

import { dataOf, find, queryAll } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";
import { MapDrawing } from "./map_drawing.js";
import { MapScale } from "./map_scale.js";

/**
 * @import { Bucket } from "./map_scale.js"
 * @import { Sign, Signed } from "./map_drawing.js"
 *
 * @typedef {{messages: number, buckets: Bucket[], marks: {message: number, position: number, mark: string,
 *   at: number}[], markup: string}} MapFigures the server's answer
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
const LEAST_FRAME = 40;
const SNAP_PIXELS = 4;
const REST_MS = 120; // of the pointer, after which the thread follows it
const AGAIN_MS = 1_500; // after which the figures of a conversation that has gone on are asked for
const AGAIN_MS_A_MESSAGE = 0.1; // and later where they cost more
const MOST_DATES = 8;
const DATE_PIXELS = 72;
const MOST_LISTED = 100;
const SIGNS = ["recalled", "pinned", "excluded"];

export class ConversationMap {
  /** @type {MapScale | undefined} */
  #scale;
  /** @type {Map<number, Sign>} by position, as the server knows them */
  #decided = new Map();
  #askedFor = ""; // the last message on the page when figures were asked for, and its state
  #askTimer = 0;
  #restTimer = 0;
  #isDrawing = false;
  #drawn = ""; // what the strip was drawn from
  /** Positions of the messages that a search has found. @type {number[]} */
  #hits = [];
  #hitsWords = ""; // "%(count)s hits"
  /** @type {number | undefined} the place under the pointer that drags */
  #dragged;
  #drags = 0;

  /**
   * @param {HTMLElement} element
   * @param {MapOptions} options
   */
  constructor(element, { figures, fetchFigures, threadUrl, scroller, range, coverage, toNewest, signal }) {
    this.element = element;
    this.fetchFigures = fetchFigures;
    this.threadUrl = threadUrl;
    this.scroller = scroller;
    this.range = range;
    this.coverage = coverage;
    this.toNewest = toNewest;
    this.signal = signal;
    this.strip = find(element, "[data-map-strip]");
    this.frame = find(element, "[data-map-frame]");
    this.bubble = find(element, "[data-map-bubble]");
    this.drawing = new MapDrawing(find(element, ".map-drawing", SVGElement));
    const { lang } = document.documentElement;
    this.day = new Intl.DateTimeFormat(lang, { day: "numeric", month: "short" });
    this.moment = new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "short" });
    this.longDay = new Intl.DateTimeFormat(lang, { weekday: "short", day: "numeric", month: "long" });
    const observer = new ResizeObserver(() => this.draw());
    observer.observe(scroller);
    observer.observe(range.list);
    scroller.addEventListener("scroll", () => this.draw(), { passive: true });
    this.#followPointer();
    this.strip.addEventListener("keydown", (event) => this.#press(event));
    this.#startPlaces();
    signal.addEventListener("abort", () => {
      observer.disconnect();
      clearTimeout(this.#askTimer);
      clearTimeout(this.#restTimer);
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
    this.#hits = positions;
    this.#hitsWords = words;
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

  #draw() {
    const { shown, isLong } = this.range;
    if (!isLong || !shown.length) {
      this.element.hidden = true;
      return;
    }
    if (keyOfLast(this.range) !== this.#askedFor) {
      this.#ask(keyOfLast(this.range));
    }
    if (!this.#scale) {
      return;
    }
    this.element.hidden = false;
    const needed = this.#scale.messages * PIXELS_A_MESSAGE;
    this.strip.style.blockSize = `min(100%, ${needed}px)`;
    const height = this.strip.clientHeight;
    const line = this.coverage.window.first_position;
    const signed = this.#signed();
    const hits = this.#hits;
    const drawn = JSON.stringify([height, line, signed, hits]);
    if (drawn !== this.#drawn) {
      this.#drawn = drawn;
      this.drawing.draw(this.#scale, { height, line, signed, hits });
      this.#drawDates(height);
      this.#count(line);
      this.coverage.noteMessagesAbove(this.#scale.countAbove(line));
    }
    this.#drawFrame(height);
  }

  /** @param {number} line */
  #count(line) {
    const signs = this.#signed().map(({ sign }) => sign);
    const counts = {
      in: (this.#scale?.messages ?? 0) - (this.#scale?.countAbove(line) ?? 0),
      recalled: signs.filter((sign) => sign === "recalled").length,
      pinned: signs.filter((sign) => sign === "pinned").length,
    };
    for (const [name, count] of Object.entries(counts)) {
      find(this.element, `[data-count-${name}]`).textContent = String(count);
    }
  }

  /**
   * Ask for the figures, a little after the conversation has gone on or its last reply has ended.
   * @param {string} last what tells the last message and its state
   */
  #ask(last) {
    const pause = Math.max(AGAIN_MS, (this.#scale?.messages ?? 0) * AGAIN_MS_A_MESSAGE);
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
  #take(figures) {
    this.#scale = new MapScale(figures.buckets);
    const decided = figures.marks.filter(({ mark }) => mark === "pinned" || mark === "excluded");
    this.#decided = new Map(decided.map(({ position, mark }) => [position, /** @type {Sign} */ (mark)]));
    this.#listMarked(figures);
    this.#drawn = "";
    this.draw();
  }

  /** Return what has a sign: on the page as that says, elsewhere as the server did. */
  #signed() {
    const marks = new Map(this.#decided);
    const line = this.coverage.window.first_position;
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

  /** @param {number} height */
  #drawDates(height) {
    const list = find(this.element, "[data-map-dates]");
    const scale = this.#scale;
    if (!scale) {
      return;
    }
    const most = Math.min(MOST_DATES, Math.floor(height / DATE_PIXELS) + 1);
    const labels = [];
    let before = "";
    for (let index = 0; index < most; index += 1) {
      const place = most > 1 ? index / (most - 1) : 0;
      const label = this.day.format(scale.momentOf(scale.messageAt(place).position));
      if (label !== before) {
        labels.push([label, place]);
      }
      before = label;
    }
    const key = JSON.stringify(labels);
    if (list.dataset.key !== key) {
      list.dataset.key = key;
      list.replaceChildren(
        ...labels.map(([label, place]) => {
          const item = document.createElement("li");
          item.textContent = String(label);
          item.style.insetBlockStart = `${100 * Number(place)}%`;
          return item;
        }),
      );
    }
    list.style.blockSize = `${height}px`;
  }

  /** @param {number} height */
  #drawFrame(height) {
    const scale = this.#scale;
    if (!scale) {
      return;
    }
    const [start, end] = this.#lookedAt(scale);
    const size = Math.max(LEAST_FRAME, (end - start) * height);
    const middle = this.#dragged ?? ((start + end) / 2) * height;
    const top = Math.min(Math.max(middle - size / 2, -3), height - size + 3);
    this.frame.style.blockSize = `${size}px`;
    this.frame.style.transform = `translateY(${top}px)`;
    const { position } = this.#current(scale);
    this.strip.ariaValueMax = String(scale.messages);
    this.strip.ariaValueNow = String(scale.numberOf(position));
    this.strip.ariaValueText = this.#describe(scale, position);
  }

  /**
   * Return where what is on the screen begins and ends.
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

  /**
   * The message that a key goes on from: the one at the top of the screen, and at the end the newest.
   * @param {MapScale} scale
   */
  #current(scale) {
    const view = this.scroller.getBoundingClientRect();
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    const isAtEnd = !this.range.hasGap && scrollHeight - scrollTop - clientHeight < 2;
    const { shown } = this.range;
    const article = isAtEnd ? shown.at(-1) : shown.find((each) => each.getBoundingClientRect().bottom > view.top + 40);
    const position = Number(article?.dataset.position ?? scale.lastPosition);
    return { article, position, first: Number(article?.dataset.firstPosition ?? position) };
  }

  /**
   * @param {MapScale} scale
   * @param {number} position
   */
  #describe(scale, position) {
    const values = {
      date: this.longDay.format(scale.momentOf(position)),
      number: String(scale.numberOf(position)),
      count: String(scale.messages),
      mark: this.coverage.words[this.#markAt(position)],
    };
    return sentence("mapPlace", values);
  }

  /** @param {number} position */
  #markAt(position) {
    const sign = this.#signed().find((signed) => signed.position === position)?.sign;
    return sign ?? (position >= this.coverage.window.first_position ? "in" : "out");
  }

  // By pointer

  #followPointer() {
    const { strip } = this;
    strip.addEventListener("pointerdown", (event) => {
      if (event.button === 0) {
        event.preventDefault();
        strip.focus({ preventScroll: true });
        strip.setPointerCapture(event.pointerId);
        this.#drags += 1;
        this.#drag(event);
      }
    });
    strip.addEventListener("pointermove", (event) => {
      if (this.#dragged === undefined) {
        this.#tell(this.#heightOf(event));
      } else {
        this.#drag(event);
      }
    });
    strip.addEventListener("pointerup", () => this.#release());
    strip.addEventListener("pointercancel", () => this.#release());
    strip.addEventListener("pointerleave", () => {
      if (this.#dragged === undefined) {
        this.bubble.hidden = true;
      }
    });
    strip.addEventListener("wheel", ({ deltaY }) => this.scroller.scrollBy(0, deltaY), { passive: true });
  }

  /** @param {PointerEvent} event */
  #heightOf(event) {
    const { top, height } = this.strip.getBoundingClientRect();
    return this.#snap(Math.min(Math.max(event.clientY - top, 0), height), height);
  }

  /**
   * Return the height of a sign that is as good as there.
   * @param {number} y
   * @param {number} height
   */
  #snap(y, height) {
    const positions = [...this.#signed().map(({ position }) => position), ...this.#hits];
    const places = positions.map((position) => (this.#scale?.placeOf(position) ?? 0) * height);
    return places.find((place) => Math.abs(place - y) <= SNAP_PIXELS) ?? y;
  }

  /** @param {PointerEvent} event */
  #drag(event) {
    this.#dragged = this.#heightOf(event);
    this.#tell(this.#dragged);
    this.#drawFrame(this.strip.clientHeight);
    clearTimeout(this.#restTimer);
    this.#restTimer = setTimeout(() => this.#follow(), REST_MS);
  }

  #release() {
    if (this.#dragged !== undefined) {
      const drag = this.#drags;
      clearTimeout(this.#restTimer);
      this.#follow().finally(() => {
        if (drag === this.#drags) {
          this.#dragged = undefined;
          this.bubble.hidden = true;
          this.draw();
        } // else the next one has begun while the place was fetched
      });
    }
  }

  async #follow() {
    if (this.#scale && this.#dragged !== undefined) {
      const { position, within } = this.#scale.messageAt(this.#dragged / this.strip.clientHeight);
      await this.range.goTo({ at: position }, { within });
    }
  }

  /** @param {number} y */
  #tell(y) {
    const scale = this.#scale;
    if (!scale) {
      return;
    }
    const height = this.strip.clientHeight;
    const { position } = scale.messageAt(y / height);
    const values = { number: String(scale.numberOf(position)), count: String(scale.messages) };
    const near = this.#signed().filter(({ position: at }) => Math.abs(scale.placeOf(at) * height - y) <= SNAP_PIXELS);
    const words = [...new Set(near.map(({ sign }) => this.coverage.words[sign]))];
    const found = this.#hits.filter((at) => Math.abs(scale.placeOf(at) * height - y) <= SNAP_PIXELS);
    if (found.length) {
      words.push(this.#hitsWords.replace("%(count)s", String(found.length)));
    }
    if (!words.length) {
      words.push(this.coverage.words[this.#markAt(position)]);
    }
    find(this.bubble, "[data-bubble-date]").textContent = this.longDay.format(scale.momentOf(position));
    find(this.bubble, "[data-bubble-number]").textContent = sentence("mapNumber", values);
    find(this.bubble, "[data-bubble-marks]").textContent = words.join(" · ");
    this.bubble.hidden = false;
    this.bubble.style.insetBlockStart = `${Math.min(Math.max(y, 40), height - 40)}px`;
  }

  // By keyboard

  /** @param {KeyboardEvent} event */
  #press(event) {
    const scale = this.#scale;
    if (!scale || event.altKey || event.ctrlKey || event.metaKey) {
      return;
    }
    const { article, position, first } = this.#current(scale);
    const signs = this.#signed().filter(({ sign }) => SIGNS.includes(sign));
    const page = 0.9 * this.scroller.clientHeight;
    /** @type {Record<string, () => unknown>} */
    const actions = {
      ArrowUp: () => this.#goTo(Math.max(0, first - 1)),
      ArrowLeft: () => this.#goTo(Math.max(0, first - 1)),
      ArrowDown: () => this.#goTo(Math.min(scale.lastPosition, position + 1)),
      ArrowRight: () => this.#goTo(Math.min(scale.lastPosition, position + 1)),
      PageUp: () => this.scroller.scrollBy(0, -page),
      PageDown: () => this.scroller.scrollBy(0, page),
      Home: () => this.#goTo(0),
      End: () => this.toNewest(),
      "[": () => this.#goTo(signs.findLast((each) => each.position < first)?.position),
      "]": () => this.#goTo(signs.find((each) => each.position > position)?.position),
      Enter: () => article?.focus({ preventScroll: true }),
    };
    const action = actions[event.key];
    if (action) {
      event.preventDefault();
      action();
    }
  }

  /** @param {number | undefined} position */
  #goTo(position) {
    if (position !== undefined) {
      this.range.goTo({ at: position });
    }
  }

  // By name

  #startPlaces() {
    const places = find(this.element, "#map-places");
    places.addEventListener(
      "click",
      ({ target }) => {
        if (target instanceof Element && target.closest("[data-place]")) {
          places.hidePopover();
          const place = target.closest("[data-place]")?.getAttribute("data-place");
          if (place === "line") {
            this.coverage.goToLine();
          } else {
            place === "newest" ? this.toNewest() : this.range.goTo({ at: 0 }, { focus: true });
          }
        }
      },
      { signal: this.signal },
    );
    const form = find(places, "form", HTMLFormElement);
    form.addEventListener(
      "submit",
      (event) => {
        event.preventDefault();
        const { value } = find(form, "input", HTMLInputElement);
        if (value) {
          places.hidePopover();
          this.range.goTo({ on: value }, { focus: true });
        }
      },
      { signal: this.signal },
    );
  }

  /** @param {MapFigures} figures */
  #listMarked({ marks }) {
    const list = find(this.element, "[data-map-marked]");
    const words = /** @type {Record<string, string>} */ (this.coverage.words);
    const listed = marks.filter(({ mark }) => SIGNS.includes(mark)).slice(-MOST_LISTED);
    list.replaceChildren(
      ...listed.map(({ message, position, mark, at }) => {
        const item = document.createElement("li");
        const link = document.createElement("a");
        link.href = `${this.threadUrl}?at=${position}#message-${message}`;
        link.tabIndex = -1; // screen readers find it; by keys, [ and ] lead from one to the next
        link.textContent = sentence("mapPlace", {
          date: this.moment.format(new Date(at * 1_000)),
          number: String(this.#scale?.numberOf(position)),
          count: String(this.#scale?.messages),
          mark: words[mark],
        });
        link.addEventListener("click", (event) => {
          event.preventDefault();
          this.range.goTo({ message: String(message) }, { focus: true });
        });
        item.append(link);
        return item;
      }),
    );
    for (const part of queryAll(this.element, "[data-map-has-marked]")) {
      part.hidden = !listed.length;
    }
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

/**
 * Return what tells the last message, and whether it has ended: how long a reply is, is known by then.
 * @param {import("../messages/thread_range.js").ThreadRange} range
 */
function keyOfLast({ newest }) {
  const { message, position, state } = newest.at(-1)?.dataset ?? {};
  return [message, position, state].join();
}
