/** Files on their way up, one after the other, until the list of documents has them. */

import { upload } from "./upload_file.js";
import { UploadRow } from "./upload_row.js";

const ONE_TOO_MANY = new Set(["documents_too_many", "uploads_used_up"]);

export class Uploads {
  /**
   * @param {HTMLElement} shelf its dataset has the address, the limit and the sentences
   * @param {object} options
   * @param {() => Record<string, string>} options.beginning what is sent with each file besides it
   * @param {() => void} options.onAdded told of each file that is kept now
   * @param {(sentence: string) => void} options.say
   */
  constructor(shelf, { beginning, onAdded, say }) {
    Object.assign(this, { words: shelf.dataset, beginning, onAdded, say });
    this.list = shelf.querySelector('[data-part="uploads"]');
    this.template = shelf.querySelector("template");
    this.turn = Promise.resolve();
    this.waiting = new Set();
  }

  /** Send *files* in their order; of one that is too large it is said before anything is sent. */
  add(files) {
    for (const file of files) {
      const row = this.#newRow(file);
      if (file.size > Number(this.words.mostBytes)) {
        this.#fail(row, this.words.textTooLarge);
      } else {
        this.#queue(row);
      }
    }
  }

  #newRow(file) {
    const row = new UploadRow(this.template, file, {
      onAgain: () => this.#queue(row),
      onTakenAway: () => this.#takeAway(row),
    });
    this.list.append(row.element);
    return row;
  }

  #queue(row) {
    row.away = new AbortController();
    row.wait(this.words.textQueued);
    const { signal } = row.away;
    this.waiting.add(row);
    this.turn = this.turn.then(() => signal.aborted || this.#send(row, signal));
  }

  async #send(row, signal) {
    const onProgress = (percent) => row.progress(percent, this.words.textUploading.replace("{percent}", percent));
    onProgress(0);
    this.waiting.delete(row);
    try {
      const { documents } = await upload(this.words.url, {
        fields: this.beginning(),
        file: row.file,
        onProgress,
        signal,
      });
      this.#added(row, documents[0]);
    } catch (error) {
      signal.aborted || this.#refused(row, error);
    }
  }

  /** Where one is one too many, so are those behind it: they are not sent in vain. */
  #refused(row, error) {
    const sentence = this.#sentenceFor(error);
    this.#fail(row, sentence, { canTryAgain: true });
    if (ONE_TOO_MANY.has(error.code)) {
      for (const other of this.waiting) {
        other.away.abort();
        other.fail(sentence, { canTryAgain: true });
      }
      this.waiting.clear();
    }
  }

  #added(row, { created }) {
    if (created) {
      row.remove();
    } else {
      row.end(this.words.textThere); // nothing else on the page shows that something came of it
    }
    this.say(`${row.file.name}: ${created ? this.words.textAdded : this.words.textThere}`);
    this.onAdded();
  }

  #fail(row, sentence, { canTryAgain = false } = {}) {
    row.fail(sentence, { canTryAgain });
    this.say(`${row.file.name}: ${sentence}`);
  }

  #takeAway(row) {
    row.away?.abort();
    this.waiting.delete(row);
    row.remove();
  }

  /** A proxy before the server may have a lower limit of its own, and answers in its own words. */
  #sentenceFor({ code, message, status }) {
    return code ? message : this.words[status === 413 ? "textTooLarge" : "textUnreachable"];
  }
}
