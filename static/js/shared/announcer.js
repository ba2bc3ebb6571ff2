/** Tells a screen reader what has happened: a finished reply once, not each of its pieces. */

const LONGEST_CHARACTERS = 2_000;

export class Announcer {
  /** @param {HTMLElement} region a polite live region */
  constructor(region) {
    this.region = region;
  }

  say(sentence) {
    this.region.textContent = sentence;
  }

  /** @param {HTMLElement} article */
  readReply(article) {
    const heading = article.querySelector("h2").textContent;
    const content = article.querySelector("[data-content]").textContent.trim();
    const note = article.querySelector("[data-state-note]")?.textContent ?? "";
    this.say(`${heading}: ${content.slice(0, LONGEST_CHARACTERS)} ${note}`);
  }
}
