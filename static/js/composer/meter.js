/** The meter below the composer: what the message being written costs, and a track that the parts of the window fill. */

import { postForm } from "../server/http.js";
import { dataOf, find, queryAll } from "../shared/dom.js";

/**
 * @import { CoveredWindow } from "../server/frames.js"
 *
 * @typedef {object} Estimate the server's answer
 * @property {number} content_tokens
 * @property {number} picture_tokens of the pictures that would be sent with it
 * @property {number} prompt_tokens
 * @property {number} budget_tokens
 * @property {string} problem
 * @property {{left: string, most: string}} money
 * @property {(CoveredWindow & {parts: [string, number][]}) | null} [window]
 */

const PAUSE_MS = 250;
const PAUSE_FOR_LONG_MS = 1_500;
const LONG_CHARACTERS = 20_000;
const RING = 2 * Math.PI * 13; // the way around the ring, with the radius that its template has

export class Meter {
  /**
   * @param {HTMLElement} element
   * @param {object} options
   * @param {string} options.url
   * @param {() => Record<string, string | string[]>} options.whereTo
   * @param {(window: CoveredWindow) => void} options.onWindow told of the window that the message would be sent in
   * @param {(problem: string) => void} options.onTooLong told by how much the message is too long; "" if it is not
   * @param {AbortSignal} options.signal ends it
   */
  constructor(element, { url, whereTo, onWindow, onTooLong, signal }) {
    this.element = element;
    this.url = url;
    this.whereTo = whereTo;
    this.onWindow = onWindow;
    this.onTooLong = onTooLong;
    this.asked = 0;
    this.timer = 0;
    this.bar = find(element, ".meter-bar", SVGElement);
    this.#closePartsByEscape(signal);
    signal.addEventListener("abort", () => this.forget());
  }

  /**
   * Ask what *content* would cost, once the typing pauses. Until then the answer to what was typed before may still come:
   * who types on sees the meter follow.
   * @param {string} content
   */
  estimate(content) {
    clearTimeout(this.timer);
    const pause = content.length > LONG_CHARACTERS ? PAUSE_FOR_LONG_MS : PAUSE_MS;
    this.timer = setTimeout(() => this.#ask(content), pause);
  }

  /**
   * The conversation has changed: what was asked about it before is out of date, whenever the answer comes. Ask again.
   * @param {string} content
   */
  refresh(content) {
    this.forget();
    this.estimate(content);
  }

  /** Ignore the answers to what has been asked: they are out of date. */
  forget() {
    clearTimeout(this.timer);
    this.asked += 1;
  }

  /** @param {string} content */
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

  /** @param {Estimate} estimate */
  #draw({
    content_tokens: content,
    picture_tokens: pictures,
    prompt_tokens: prompt,
    budget_tokens: budget,
    problem,
    money,
    window,
  }) {
    const parts = Object.fromEntries(window?.parts ?? []);
    this.#fill(parts);
    const percent = budget ? Math.round((100 * prompt) / budget) : 0;
    for (const [name, tokens] of Object.entries({ ...parts, content, pictures, prompt, budget, percent })) {
      this.#say(name, tokens);
    }
    for (const row of queryAll(this.element, "[data-legend]")) {
      row.hidden = !parts[dataOf(row, "legend")];
    }
    find(this.element, "[data-problem]").textContent = problem;
    find(this.element, "[data-money-left]").textContent = money.left;
    find(this.element, "[data-money-most]").textContent = content && money.left ? money.most : "";
    find(this.element, "[data-money-cost]").textContent = money.most;
    for (const part of queryAll(this.element, "[data-if-content]")) {
      part.hidden = !content || (part.matches(".meter-cost") && !money.most);
    }
    find(this.element, "[data-if-pictures]").hidden = !pictures;
    const isOver = Boolean(problem) && !window; // over the window, not over an allowance
    this.element.classList.toggle("is-over", isOver);
    this.onTooLong(isOver ? problem : "");
    this.element.classList.remove("is-unknown");
    if (window) {
      this.onWindow(window);
    }
  }

  /**
   * Lay the parts side by side on the track. It ends where the room for the reply begins; a window that has no parts,
   * because the message is too long for it, is track alone.
   * @param {Record<string, number>} parts
   */
  #fill(parts) {
    const total = Object.values(parts).reduce((sum, tokens) => sum + tokens, 0);
    let x = 0;
    /** @type {Record<string, [number, number]>} */
    const places = {};
    for (const [part, tokens] of Object.entries(parts)) {
      places[part] = [(100 * x) / total, (100 * tokens) / total];
      x += tokens;
    }
    places.track = [0, total ? places.reserve[0] : 100];
    for (const layer of queryAll(this.bar, "[data-bar]", SVGElement)) {
      const [start, width] = places[layer.dataset.bar ?? ""] ?? [0, 0];
      layer.setAttribute("x", `${start}%`);
      layer.setAttribute("width", `${width}%`);
    }
    for (const arc of queryAll(this.element, "[data-ring]", SVGElement)) {
      const [start, width] = places[arc.dataset.ring ?? ""] ?? [0, 0];
      arc.setAttribute("stroke-dasharray", `0 ${(start * RING) / 100} ${(width * RING) / 100} ${RING}`);
    }
  }

  /**
   * @param {string} name
   * @param {number} tokens
   */
  #say(name, tokens) {
    for (const element of this.element.querySelectorAll(`[data-tokens="${name}"]`)) {
      element.textContent = tokens.toLocaleString(document.documentElement.lang);
    }
  }

  /**
   * What hovering or the focus has opened, Escape closes until they come back.
   * @param {AbortSignal} signal
   */
  #closePartsByEscape(signal) {
    document.addEventListener(
      "keydown",
      ({ key }) => {
        this.element.classList.toggle("is-quiet", key === "Escape");
      },
      { signal },
    );
    this.element.addEventListener("pointerenter", () => this.element.classList.remove("is-quiet"));
  }
}
