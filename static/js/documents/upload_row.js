/** The chip of one upload: the file's name, its progress, and its error, which goes after a while. */

import { find } from "../shared/dom.js";

const SHOWN_MS = 10_000; // what has ended; longer while the pointer or the focus is at it

export class UploadRow {
  /**
   * @param {HTMLTemplateElement} template
   * @param {string} name of the file
   * @param {object} options
   * @param {() => void} options.onTakenAway by its button, or after a while
   * @param {() => void} [options.onAgain]
   */
  constructor(template, name, { onTakenAway, onAgain = () => {} }) {
    this.controller = new AbortController();
    this.onTakenAway = onTakenAway;
    this.hasEnded = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.element = find(document.importNode(template.content, true), "li");
    this.bar = find(this.element, "progress", HTMLProgressElement);
    this.again = find(this.element, "[data-again]");
    const label = find(this.element, "[data-name]");
    label.textContent = name;
    label.title = name;
    this.again.addEventListener("click", onAgain);
    find(this.element, "[data-take-away]").addEventListener("click", onTakenAway);
    for (const kind of ["pointerenter", "pointerleave", "focusin", "focusout"]) {
      this.element.addEventListener(kind, () => this.#wait());
    }
  }

  /** @param {string} sentence */
  wait(sentence) {
    this.controller = new AbortController();
    this.hasEnded = false;
    this.element.classList.replace("is-failed", "is-moving");
    this.again.hidden = true;
    this.#tell(sentence);
  }

  /**
   * @param {number} percent
   * @param {string} sentence
   */
  progress(percent, sentence) {
    this.bar.hidden = false;
    this.bar.value = percent;
    this.#tell(sentence);
  }

  /** @param {string} sentence */
  end(sentence) {
    this.#end("is-ready", sentence);
  }

  /**
   * @param {string} sentence
   * @param {{canTryAgain: boolean}} options
   */
  fail(sentence, { canTryAgain }) {
    this.again.hidden = !canTryAgain;
    this.#end("is-failed", sentence);
  }

  remove() {
    clearTimeout(this.timer);
    this.element.remove();
  }

  /**
   * @param {string} kind
   * @param {string} sentence
   */
  #end(kind, sentence) {
    this.hasEnded = true;
    this.element.classList.replace("is-moving", kind);
    this.bar.hidden = true;
    this.#tell(sentence);
  }

  /** @param {string} sentence */
  #tell(sentence) {
    const words = find(this.element, "[data-words]");
    words.textContent = sentence;
    words.title = sentence;
    this.#wait();
  }

  /** Begin to wait until it goes, unless it is not over yet or is being looked at. */
  #wait() {
    clearTimeout(this.timer);
    if (this.hasEnded && !this.element.matches(":hover, :focus-within")) {
      this.timer = setTimeout(this.onTakenAway, SHOWN_MS);
    }
  }
}
