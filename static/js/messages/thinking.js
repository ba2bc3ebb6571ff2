/**
 * What a reply thinks while it streams: its text, folded and applied by offset, and a clock of how long it lasts.
 *
 * The seconds begin with what is stored and go on with the clock of this page; once the reply has ended, the server's
 * own number is shown.
 */

import { appendText, dataOf, find, query, queryAll } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";
import { countCodePoints } from "./code_points.js";
import { ReplyText } from "./reply_text.js";

/** @typedef {{open: string[], live: {step: string, text: string} | undefined}} ThinkingState */

const TICK_MS = 250;
const NEAR_END_PIXELS = 24; // about a line

export class Thinking {
  /** @type {number | undefined} when the clock of the page began, while it runs */
  #since;
  #timer = 0;

  /**
   * @param {HTMLElement} article as the server draws a reply that streams
   * @param {() => void} [onBegun] told when it begins to think
   */
  constructor(article, onBegun = () => undefined) {
    this.element = query(article, "[data-thinking][data-live]");
    this.onBegun = onBegun;
    this.seconds = Number(this.element?.dataset.seconds ?? 0);
    this.text = storedText(this.element);
    this.isAtEnd = true; // of its box, which then follows the newest line
    this.top = 0;
    this.#followEnd();
    if (this.element?.classList.contains("is-thinking")) {
      this.#start();
    }
  }

  get hasGap() {
    return this.text.hasGap;
  }

  /** Whether the model thinks now. */
  get lasts() {
    return this.#since !== undefined;
  }

  /**
   * From code point *at* on, the reasoning is *text*.
   * @param {number} at
   * @param {string} text
   */
  take(at, text) {
    const { appended } = this.text.takeText(at, text);
    if (appended && this.element) {
      if (this.element.hidden) {
        this.onBegun();
      }
      this.element.hidden = false;
      appendText(find(this.element, "[data-thinking-text]"), appended);
      this.#showPlace();
      this.#start();
    }
  }

  /** Text or a tool call has come. */
  pause() {
    if (!this.element || !this.lasts) {
      return;
    }
    clearInterval(this.#timer);
    this.seconds = this.#secondsNow;
    this.#since = undefined;
    this.element.classList.remove("is-thinking");
    this.#say(sentence("thoughtFor", { time: timeOf(this.seconds) }), "");
  }

  /**
   * Whether what is stored in *article* holds anything that is not known here.
   * @param {HTMLElement} article
   */
  isBehind(article) {
    return this.text.isBehind(storedText(query(article, "[data-thinking][data-live]")));
  }

  /**
   * Pause if *article*, stored with all that is known here, no longer thinks.
   * @param {HTMLElement} article
   */
  follow(article) {
    const drawn = query(article, "[data-thinking][data-live]");
    if (drawn && !drawn.classList.contains("is-thinking") && storedText(drawn).length === this.text.length) {
      this.pause();
    }
  }

  /**
   * Go on in *article*, which has taken the place, with all that was known here beyond it.
   * @param {HTMLElement} article
   * @returns {Thinking}
   */
  movedTo(article) {
    clearInterval(this.#timer);
    const moved = new Thinking(article, this.onBegun);
    [moved.isAtEnd, moved.top] = [this.isAtEnd, this.top];
    const wasShown = this.element?.hidden === false;
    if (moved.element) {
      const { text, change } = this.text.mergedInto(moved.text);
      moved.text = text;
      moved.element.hidden = text.length === 0;
      appendText(find(moved.element, "[data-thinking-text]"), change.appended);
      moved.seconds = Math.max(moved.#secondsNow, this.#secondsNow);
      moved.#since = undefined;
      clearInterval(moved.#timer);
      if (this.lasts || moved.element.classList.contains("is-thinking")) {
        moved.#start();
        wasShown || this.onBegun(); // its first pieces came before the reply was drawn
      }
    }
    return moved;
  }

  /** Remember where the user reads. What is closed tells of no place. */
  #followEnd() {
    const element = /** @type {HTMLDetailsElement | null} */ (this.element);
    const box = element && find(element, "[data-thinking-text]");
    box?.addEventListener("scroll", () => {
      if (element?.open) {
        this.top = box.scrollTop;
        this.isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_END_PIXELS;
      }
    });
    element?.addEventListener("toggle", () => this.#showPlace());
  }

  #showPlace() {
    const element = /** @type {HTMLDetailsElement | null} */ (this.element);
    if (element?.open) {
      const box = find(element, "[data-thinking-text]");
      box.scrollTop = this.isAtEnd ? box.scrollHeight : this.top;
    }
  }

  get #secondsNow() {
    return this.seconds + (this.#since === undefined ? 0 : (performance.now() - this.#since) / 1_000);
  }

  #start() {
    if (this.lasts || !this.element) {
      return;
    }
    this.#since = performance.now();
    this.element.classList.add("is-thinking");
    this.#tick();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  #tick() {
    const isGone = this.#timer && !this.element?.isConnected;
    if (isGone) {
      clearInterval(this.#timer);
    } else {
      this.#say(sentence("thinking"), timeOf(this.#secondsNow));
    }
  }

  /**
   * Write only what has changed: each second, not each tick.
   * @param {string} words
   * @param {string} time
   */
  #say(words, time) {
    const element = /** @type {HTMLElement} */ (this.element);
    for (const [selector, value] of [
      ["[data-thinking-words]", words],
      ["[data-thinking-clock]", time],
    ]) {
      const part = find(element, selector);
      if (part.textContent !== value) {
        part.textContent = value;
      }
    }
  }
}

/**
 * Remember which are open in *element*, and all the text of the one that streams.
 * @param {HTMLElement} element
 * @returns {ThinkingState}
 */
export function rememberThinking(element) {
  const open = queryAll(element, "[data-thinking][open]").map((each) => dataOf(each, "thinking"));
  const live = query(element, "[data-thinking][data-live]");
  return { open, live: live ? { step: dataOf(live, "thinking"), text: textOf(live) } : undefined };
}

/**
 * Restore what `rememberThinking` returned in the *element* that has taken the place. A text of which the server sends
 * only the beginning, once it has ended, stays whole for those who are reading it.
 * @param {ThinkingState} state
 * @param {HTMLElement} element
 */
export function restoreThinking({ open, live }, element) {
  for (const step of open) {
    query(element, `[data-thinking="${step}"]`)?.toggleAttribute("open", true);
  }
  const drawn = live && query(element, `[data-thinking="${live.step}"]:not([data-live])`);
  const rest = drawn && query(drawn, "[data-thinking-rest]");
  if (live && drawn && rest && countCodePoints(live.text) === Number(dataOf(drawn, "characters"))) {
    find(drawn, "[data-thinking-text]").textContent = live.text;
    rest.remove();
  }
}

/** @param {HTMLElement | null} element */
function storedText(element) {
  return new ReplyText({ tailAt: 0, tail: element ? textOf(element) : "" });
}

/** @param {HTMLElement} element */
function textOf(element) {
  return find(element, "[data-thinking-text]").textContent;
}

/**
 * Return a time as people read it: "6 s", "1 min 5 s". What took any time at all took a second.
 * @param {number} seconds
 */
function timeOf(seconds) {
  const whole = Math.max(1, Math.round(seconds));
  const [minutes, rest] = [Math.floor(whole / 60), whole % 60].map(String);
  return whole < 60 ? sentence("secondsLong", { seconds: rest }) : sentence("minutesLong", { minutes, seconds: rest });
}
