/**
 * Which messages the window holds, as the page draws it: a mark at each, and the line above which it holds no more.
 *
 * What is decided about a message (pinned, excluded, never recalled) stands at its article; a window says the rest.
 */

import { dataOf, find, query } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";

/**
 * @import { CoveredWindow } from "../server/frames.js"
 *
 * @typedef {{pinned: boolean, excluded: boolean, never_recalled: boolean}} Decisions what is decided about a message
 * @typedef {"in" | "out" | "pinned" | "excluded" | "recalled"} Mark
 */

export class WindowCoverage {
  /** @param {HTMLElement} list holds the messages and the line */
  constructor(list) {
    this.list = list;
    this.horizon = find(list, "[data-horizon]");
    this.horizonLine = find(this.horizon, "[data-horizon-line]");
    /** @type {Record<Mark, string>} */
    this.words = JSON.parse(dataOf(list, "markWords"));
    /**
     * @type {{first_position: number, has_pins_above: boolean, left_out: Record<string, string>, recalls: boolean,
     *   recalled: number[], would_recall?: number[] | null}}
     */
    this.window = JSON.parse(dataOf(list, "coverage"));
  }

  /**
   * Draw what a window holds; what it does not say stays. The window of the next message says too which messages are
   * pinned and excluded now, for a page that has missed that.
   * @param {CoveredWindow} window
   */
  update({ pins, excluded, recalled, ...window }) {
    Object.assign(this.window, window);
    if (recalled) {
      Object.assign(this.window, { recalled, would_recall: null }); // what was being written has been sent
    }
    if (pins) {
      this.#correctDecisions(new Set(pins), new Set(excluded));
    }
    this.draw();
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
    for (const article of this.#articles) {
      this.#draw(article);
    }
    this.#placeHorizon();
  }

  get #articles() {
    const children = /** @type {HTMLElement[]} */ ([...this.list.children]);
    return children.filter(({ dataset }) => "message" in dataset);
  }

  /**
   * @param {Set<number>} pins
   * @param {Set<number>} excluded
   */
  #correctDecisions(pins, excluded) {
    for (const article of this.#articles) {
      const id = Number(article.dataset.message);
      const isLookedAt = this.#isBelow(article);
      this.#note(article, { pinned: pins.has(id), ...(isLookedAt && { excluded: excluded.has(id) }) });
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
    const mark = this.#markOf(article);
    const words = this.#wordsFor(mark, dataOf(article, "message"));
    const sign = find(article, ".mark");
    if (article.dataset.mark === mark && sign.title === words) {
      return;
    }
    article.dataset.mark = mark;
    sign.title = words;
    find(sign, "use", SVGElement).setAttribute("href", `#mark-${mark}`);
    find(sign, "[data-mark-words]").textContent = words;
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
   * @param {HTMLElement} article
   * @returns {Mark}
   */
  #markOf(article) {
    if ("excluded" in article.dataset) {
      return "excluded";
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

  #placeHorizon() {
    const { first_position: position, has_pins_above: hasPins, recalls } = this.window;
    const articles = this.#articles;
    const first = articles.find((article) => this.#isBelow(article));
    const isOnPage = first && Number(articles[0]?.dataset.position) <= position;
    this.horizon.hidden = !position || !isOnPage;
    this.horizon.classList.toggle("has-pins-above", Boolean(hasPins));
    this.horizon.classList.toggle("recalls", Boolean(recalls));
    this.horizonLine.ariaLabel = sentence(horizonSentence(Boolean(hasPins), Boolean(recalls)));
    if (!this.horizon.hidden && first && this.horizon.nextElementSibling !== first) {
      first.before(this.horizon);
    }
  }
}

/**
 * @param {boolean} hasPins
 * @param {boolean} recalls
 * @returns {import("../shared/sentences.js").SentenceName}
 */
function horizonSentence(hasPins, recalls) {
  if (recalls) {
    return hasPins ? "horizonWithBoth" : "horizonWithRecall";
  }
  return hasPins ? "horizonWithPins" : "horizon";
}
