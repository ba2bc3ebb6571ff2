/** What the message being written costs and how it fills the window: asked of the server, drawn as a bar of parts. */

import { postForm } from "../server/http.js";

const PAUSE_MS = 250;
const PAUSE_FOR_LONG_MS = 1_500;
const LONG_CHARACTERS = 20_000;

export class Meter {
  /**
   * @param {HTMLElement} element
   * @param {object} options
   * @param {string} options.url
   * @param {() => Record<string, string>} options.whereTo
   * @param {(window: object) => void} options.onWindow told of the window that the message would be sent in
   */
  constructor(element, { url, whereTo, onWindow }) {
    Object.assign(this, { element, url, whereTo, onWindow });
    this.asked = 0;
    this.bar = element.querySelector(".meter-bar");
    this.#letEscapeCloseParts();
  }

  /** Ask what *content* would cost, once the typing pauses. */
  estimate(content) {
    clearTimeout(this.timer);
    const pause = content.length > LONG_CHARACTERS ? PAUSE_FOR_LONG_MS : PAUSE_MS;
    this.timer = setTimeout(() => this.#ask(content), pause);
  }

  /** Whatever has been asked is out of date. */
  forget() {
    clearTimeout(this.timer);
    this.asked += 1;
  }

  async #ask(content) {
    this.asked += 1;
    const question = this.asked;
    try {
      const answer = await postForm(this.url, { ...this.whereTo(), content });
      if (question === this.asked) {
        this.#draw(answer);
      }
    } catch {
      // The meter is a help; sending tells what is wrong.
    }
  }

  #draw({ content_tokens: content, prompt_tokens: prompt, budget_tokens: budget, problem, money, window }) {
    const parts = Object.fromEntries(window?.parts ?? []);
    this.#fill(parts);
    for (const [name, tokens] of Object.entries({ ...parts, content, prompt, budget })) {
      this.#say(name, tokens);
    }
    for (const row of this.element.querySelectorAll("[data-legend]")) {
      row.hidden = !parts[row.dataset.legend];
    }
    this.element.querySelector("[data-problem]").textContent = problem;
    this.element.querySelector("[data-money-left]").textContent = money.left;
    this.element.querySelector("[data-money-most]").textContent = content ? money.most : "";
    this.element.querySelector("[data-if-content]").hidden = !content;
    this.element.classList.toggle("is-over", Boolean(problem) && !window); // of the window: not of somebody's money
    this.element.classList.remove("is-unknown");
    if (window) {
      this.onWindow(window);
    }
  }

  /** Lay the parts side by side; what is free lies before the room for the reply. */
  #fill(parts) {
    const total = Object.values(parts).reduce((sum, tokens) => sum + tokens, 0);
    let x = 0;
    for (const [part, tokens] of Object.entries(parts)) {
      const layer = this.bar.querySelector(`[data-bar="${part}"]`);
      layer?.setAttribute("x", `${(100 * x) / total}%`);
      layer?.setAttribute("width", `${(100 * tokens) / total}%`);
      x += tokens;
    }
  }

  #say(name, tokens) {
    for (const element of this.element.querySelectorAll(`[data-tokens="${name}"]`)) {
      element.textContent = tokens.toLocaleString(document.documentElement.lang);
    }
  }

  /** What hovering or the focus has opened, Escape closes until they come back. */
  #letEscapeCloseParts() {
    document.addEventListener("keydown", ({ key }) => {
      this.element.classList.toggle("is-quiet", key === "Escape");
    });
    this.element.addEventListener("pointerenter", () => this.element.classList.remove("is-quiet"));
  }
}
