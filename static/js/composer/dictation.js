/** Dictation by the browser, where it has that: what is said is written where the caret stands. */

import { find } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";

/**
 * @import { Composer } from "./composer.js"
 *
 * @typedef {object} Recognition the browser's, under its old name in some
 * @property {string} lang
 * @property {boolean} continuous
 * @property {boolean} interimResults
 * @property {() => void} start
 * @property {() => void} stop
 * @property {() => void} abort
 * @property {((event: {resultIndex: number, results: ArrayLike<ArrayLike<{transcript: string}> & {isFinal: boolean}>}) => void) | null} onresult
 * @property {((event: {error: string}) => void) | null} onerror
 * @property {(() => void) | null} onend
 */

const AGREED = "dictation"; // in the browser's storage: the user knows who may hear it

/**
 * Start dictation. To be called at the first press of its button: it handles that one and those that follow, and listens
 * only between one press and the next.
 * @param {HTMLFormElement} form
 * @param {object} options
 * @param {new () => Recognition} options.Recognition
 * @param {Composer} options.composer
 * @param {(sentence: string) => void} options.say
 * @param {AbortSignal} options.signal ends it
 */
export function startDictation(form, { Recognition, composer, say, signal }) {
  const button = find(form, '[data-action="dictate"]');
  const note = find(form, '[data-part="dictation"]');
  const words = find(note, "[data-words]");
  const agree = find(note, '[data-action="agree-to-dictation"]');
  /** @type {Recognition | undefined} */
  let recognition;

  function press() {
    if (recognition) {
      recognition.stop();
    } else if (localStorage.getItem(AGREED)) {
      listen();
    } else {
      show(Boolean(note.hidden), sentence("dictationNotice"), true);
    }
  }
  button.addEventListener("click", press);
  agree.addEventListener("click", () => {
    localStorage.setItem(AGREED, "yes");
    listen();
    composer.focus();
  });
  signal.addEventListener("abort", () => recognition?.abort());
  press();

  function listen() {
    const begun = new Recognition();
    let problem = "";
    begun.lang = document.documentElement.lang;
    begun.continuous = true;
    begun.interimResults = true;
    begun.onresult = ({ resultIndex, results }) => {
      let unsure = "";
      for (const result of Array.from(results).slice(resultIndex)) {
        const [{ transcript }] = Array.from(result);
        if (result.isFinal) {
          composer.insert(transcript.trim());
        } else {
          unsure += transcript;
        }
      }
      words.textContent = unsure || sentence("dictating");
    };
    begun.onerror = ({ error }) => {
      problem = error === "aborted" ? "" : sentence(error === "not-allowed" ? "dictationForbidden" : "dictationFailed");
    };
    begun.onend = () => {
      recognition = undefined;
      button.ariaPressed = "false";
      show(Boolean(problem), problem, false);
      say(problem || sentence("dictationEnded"));
    };
    recognition = begun;
    button.ariaPressed = "true";
    show(true, sentence("dictating"), false);
    begun.start();
  }

  /**
   * @param {boolean} isShown
   * @param {string} text
   * @param {boolean} asks
   */
  function show(isShown, text, asks) {
    words.textContent = text;
    agree.hidden = !asks;
    note.hidden = !isShown;
  }
}
