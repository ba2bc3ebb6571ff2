/** Read a reply aloud, by a voice of the browser's own. Fetched when it is first asked for: few do. */

import { closest, query } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";
import { speak } from "./spoken_text.js";

/**
 * @param {HTMLElement} page
 * @param {object} options
 * @param {(error: Error) => void} options.onRefused
 * @param {AbortSignal} options.signal ends it
 */
export function startReadingAloud(page, { onRefused, signal }) {
  function stop() {
    speechSynthesis.cancel();
    const pressed = query(page, '[data-action="read-aloud"][aria-pressed="true"]');
    if (pressed) {
      pressed.ariaPressed = "false";
    }
  }

  function fail() {
    stop();
    onRefused(new Error(sentence("readAloudFailed")));
  }

  /** @param {HTMLElement} button */
  function read(button) {
    button.ariaPressed = "true";
    speak(/** @type {HTMLElement} */ (button.closest("[data-message]")), { onEnd: stop, onFail: fail });
  }

  page.addEventListener("click", (event) => {
    const button = closest(event, '[data-action="read-aloud"]');
    if (button) {
      const isReading = button.ariaPressed === "true";
      stop();
      isReading || read(button);
    }
  });
  window.addEventListener("pagehide", stop, { signal });
  signal.addEventListener("abort", stop);
}
