/**
 * Which messages the window holds, as the page draws it: a mark at each, and the line above which it holds no more.
 *
 * What is decided about a message (pinned, excluded, never recalled) stands at its article; a window says the rest.
 */

import { dataOf, find, focusedIn, query, queryAll } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";
import { articlesIn } from "./thread_range.js";

/**
 * @import { CoveredWindow } from "../server/frames.js"
 *
 * @typedef {{pinned: boolean, excluded: boolean, never_recalled: boolean}} Decisions what is decided about a message
 * @typedef {"in" | "out" | "pinned" | "excluded" | "recalled"} Mark
 * @typedef {CoveredWindow & {first_position: number, forgotten_before: number, left_out: Record<string, string>, recalled: number[],
 *   recalled_positions: number[]}} KnownWindow
 */

const SLIDE_MS = 420; // of the blind, to its new place
const QUOTED_CHARACTERS = 40;

export class WindowCoverage {
  /**
   * @param {HTMLElement} list holds the messages and the line
   * @param {object} options
   * @param {HTMLElement} options.scroller
   * @param {import("./thread_range.js").ThreadRange} options.range which messages are on the page
   * @param {() => void} options.onChange told when something else is in view, or its line elsewhere
   * @param {(sentence: string) => void} options.say
   * @param {AbortSignal} options.signal ends it
   */
  constructor(list, { scroller, range, onChange, say, signal }) {
    this.list = list;
    this.scroller = scroller;
    this.range = range;
    this.onChange = onChange;
    this.say = say;
    this.messagesAbove = 0; // as far as that is known
    this.hasSlid = false; // whether what is drawn now is a window that begins elsewhere
    this.horizon = find(list, "[data-horizon]");
    this.horizonLine = find(this.horizon, "[data-horizon-line]");
    /** @type {Record<Mark, string>} */
    this.words = JSON.parse(dataOf(list, "markWords"));
    /** @type {KnownWindow} */
    this.window = JSON.parse(dataOf(list, "coverage"));
    scroller.addEventListener("scroll", () => this.#shadeEdges(), { passive: true });
    const observer = new ResizeObserver(() => this.#shadeEdges()); // for the first time before the page is painted
    observer.observe(scroller);
    observer.observe(list);
    signal.addEventListener("abort", () => observer.disconnect());
    this.#drawMessages();
    this.onChange();
  }

  /** Where the messages stand that are recalled: for what is being written, or for the last question. */
  get recalledPositions() {
    return this.window.would_recall_positions ?? this.window.recalled_positions;
  }

  /**
   * Note how many messages are above the line, which only the map knows.
   * @param {number} count
   */
  noteMessagesAbove(count) {
    this.messagesAbove = count;
    this.#writeLine();
  }

  /** Go to the line, also where it moves while messages are loaded; the focus goes there too. */
  async goToLine() {
    let position;
    do {
      position = this.window.first_position;
      if (!position || !(await this.range.goTo({ at: position }))) {
        return;
      }
    } while (position !== this.window.first_position);
    if (!this.horizon.hidden) {
      this.horizon.scrollIntoView({ block: "center" });
      this.horizon.focus({ preventScroll: true });
    }
  }

  /**
   * Draw what a window holds; what it does not say stays. The window of the next message says too which messages are
   * pinned and excluded now, for a page that has missed that.
   * @param {CoveredWindow} window
   */
  update({ pins, excluded, recalled, recalled_positions: positions, ...window }) {
    this.hasSlid = (window.first_position ?? this.window.first_position) !== this.window.first_position;
    Object.assign(this.window, window);
    if (recalled) {
      // What was being written has been sent.
      const sent = { recalled, recalled_positions: positions ?? [] };
      Object.assign(this.window, { ...sent, would_recall: null, would_recall_positions: null });
    }
    if (pins) {
      this.#correctDecisions(new Set(pins), new Set(excluded));
    }
    this.draw();
    this.hasSlid = false;
  }

  /**
   * Note that what stands above a position is in no later request. What is remembered again, the next window says.
   * @param {number} before that position; 0 if everything is remembered
   */
  forget(before) {
    this.update({ forgotten_before: before, first_position: Math.max(before, this.window.first_position) });
  }

  /**
   * Note what is decided about a message, if it is on the page.
   * @param {string | number} message
   * @param {Decisions} decisions
   */
  mark(message, decisions) {
    const article = document.getElementById(`message-${message}`);
    if (article) {
      this.#note(article, decisions);
      this.draw();
    }
  }

  /**
   * @param {string} message one that is on the page
   * @returns {Decisions}
   */
  decisionsOn(message) {
    const { dataset } = find(document, `#message-${message}`);
    return {
      pinned: "pinned" in dataset,
      excluded: "excluded" in dataset,
      never_recalled: "neverRecalled" in dataset,
    };
  }

  draw() {
    this.#drawMessages();
    this.#shadeEdges();
    this.onChange();
  }

  #drawMessages() {
    for (const article of articlesIn(this.list)) {
      this.#draw(article);
    }
    this.#placeHorizon();
  }

  /**
   * @param {Set<number>} pins
   * @param {Set<number>} excluded
   */
  #correctDecisions(pins, excluded) {
    for (const article of articlesIn(this.list)) {
      const id = Number(article.dataset.message);
      const isLookedAt = this.#isBelow(article);
      this.#note(article, {
        ...(!this.#isForgotten(article) && { pinned: pins.has(id) }),
        ...(isLookedAt && { excluded: excluded.has(id) }),
      });
    }
  }

  /**
   * @param {HTMLElement} article
   * @param {Partial<Decisions>} decisions those that are known; the others stay
   */
  #note(article, { pinned, excluded, never_recalled: neverRecalled }) {
    this.#noteOne(article, { action: "pin", name: "pinned", isOn: pinned });
    this.#noteOne(article, { action: "exclude", name: "excluded", isOn: excluded });
    this.#noteOne(article, { action: "keep-from-recall", name: "never-recalled", isOn: neverRecalled });
  }

  /**
   * @param {HTMLElement} article
   * @param {{action: string, name: string, isOn: boolean | undefined}} decision
   */
  #noteOne(article, { action, name, isOn }) {
    if (isOn === undefined) {
      return;
    }
    article.toggleAttribute(`data-${name}`, isOn);
    const button = query(article, `[data-action="${action}"]`, HTMLButtonElement);
    if (button) {
      button.ariaChecked = String(isOn);
      button.value = String(!isOn);
    }
  }

  /** @param {HTMLElement} article */
  #draw(article) {
    const { firstPosition, role } = article.dataset;
    const top = Number(firstPosition) - Number(role === "assistant"); // a reply's question stays with it
    article.toggleAttribute("data-nothing-above", top <= this.window.forgotten_before);
    const mark = this.#markOf(article);
    const words = this.#wordsFor(mark, dataOf(article, "message"));
    const sign = find(article, ".mark");
    const shown = this.#shownWords(mark, words);
    const shownWords = find(sign, "[data-mark-words]");
    if (article.dataset.mark === mark && sign.title === words && shownWords.textContent === shown) {
      return;
    }
    article.dataset.mark = mark;
    sign.title = words;
    find(sign, "use", SVGElement).setAttribute("href", `#mark-${mark}`);
    shownWords.textContent = shown;
  }

  /**
   * @param {Mark} mark
   * @param {string} message
   */
  #wordsFor(mark, message) {
    const reason = mark === "out" && this.window.left_out[message];
    if (reason) {
      return `${this.words.out}: ${reason}`;
    }
    return mark === "recalled" && this.window.would_recall ? sentence("wouldRecall") : this.words[mark];
  }

  /**
   * Return what a mark says where it is read: for which question a message was recalled.
   * @param {Mark} mark
   * @param {string} words
   */
  #shownWords(mark, words) {
    const question = mark === "recalled" && !this.window.would_recall && this.#lastQuestion();
    return question ? sentence("recalledFor", { question }) : words;
  }

  #lastQuestion() {
    const asked = this.range.newest.findLast(({ dataset }) => dataset.role === "user");
    const words = asked ? find(asked, "[data-content]").textContent.trim() : "";
    return words.length > QUOTED_CHARACTERS ? `${words.slice(0, QUOTED_CHARACTERS).trimEnd()}…` : words;
  }

  /**
   * @param {HTMLElement} article
   * @returns {Mark}
   */
  #markOf(article) {
    if ("excluded" in article.dataset) {
      return "excluded";
    }
    if (this.#isForgotten(article)) {
      return "out";
    }
    if ("pinned" in article.dataset) {
      return "pinned";
    }
    const message = dataOf(article, "message");
    if (this.#isBelow(article) && !(message in this.window.left_out)) {
      return "in";
    }
    const recalled = this.window.would_recall ?? this.window.recalled;
    return recalled.includes(Number(message)) ? "recalled" : "out";
  }

  /** @param {HTMLElement} article */
  #isBelow(article) {
    return Number(article.dataset.position) >= this.window.first_position;
  }

  /** @param {HTMLElement} article */
  #isForgotten(article) {
    return Number(article.dataset.position) < this.window.forgotten_before;
  }

  #placeHorizon() {
    const { first_position: position } = this.window;
    const { shown } = this.range;
    const first = articlesIn(this.list).find((article) => this.#isBelow(article));
    const isOnPage = first && Number(shown[0]?.dataset.position) < position && shown.includes(first);
    const before = this.horizon.hidden ? undefined : this.horizon.getBoundingClientRect().top;
    this.list.classList.toggle("has-blind", Boolean(shown[0]) && !this.#isBelow(shown[0]));
    this.#writeLine();
    const isHidden = !position || !isOnPage;
    if (isHidden === this.horizon.hidden && (isHidden || this.horizon.nextElementSibling === first)) {
      return;
    }
    const focused = focusedIn(this.horizon);
    this.range.keepPlace(() => {
      this.horizon.hidden = isHidden;
      if (!isHidden && first) {
        first.before(this.horizon);
      }
    });
    focused?.focus({ preventScroll: true }); // which it has lost by being moved
    if (!isHidden && before !== undefined && this.hasSlid) {
      this.#slideFrom(before);
    }
  }

  /**
   * Move the blind from where it was, if that is in view.
   * @param {number} before its place on the screen
   */
  #slideFrom(before) {
    const view = this.scroller.getBoundingClientRect();
    const after = this.horizon.getBoundingClientRect().top;
    const isSeen = [before, after].some((top) => top > view.top && top < view.bottom);
    if (!isSeen) {
      return;
    }
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.say(this.horizonLine.ariaLabel ?? "");
      return;
    }
    const frames = [{ transform: `translateY(${before - after}px)` }, { transform: "none" }];
    this.horizon.animate(frames, { duration: SLIDE_MS, easing: "cubic-bezier(0.2, 0.7, 0.2, 1)" });
  }

  #writeLine() {
    const { has_pins_above: hasPins, recalls, model, recalled, budget_tokens: budget } = this.window;
    const { first_position: position, forgotten_before: forgotten } = this.window;
    this.horizon.classList.toggle("has-pins-above", Boolean(hasPins));
    this.horizon.classList.toggle("recalls", Boolean(recalls));
    const isForgotten = forgotten > 0 && forgotten === position;
    this.#showParts("recalls", Boolean(recalls));
    this.#showParts("forgotten", isForgotten);
    this.#showParts("partly-forgotten", forgotten > 0 && !isForgotten);
    this.#showParts("remembers", forgotten > 0);
    const found = find(this.horizon, "[data-line-recalled]");
    found.hidden = !recalls || (isForgotten && !recalled.length);
    write(found, recalledWords(recalled.length));
    if (model === undefined) {
      return; // no request was made yet: the server has written the line
    }
    const label = sentence(hasPins ? "horizonWithPins" : "horizon", { model });
    this.horizonLine.ariaLabel = label;
    write(find(this.horizon, "[data-line-words]"), label);
    write(find(this.horizon, "[data-line-model]"), model);
    write(find(this.horizon, "[data-line-budget]"), number(budget ?? 0));
    const above = find(this.horizon, "[data-line-above]");
    above.hidden = !this.messagesAbove;
    write(above, this.messagesAbove === 1 ? sentence("oneAbove") : counted("above", this.messagesAbove));
  }

  /**
   * Show the parts of the line that are there if something is so, and hide those that are there unless it is.
   * @param {string} name
   * @param {boolean} isSo
   */
  #showParts(name, isSo) {
    for (const part of queryAll(this.horizon, `[data-line-if-${name}], [data-line-unless-${name}]`)) {
      part.hidden = part.hasAttribute(`data-line-if-${name}`) !== isSo;
    }
  }

  /** What stands around the thread takes the colour of what it meets: the blind's, or the lit page's. */
  #shadeEdges() {
    const hasBlind = this.list.classList.contains("has-blind");
    const view = this.scroller.getBoundingClientRect();
    const line = this.horizon.hidden ? Infinity : this.horizon.getBoundingClientRect().bottom;
    const page = this.scroller.parentElement;
    page?.classList.toggle("is-top-out", hasBlind && line > view.top);
    page?.classList.toggle("is-bottom-out", hasBlind && line > view.bottom);
  }
}

/**
 * @param {HTMLElement} element
 * @param {string} words
 */
function write(element, words) {
  if (element.textContent !== words) {
    element.textContent = words;
  }
}

/** @param {number} amount */
function number(amount) {
  return amount.toLocaleString(document.documentElement.lang);
}

/**
 * @param {"above" | "recalledForLast"} name
 * @param {number} count
 */
function counted(name, count) {
  return sentence(name, { count: number(count) });
}

/** @param {number} count */
function recalledWords(count) {
  if (!count) {
    return sentence("recallIsOn");
  }
  return count === 1 ? sentence("oneRecalledForLast") : counted("recalledForLast", count);
}
