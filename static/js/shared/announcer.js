/** Tells a screen reader what has happened: a finished reply once, not each of its pieces. */

import { find, query, queryAll } from "./dom.js";

const LONGEST_CHARACTERS = 2_000;
const NOT_READ = ".code-block-bar, button:not(.citation)";

export class Announcer {
  /**
   * @param {HTMLElement} region a polite live region
   * @param {AbortSignal} [signal] ends it: what is said later is about something that the user has left
   */
  constructor(region, signal) {
    this.region = region;
    this.signal = signal;
  }

  /** @param {string} sentence */
  say(sentence) {
    if (!this.signal?.aborted) {
      this.region.textContent = sentence;
    }
  }

  /** @param {HTMLElement} article */
  readReply(article) {
    const by = find(article, ".message-name").textContent;
    const shown = /** @type {HTMLElement} */ (find(article, "[data-content]").cloneNode(true));
    for (const part of queryAll(shown, NOT_READ)) {
      part.remove();
    }
    const content = shown.textContent.trim();
    const note = query(article, "[data-state-note]")?.textContent ?? "";
    this.say(`${by}: ${content.slice(0, LONGEST_CHARACTERS)} ${note}`);
  }
}
