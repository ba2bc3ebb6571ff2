/**
 * The page of imports: files are sent in pieces, which go on where a connection broke off, and imports show how far
 * they are. Without this the form sends them as a whole, and the page shows it once it is loaded again.
 */

import { getFragment, goToGate, postForm, sentenceFor } from "../server/http.js";
import { dataOf, find, query, queryAll } from "../shared/dom.js";
import { localiseTimes } from "../shared/local_times.js";

const LOOK_AGAIN_MS = 1_500;
const ANNOUNCED_MS = 10_000; // at most so often: figures that change all the time are noise to who hears them
const TRIES = 5;
const PAUSE_MS = 1_000;

/** @typedef {{import: string, start: string, files: {url: string, received: number, size: number}[]}} Plan */

/**
 * @param {HTMLElement} page
 * @param {object} options
 * @param {(sentence: string) => void} options.say
 * @param {AbortSignal} options.signal ends it
 */
export function startImports(page, { say, signal }) {
  const form = /** @type {HTMLFormElement | null} */ (query(page, '[data-part="import-form"]'));
  if (form) {
    new ImportForm(form, say, signal);
  }
  followImports(page, form, say, signal);
}

class ImportForm {
  /**
   * @param {HTMLFormElement} form
   * @param {(sentence: string) => void} say
   * @param {AbortSignal} signal
   */
  constructor(form, say, signal) {
    this.form = form;
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
      location.assign(location.pathname); // the page has it in its list then
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
  #begin(files) {
    const scenario = find(this.form, "select", HTMLSelectElement).value;
    const fields = { name: files.map((file) => file.name), size: files.map((file) => String(file.size)), scenario };
    return postForm(this.form.action, fields);
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
        at = await sendPiece(url, at, file.slice(at, at + pieceBytes), this.signal);
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

class BrokenOff extends Error {}

/**
 * Send a piece, again where the connection breaks off, and return how much of the file the server has.
 * @param {string} url
 * @param {number} start
 * @param {Blob} piece
 * @param {AbortSignal} signal
 * @returns {Promise<number>}
 */
async function sendPiece(url, start, piece, signal) {
  const headers = {
    Accept: "application/json",
    "Content-Type": "application/octet-stream",
    "X-CSRFToken": dataOf(document.body, "csrfToken"),
  };
  for (let tries = 1; ; tries += 1) {
    const sent = await fetch(`${url}?start=${start}`, { method: "POST", headers, body: piece, signal }).catch(
      () => undefined,
    );
    const answer = await sent?.json().catch(() => undefined);
    if (answer?.door === "gate") {
      goToGate();
    }
    if (sent?.ok && answer) {
      return answer.received;
    }
    if (signal.aborted || tries === TRIES || (sent && sent.status < 500)) {
      throw new BrokenOff();
    }
    await new Promise((resolve) => setTimeout(resolve, tries * PAUSE_MS));
  }
}

/**
 * Show how far imports are, for as long as one is not at its end.
 * @param {HTMLElement} page
 * @param {HTMLElement | null} form
 * @param {(sentence: string) => void} say
 * @param {AbortSignal} signal
 */
async function followImports(page, form, say, signal) {
  let announced = performance.now();
  const moving = () =>
    queryAll(page, "[data-import]").filter(({ dataset }) => ["waiting", "running"].includes(dataset.state ?? ""));
  while (!signal.aborted && moving().length) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    for (const shown of moving()) {
      const fresh = await getFragment(dataOf(shown, "import"), "[data-import]").catch(() => undefined);
      if (signal.aborted) {
        return;
      }
      if (!fresh || (shown.contains(document.activeElement) && fresh.dataset.state === shown.dataset.state)) {
        continue; // a button that has the focus stays
      }
      shown.replaceWith(fresh);
      localiseTimes(fresh);
      const { state = "", conversations = "" } = fresh.dataset;
      const hasEnded = !["waiting", "running"].includes(state);
      if (hasEnded) {
        say(query(fresh, ".import-taken")?.textContent ?? "");
        document.querySelector("[data-list]")?.dispatchEvent(new CustomEvent("reload"));
      } else if (form && performance.now() - announced > ANNOUNCED_MS) {
        announced = performance.now();
        say(dataOf(form, "saysConversations").replace("{count}", conversations));
      }
    }
  }
}
