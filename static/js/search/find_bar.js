/**
 * Find in a conversation: all of it, not only what is on the page. The server says which messages have the words; they are marked
 * in the thread and on the map, and one is gone to after the other.
 */

import { getJson } from "../server/http.js";
import { closest, dataOf, find, query } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";
import { showProblem } from "../shared/toasts.js";
import { FoundMarks } from "./found_marks.js";

/**
 * @import { SearchedConversation } from "../shell/navigation.js"
 * @import { SearchShell, Wanted } from "../shell/search_keys.js"
 *
 * @typedef {{hits: {message: number, position: number}[], words: string[], has_more: boolean, notes: string[],
 *   markup: string}} Answer the server's
 */

const REST_MS = 150; // of the keys, before what is typed is searched for

/** @type {WeakMap<HTMLElement, FindBar>} by the page that it is on */
const bars = new WeakMap();

/**
 * @param {SearchShell} shell
 * @param {Wanted} [wanted] what is searched for, and the hit that is gone to
 * @param {() => string} [early] what was typed before the field was there
 */
export async function openFind(shell, wanted, early) {
  const shown = shell.shown();
  if (!shown) {
    return;
  }
  const { page, url, signal } = shown;
  try {
    const bar = bars.get(page) ?? new FindBar(shown, (await getJson(`${url}?markup=1`)).markup);
    if (!signal.aborted) {
      bars.set(page, bar);
      bar.open(wanted, early?.());
    }
  } catch {
    showProblem(sentence("notOpened"));
  }
}

class FindBar {
  /** @type {Answer["hits"]} */
  #hits = [];
  #current = -1;
  #hasMore = false;
  #timer = 0;
  #asked = 0; // counts the searches: an answer that is no longer wanted is left out
  /** @type {Element | null} what had the focus before */
  #before = null;

  /**
   * @param {SearchedConversation} shown
   * @param {string} markup
   */
  constructor({ page, url, range, map, signal }, markup) {
    this.page = page;
    this.url = url;
    this.range = range;
    this.map = map;
    this.signal = signal;
    const template = document.createElement("template");
    template.innerHTML = markup;
    this.bar = find(document.importNode(template.content, true), "[data-find]");
    this.field = find(this.bar, "input", HTMLInputElement);
    this.count = find(this.bar, "[data-find-count]");
    this.marks = new FoundMarks(range.list);
    this.field.addEventListener("input", () => this.#search(REST_MS));
    this.bar.addEventListener("submit", (event) => event.preventDefault());
    this.bar.addEventListener("keydown", (event) => this.#press(event));
    this.bar.addEventListener("click", (event) => {
      const step = closest(event, "[data-step]");
      step && this.#step(Number(dataOf(step, "step")));
      closest(event, "[data-close]") && this.close();
    });
    signal.addEventListener("abort", () => this.#forget());
  }

  /**
   * @param {Wanted} [wanted]
   * @param {string} [typed]
   */
  open(wanted, typed) {
    if (!this.bar.isConnected) {
      this.#before = document.activeElement;
      this.page.append(this.bar);
    }
    if (wanted) {
      this.field.value = wanted.typed;
      this.#search(0, wanted.message);
    } else if (this.field.value) {
      this.#search(0);
    }
    this.field.focus({ preventScroll: true });
    this.field.select();
    if (typed) {
      this.field.value = typed;
      this.#search(0);
    }
  }

  close() {
    this.#forget();
    this.bar.remove();
    const before = this.#before;
    const isThere = before instanceof HTMLElement && before.isConnected && before !== document.body;
    const focus = isThere ? before : query(this.page, '[data-part="composer"] textarea');
    focus?.focus({ preventScroll: true });
  }

  #forget() {
    this.#asked += 1;
    clearTimeout(this.#timer);
    this.marks.clear();
    this.map.showHits([], "");
  }

  /**
   * @param {number} rest
   * @param {string} [message] that is gone to
   */
  #search(rest, message) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#fetch(message), rest);
  }

  /** @param {string} [message] */
  async #fetch(message) {
    this.#asked += 1;
    const asked = this.#asked;
    const typed = this.field.value.trim();
    /** @type {Answer} */
    const nothing = { hits: [], words: [], has_more: false, notes: [], markup: "" };
    const answer = typed
      ? await getJson(`${this.url}?${new URLSearchParams({ q: this.field.value })}`).catch(() => undefined)
      : nothing;
    if (asked !== this.#asked || this.signal.aborted) {
      return;
    }
    const { hits, words, has_more: hasMore, notes } = /** @type {Answer} */ (answer ?? nothing);
    find(this.bar, "[data-find-note]").textContent = answer ? notes.join(" ") : dataOf(this.bar, "failed");
    this.#hits = hits;
    this.#hasMore = hasMore;
    this.marks.mark(words);
    this.map.showHits(
      hits.map(({ position }) => position),
      dataOf(this.bar, "hits"),
    );
    const named = hits.findIndex((hit) => String(hit.message) === message);
    const last = Number(this.#lastInView?.dataset.position ?? Number.POSITIVE_INFINITY);
    const near = hits.findLastIndex(({ position }) => position <= last);
    this.#goTo(named >= 0 ? named : near >= 0 ? near : hits.length - 1);
    if (named < 0 && message) {
      this.range.goTo({ message }); // it stands at a place that the search did not come to
    }
  }

  /** The last message that is on the screen. */
  get #lastInView() {
    const { bottom } = this.range.scroller.getBoundingClientRect();
    return this.range.shown.findLast((article) => article.getBoundingClientRect().top < bottom);
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    if (event.isComposing || event.keyCode === 229) {
      return;
    }
    const isAgain = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "g";
    if (event.key === "Escape") {
      event.preventDefault();
      this.close();
    } else if (isAgain || (event.key === "Enter" && event.target === this.field)) {
      event.preventDefault();
      this.#step(event.shiftKey ? -1 : 1);
    }
  }

  /** @param {number} step */
  #step(step) {
    const { length } = this.#hits;
    if (length) {
      this.#goTo((this.#current + step + length) % length);
    }
  }

  /** @param {number} number */
  async #goTo(number) {
    this.#current = number;
    const values = { number: String(number + 1), count: String(this.#hits.length) };
    const form = !this.#hits.length ? "none" : this.#hasMore ? "more" : "count";
    const told = dataOf(this.bar, form).replace("%(number)s", values.number).replace("%(count)s", values.count);
    this.count.textContent = this.field.value.trim() ? told : "";
    const hit = this.#hits[number];
    const asked = this.#asked;
    if (hit) {
      const article = await this.range.goTo({ message: String(hit.message) });
      if (article && asked === this.#asked && number === this.#current) {
        this.marks.show(article, this.range.scroller);
      }
    } else {
      this.marks.show(undefined, this.range.scroller);
    }
  }
}
