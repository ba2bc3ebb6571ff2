/** The row of one file on its way up: its name, how far it is, and what was wrong. */

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
    this.element = template.content.firstElementChild.cloneNode(true);
    this.bar = this.#part("progress");
    this.again = this.#part("[data-again]");
    this.#part("[data-name]").textContent = this.#part("[data-name]").title = file.name;
    this.#part("[data-size]").textContent = sizeInWords(file);
    this.again.addEventListener("click", onAgain);
    this.#part("[data-take-away]").addEventListener("click", onTakenAway);
  }

  wait(sentence) {
    this.element.classList.replace("is-failed", "is-moving");
    this.again.hidden = true;
    this.#tell(sentence);
  }

  progress(percent, sentence) {
    this.bar.hidden = false;
    this.bar.value = percent;
    this.#tell(sentence);
  }

  end(sentence) {
    this.element.classList.replace("is-moving", "is-ready");
    this.bar.hidden = true;
    this.#tell(sentence);
  }

  fail(sentence, { canTryAgain }) {
    this.element.classList.replace("is-moving", "is-failed");
    this.bar.hidden = true;
    this.again.hidden = !canTryAgain;
    this.#tell(sentence);
  }

  remove() {
    this.element.remove();
  }

  #tell(sentence) {
    this.#part("[data-words]").textContent = sentence;
  }

  #part(selector) {
    return this.element.querySelector(selector);
  }
}

function sizeInWords({ size }) {
  const { from, ...unit } = SIZES.find(({ from }) => size >= from);
  const figures = { style: "unit", maximumFractionDigits: from >= 1_000_000 ? 1 : 0, ...unit };
  return new Intl.NumberFormat(document.documentElement.lang, figures).format(size / (from || 1));
}
