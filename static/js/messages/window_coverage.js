/**
 * What the language model sees of the messages on the page: a mark at each, and the line above which it sees no more.
 *
 * What a person has decided about a message (pinned, excluded) stands at its article; a window says the rest.
 */

export class Sight {
  /** @param {HTMLElement} list holds the messages and the line */
  constructor(list) {
    this.list = list;
    this.horizon = list.querySelector("[data-horizon]");
    this.words = JSON.parse(list.dataset.markWords);
    this.window = JSON.parse(list.dataset.sight);
  }

  /**
   * Take what a window holds; what it does not say stays. Of the coming window it is said too which messages are
   * pinned and excluded now, so that a page which has missed that is told.
   * @param {{first_position?: number, has_pins_above?: boolean, left_out?: Record<string, string>,
   *   pins?: number[], excluded?: number[]}} window
   */
  see({ pins, excluded, ...window }) {
    Object.assign(this.window, window);
    if (pins) {
      this.#heal(new Set(pins), new Set(excluded));
    }
    this.draw();
  }

  /** Note what is decided about a message, if it is on the page. */
  mark(message, decisions) {
    const article = this.#article(message);
    if (article) {
      this.#note(article, decisions);
      this.draw();
    }
  }

  /** @returns {{pinned: boolean, excluded: boolean}} what is decided about a message on the page */
  decisionsOn(message) {
    const { dataset } = this.#article(message);
    return { pinned: "pinned" in dataset, excluded: "excluded" in dataset };
  }

  draw() {
    for (const article of this.#articles) {
      this.#draw(article);
    }
    this.#placeHorizon();
  }

  get #articles() {
    return [...this.list.children].filter(({ dataset }) => "message" in dataset);
  }

  #article(message) {
    return document.getElementById(`message-${message}`);
  }

  #heal(pins, excluded) {
    for (const article of this.#articles) {
      const id = Number(article.dataset.message);
      const isLookedAt = this.#isBelow(article);
      this.#note(article, { pinned: pins.has(id), ...(isLookedAt && { excluded: excluded.has(id) }) });
    }
  }

  #note(article, { pinned, excluded = "excluded" in article.dataset }) {
    for (const [action, name, isOn] of [
      ["pin", "pinned", pinned],
      ["exclude", "excluded", excluded],
    ]) {
      article.toggleAttribute(`data-${name}`, isOn);
      const button = article.querySelector(`[data-action="${action}"]`);
      if (button) {
        button.ariaPressed = String(isOn);
        button.value = String(!isOn);
      }
    }
  }

  #draw(article) {
    const mark = this.#markOf(article);
    const reason = mark === "out" && this.window.left_out[article.dataset.message];
    const words = reason ? `${this.words.out}: ${reason}` : this.words[mark];
    const sign = article.querySelector(".mark");
    if (article.dataset.mark === mark && sign.title === words) {
      return;
    }
    article.dataset.mark = mark;
    sign.title = words;
    sign.querySelector("use").setAttribute("href", `#mark-${mark}`);
    sign.querySelector("[data-mark-words]").textContent = words;
  }

  #markOf(article) {
    if ("excluded" in article.dataset) {
      return "excluded";
    }
    if ("pinned" in article.dataset) {
      return "pinned";
    }
    return this.#isBelow(article) && !(article.dataset.message in this.window.left_out) ? "in" : "out";
  }

  #isBelow(article) {
    return Number(article.dataset.position) >= this.window.first_position;
  }

  #placeHorizon() {
    const { first_position: position, has_pins_above: hasPins } = this.window;
    const articles = this.#articles;
    const first = articles.find((article) => this.#isBelow(article));
    const isOnPage = first && Number(articles[0].dataset.position) <= position;
    this.horizon.hidden = !position || !isOnPage;
    this.horizon.classList.toggle("has-pins-above", Boolean(hasPins));
    this.horizon.ariaLabel = hasPins ? this.horizon.dataset.labelWithPins : this.horizon.dataset.label;
    if (!this.horizon.hidden && this.horizon.nextElementSibling !== first) {
      first.before(this.horizon);
    }
  }
}
