/** The row of one upload: the file's name, its progress, and its error. */

import { find } from "../shared/dom.js";

/** @type {{from: number, unit: string, unitDisplay?: "long"}[]} */
const SIZES = [
  { from: 1_000_000, unit: "megabyte" },
  { from: 1_000, unit: "kilobyte" },
  { from: 0, unit: "byte", unitDisplay: "long" },
];

export class UploadRow {
  /**
   * @param {HTMLTemplateElement} template
   * @param {File} file
   * @param {object} options
   * @param {() => void} options.onAgain
   * @param {() => void} options.onTakenAway
   */
  constructor(template, file, { onAgain, onTakenAway }) {
    this.file = file;
    this.controller = new AbortController();
    this.element = find(document.importNode(template.content, true), "li");
    this.bar = find(this.element, "progress", HTMLProgressElement);
    this.again = find(this.element, "[data-again]");
    const name = find(this.element, "[data-name]");
    name.textContent = file.name;
    name.title = file.name;
    find(this.element, "[data-size]").textContent = sizeInWords(file);
    this.again.addEventListener("click", onAgain);
    find(this.element, "[data-take-away]").addEventListener("click", onTakenAway);
  }

  /** @param {string} sentence */
  wait(sentence) {
    this.controller = new AbortController();
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
    this.element.classList.replace("is-moving", "is-ready");
    this.bar.hidden = true;
    this.#tell(sentence);
  }

  /**
   * @param {string} sentence
   * @param {{canTryAgain: boolean}} options
   */
  fail(sentence, { canTryAgain }) {
    this.element.classList.replace("is-moving", "is-failed");
    this.bar.hidden = true;
    this.again.hidden = !canTryAgain;
    this.#tell(sentence);
  }

  remove() {
    this.element.remove();
  }

  /** @param {string} sentence */
  #tell(sentence) {
    find(this.element, "[data-words]").textContent = sentence;
  }
}

/** @param {File} file */
function sizeInWords({ size }) {
  const { from, ...unit } = SIZES.find(({ from }) => size >= from) ?? SIZES[0];
  /** @type {Intl.NumberFormatOptions} */
  const figures = { style: "unit", maximumFractionDigits: from >= 1_000_000 ? 1 : 0, ...unit };
  return new Intl.NumberFormat(document.documentElement.lang, figures).format(size / (from || 1));
}
