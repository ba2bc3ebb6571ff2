/**
 * The form of the page of imports: files are sent in pieces, which go on where a connection broke off, also while another
 * page of the shell is shown. Without this the form sends them as a whole.
 */

import { goToGate, postForm, sentenceFor } from "../server/http.js";
import { dataOf, find } from "../shared/dom.js";

export const ANNOUNCED_MS = 10_000; // at most so often: figures that change all the time are noise to who hears them
const TRIES = 5;
const PAUSE_MS = 1_000;

/** @typedef {{url: string, received: number, digest: string, size: number}} PlannedFile */
/** @typedef {{import: string, start: string, files: PlannedFile[]}} Plan */

export class ImportForm {
  /**
   * @param {HTMLFormElement} form
   * @param {object} options
   * @param {(url: string) => Promise<void>} options.show shows the import that was begun
   * @param {(sentence: string) => void} options.say
   * @param {AbortSignal} options.signal ends it
   */
  constructor(form, { show, say, signal }) {
    this.form = form;
    this.show = show;
    this.say = say;
    this.signal = signal;
    this.words = find(form, '[data-part="import-sending"]');
    this.chooser = find(form, "input[type=file]", HTMLInputElement);
    this.button = find(form, "button", HTMLButtonElement);
    form.addEventListener("submit", (event) => this.#send(event), { signal });
    form.addEventListener("dragover", (event) => this.#over(event, true), { signal });
    form.addEventListener("dragleave", (event) => this.#over(event, false), { signal });
    form.addEventListener("drop", (event) => this.#drop(event), { signal });
  }

  /**
   * @param {DragEvent} event
   * @param {boolean} isOver
   */
  #over(event, isOver) {
    event.preventDefault();
    this.form.classList.toggle("is-over", isOver);
  }

  /** @param {DragEvent} event */
  #drop(event) {
    this.#over(event, false);
    if (event.dataTransfer?.files.length) {
      this.chooser.files = event.dataTransfer.files;
    }
  }

  /** @param {SubmitEvent} event */
  async #send(event) {
    event.preventDefault();
    const files = [...(this.chooser.files ?? [])];
    this.button.disabled = true;
    try {
      const plan = await this.#begin(files);
      await this.#sendFiles(files, plan);
      await postForm(plan.start);
      this.form.reset();
      this.words.textContent = "";
      await this.show(plan.import);
      this.button.disabled = false;
    } catch (error) {
      if (!this.signal.aborted) {
        const sentence = error instanceof BrokenOff ? dataOf(this.form, "saysUnreachable") : sentenceFor(error);
        this.words.textContent = sentence;
        this.button.disabled = false;
      }
    }
  }

  /**
   * @param {File[]} files
   * @returns {Promise<Plan>}
   */
  async #begin(files) {
    const scenario = find(this.form, "select", HTMLSelectElement).value;
    const fields = { name: files.map((file) => file.name), size: files.map((file) => String(file.size)), scenario };
    const plan = /** @type {Plan} */ (await postForm(this.form.action, fields));
    const pieceBytes = Number(dataOf(this.form, "pieceBytes"));
    for (const [index, file] of files.entries()) {
      if (!(await isBeginningOf(file, plan.files[index], pieceBytes))) {
        return postForm(this.form.action, { ...fields, again: "yes" });
      }
    }
    return plan;
  }

  /**
   * @param {File[]} files
   * @param {Plan} plan
   */
  async #sendFiles(files, plan) {
    const total = files.reduce((sum, file) => sum + file.size, 0);
    const pieceBytes = Number(dataOf(this.form, "pieceBytes"));
    let before = 0;
    let announced = Number.NEGATIVE_INFINITY;
    for (const [index, file] of files.entries()) {
      const { url, received } = plan.files[index];
      for (let at = received; at < file.size; ) {
        at = await sendPiece(url, at, file.slice(at, at + pieceBytes));
        const percent = String(Math.floor((100 * (before + at)) / total));
        const sentence = dataOf(this.form, "saysSending").replace("{percent}", percent);
        this.words.setAttribute("aria-live", "off");
        this.words.textContent = sentence;
        if (performance.now() - announced > ANNOUNCED_MS) {
          announced = performance.now();
          this.say(sentence);
        }
      }
      before += file.size;
    }
  }
}

/**
 * Whether what the server has of a file is the beginning of *file*. Without digests, as on a page that did not come over
 * TLS, that is not known.
 * @param {File} file
 * @param {PlannedFile} planned
 * @param {number} pieceBytes
 */
async function isBeginningOf(file, { received, digest }, pieceBytes) {
  if (!received) {
    return true;
  }
  if (!crypto.subtle) {
    return false;
  }
  let known = new Uint8Array();
  for (let at = 0; at < received; at += pieceBytes) {
    const piece = new Blob([known, file.slice(at, Math.min(at + pieceBytes, received))]);
    known = new Uint8Array(await crypto.subtle.digest("SHA-256", await piece.arrayBuffer()));
  }
  return Array.from(known, (byte) => byte.toString(16).padStart(2, "0")).join("") === digest;
}

class BrokenOff extends Error {}

/**
 * Send a piece, again where the connection breaks off, and return how much of the file the server has.
 * @param {string} url
 * @param {number} start
 * @param {Blob} piece
 * @returns {Promise<number>}
 */
async function sendPiece(url, start, piece) {
  const headers = {
    Accept: "application/json",
    "Content-Type": "application/octet-stream",
    "X-CSRFToken": dataOf(document.body, "csrfToken"),
  };
  for (let tries = 1; ; tries += 1) {
    const sent = await fetch(`${url}?start=${start}`, { method: "POST", headers, body: piece }).catch(() => undefined);
    const answer = await sent?.json().catch(() => undefined);
    if (answer?.door === "gate") {
      goToGate();
    }
    if (sent?.ok && answer) {
      return answer.received;
    }
    if (tries === TRIES || (sent && sent.status < 500)) {
      throw new BrokenOff();
    }
    await new Promise((resolve) => setTimeout(resolve, tries * PAUSE_MS));
  }
}
