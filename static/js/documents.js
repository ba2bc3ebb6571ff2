/** Documents on their way up: one row each, one after the other, until the server's own list shows them. */

import { upload } from "./upload.js";

const CHANGED = "documents-changed"; // the lists of documents on the page are drawn anew by it: see _documents.html
const BYTES_PER_MEGABYTE = 1_000_000;

export class Documents {
  /**
   * @param {HTMLElement} shelf
   * @param {object} options
   * @param {() => Record<string, string>} options.beginning what is sent with the first file of a new conversation
   * @param {() => void} options.onAdded told of each file that is kept, before it is read
   * @param {(sentence: string) => void} options.say
   */
  constructor(shelf, { beginning, onAdded, say }) {
    Object.assign(this, { shelf, beginning, onAdded, say });
    this.rows = shelf.querySelector("[data-part='uploads']");
    this.turn = Promise.resolve();
    this.chooser = shelf.querySelector("[data-part='chooser']");
    this.chooser.addEventListener("change", () => {
      this.add([...this.chooser.files]);
      this.chooser.value = ""; // the same file can be chosen again
    });
  }

  choose() {
    this.chooser.click();
  }

  /** Send the files in their order. Of those not allowed, it is said before anything is sent. @param {File[]} files */
  add(files) {
    for (const file of files) {
      const row = this.#newRow(file);
      if (file.size > this.shelf.dataset.mostMegabytes * BYTES_PER_MEGABYTE) {
        this.#fail(row, this.shelf.dataset.textTooLarge);
      } else {
        this.#queue(row, file);
      }
    }
  }

  #newRow(file) {
    const template = this.shelf.querySelector("template");
    const row = template.content.firstElementChild.cloneNode(true);
    row.querySelector("[data-name]").textContent = file.name;
    row.querySelector("[data-name]").title = file.name;
    row.querySelector("[data-dismiss-upload]").addEventListener("click", () => this.#takeAway(row));
    row.querySelector("[data-again]").addEventListener("click", () => this.#queue(row, file));
    this.rows.append(row);
    return row;
  }

  #queue(row, file) {
    const away = new AbortController();
    row.away = away;
    row.classList.remove("is-failed");
    row.querySelector("[data-again]").hidden = true;
    this.#tell(row, this.shelf.dataset.textQueued);
    this.turn = this.turn.then(() => away.signal.aborted || this.#send(row, file, away.signal));
  }

  async #send(row, file, signal) {
    const onProgress = (percent) => this.#progress(row, percent);
    onProgress(0);
    try {
      const { documents } = await upload(this.shelf.dataset.url, { fields: this.beginning(), file, onProgress, signal });
      this.#settle(row, documents[0]);
    } catch (error) {
      signal.aborted || this.#fail(row, error.code ? error.message : this.#unreachable(error), { canTryAgain: true });
    }
  }

  /** The server answers for each file; one that it does not keep has an error. */
  #settle(row, { error, message, created }) {
    if (error) {
      this.#fail(row, message);
      return;
    }
    const name = row.querySelector("[data-name]").textContent;
    row.remove();
    this.say(`${name}: ${created ? this.shelf.dataset.textAdded : this.shelf.dataset.textThere}`);
    this.onAdded();
    refreshDocuments();
  }

  #fail(row, sentence, { canTryAgain = false } = {}) {
    row.classList.add("is-failed");
    row.querySelector("progress").hidden = true;
    row.querySelector("[data-again]").hidden = !canTryAgain;
    this.#tell(row, sentence);
    this.say(`${row.querySelector("[data-name]").textContent}: ${sentence}`);
  }

  #takeAway(row) {
    row.away?.abort();
    row.remove();
  }

  #progress(row, percent) {
    const bar = row.querySelector("progress");
    bar.hidden = false;
    bar.value = percent;
    this.#tell(row, this.shelf.dataset.textUploading.replace("{percent}", percent));
  }

  #tell(row, sentence) {
    row.querySelector("[data-state-words]").textContent = sentence;
  }

  #unreachable({ status }) {
    return this.shelf.dataset[status === 413 ? "textTooLarge" : "textUnreachable"];
  }
}

/** Let every list of documents on the page be drawn anew. */
export function refreshDocuments() {
  document.body.dispatchEvent(new CustomEvent(CHANGED));
}
