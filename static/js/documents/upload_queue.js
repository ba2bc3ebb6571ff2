/**
 * The queue of uploads: files are sent one after the other, until the list of documents has them. A bundle of its own: most
 * conversations have no documents.
 */

import { Refusal, sentenceFor } from "../server/http.js";
import { dataOf, find } from "../shared/dom.js";
import { isolateName } from "../shared/names.js";
import { sentence } from "../shared/sentences.js";
import { uploadFile } from "./upload_file.js";
import { UploadRow } from "./upload_row.js";

const ONE_TOO_MANY = new Set(["documents_too_many", "uploads_used_up"]);

export class UploadQueue {
  /**
   * @param {HTMLElement} shelf its dataset has the address and the limit
   * @param {object} options
   * @param {() => Record<string, string>} options.beginning what is sent with each file besides it
   * @param {() => void} options.onAdded told of each file that is kept now
   * @param {(sentence: string) => void} options.say
   */
  constructor(shelf, { beginning, onAdded, say }) {
    this.shelf = shelf;
    this.beginning = beginning;
    this.onAdded = onAdded;
    this.say = say;
    this.list = find(shelf, '[data-part="uploads"]');
    this.template = find(shelf, "template", HTMLTemplateElement);
    /** @type {Promise<unknown>} */
    this.turn = Promise.resolve();
    /** @type {Set<UploadRow>} */
    this.waiting = new Set();
  }

  /**
   * Send *files* in their order; of one that is too large it is said before anything is sent.
   * @param {File[]} files
   */
  add(files) {
    for (const file of files) {
      const row = this.#newRow(file);
      if (file.size > Number(this.shelf.dataset.mostBytes)) {
        this.#fail(row, file.name, sentence("uploadTooLarge"));
      } else {
        this.#queue(row, file);
      }
    }
  }

  /**
   * @param {File} file
   * @returns {UploadRow}
   */
  #newRow(file) {
    const row = new UploadRow(this.template, file.name, {
      onAgain: () => this.#queue(row, file),
      onTakenAway: () => this.#takeAway(row),
    });
    this.list.append(row.element);
    return row;
  }

  /**
   * Show for a while why a document can't be used, which was stored and could not be read.
   * @param {string} name
   * @param {string} reason
   */
  showFailure(name, reason) {
    const row = new UploadRow(this.template, name, { onTakenAway: () => row.remove() });
    this.list.append(row.element);
    row.fail(reason, { canTryAgain: false });
  }

  /**
   * @param {UploadRow} row
   * @param {File} file
   */
  #queue(row, file) {
    row.wait(sentence("uploadQueued"));
    const { signal } = row.controller;
    this.waiting.add(row);
    this.turn = this.turn.then(() => (signal.aborted ? undefined : this.#send(row, file, signal)));
  }

  /**
   * @param {UploadRow} row
   * @param {File} file
   * @param {AbortSignal} signal
   */
  async #send(row, file, signal) {
    const onProgress = (/** @type {number} */ percent) =>
      row.progress(percent, sentence("uploadProgress", { percent: String(percent) }));
    onProgress(0);
    this.waiting.delete(row);
    try {
      const { documents } = await uploadFile(dataOf(this.shelf, "url"), {
        fields: this.beginning(),
        file,
        onProgress,
        signal,
      });
      this.#added(row, file.name, documents[0]);
    } catch (error) {
      signal.aborted || this.#refused(row, file.name, error);
    }
  }

  /**
   * Where one is one too many, so are those behind it: they are not sent in vain.
   * @param {UploadRow} row
   * @param {string} name
   * @param {unknown} error
   */
  #refused(row, name, error) {
    const reason = sentenceFor(error, { tooLarge: "uploadTooLarge", unreachable: "uploadUnreachable" });
    this.#fail(row, name, reason, { canTryAgain: true });
    if (error instanceof Refusal && ONE_TOO_MANY.has(error.code)) {
      for (const other of this.waiting) {
        other.controller.abort();
        other.fail(reason, { canTryAgain: true });
      }
      this.waiting.clear();
    }
  }

  /**
   * @param {UploadRow} row
   * @param {string} name
   * @param {{created: boolean}} document
   */
  #added(row, name, { created }) {
    if (created) {
      row.remove();
    } else {
      row.end(sentence("uploadKnown")); // nothing else on the page shows the outcome
    }
    this.say(`${isolateName(name)}: ${sentence(created ? "uploadAdded" : "uploadKnown")}`);
    this.onAdded();
  }

  /**
   * @param {UploadRow} row
   * @param {string} name
   * @param {string} reason
   */
  #fail(row, name, reason, { canTryAgain = false } = {}) {
    row.fail(reason, { canTryAgain });
    this.say(`${isolateName(name)}: ${reason}`);
  }

  /** @param {UploadRow} row */
  #takeAway(row) {
    row.controller.abort();
    this.waiting.delete(row);
    row.remove();
  }
}
