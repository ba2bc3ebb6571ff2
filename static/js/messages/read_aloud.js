/** Read a reply aloud, by a voice of the browser's own; where it has none the button is not shown. */

import { fetchBundle } from "../shared/bundles.js";
import { closest, query } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";

/**
 * @param {HTMLElement} page
 * @param {object} options
 * @param {(error: Error) => void} options.onRefused
 * @param {AbortSignal} options.signal ends it
 */
export function startReadingAloud(page, { onRefused, signal }) {
  const speech = window.speechSynthesis;
  if (!speech) {
    return;
  }
  const showButtons = () => document.documentElement.toggleAttribute("data-speaks", speech.getVoices().length > 0);
  showButtons();
  speech.addEventListener?.("voiceschanged", showButtons, { signal });

  function stop() {
    speech.cancel();
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
  async function read(button) {
    button.ariaPressed = "true";
    /** @type {typeof import("./spoken_text.js") | undefined} */
    const fetched = await fetchBundle("spokenText");
    if (!fetched) {
      fail();
      return;
    }
    if (button.ariaPressed !== "true") {
      return; // pressed again meanwhile
    }
    fetched.speak(/** @type {HTMLElement} */ (button.closest("[data-message]")), { onEnd: stop, onFail: fail });
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
