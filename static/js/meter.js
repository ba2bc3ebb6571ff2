/** What the message being written costs, and how much of the window it leaves: asked of the server, drawn as a window. */

import { postForm } from "./http.js";

const PAUSE_MS = 250;
const PAUSE_FOR_LONG_MS = 1_500;
const LONG_CHARACTERS = 20_000;

export class Meter {
  /**
   * @param {HTMLElement} element
   * @param {{url: string, whereTo: () => Record<string, string>}} options
   */
  constructor(element, { url, whereTo }) {
    Object.assign(this, { element, url, whereTo });
    this.asked = 0;
  }

  /** Ask what *content* would cost, once the typing pauses. */
  estimate(content) {
    clearTimeout(this.timer);
    const pause = content.length > LONG_CHARACTERS ? PAUSE_FOR_LONG_MS : PAUSE_MS;
    this.timer = setTimeout(() => this.#ask(content), pause);
  }

  async #ask(content) {
    const question = (this.asked += 1);
    try {
      const answer = await postForm(this.url, { ...this.whereTo(), content });
      if (question === this.asked) {
        this.#draw(answer);
      }
    } catch {
      // The meter is a help; sending tells what is wrong.
    }
  }

  #draw({ content_tokens: content, prompt_tokens: prompt, budget_tokens: budget, problem }) {
    const percent = Math.min(100, Math.round((100 * prompt) / budget));
    const level = this.element.querySelector("[data-level]");
    const { y, height } = levelOf(level.ownerSVGElement, percent);
    level.setAttribute("y", y);
    level.setAttribute("height", height);
    this.#say("content", content);
    this.#say("prompt", prompt);
    this.#say("budget", budget);
    this.element.querySelector("[data-problem]").textContent = problem;
    this.element.querySelector("[data-if-content]").hidden = !content;
    this.element.classList.toggle("is-over", Boolean(problem));
    this.element.classList.remove("is-unknown");
  }

  #say(name, tokens) {
    for (const element of this.element.querySelectorAll(`[data-tokens="${name}"]`)) {
      element.textContent = tokens.toLocaleString(document.documentElement.lang);
    }
  }
}

function levelOf(svg, percent) {
  const { height } = svg.viewBox.baseVal;
  return { y: height * (1 - percent / 100), height: (height * percent) / 100 };
}
