/** The button of dictation: shown where the browser can do it; what it does is fetched when it is first pressed. */

import { fetchBundle } from "../shared/bundles.js";
import { find } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";

/**
 * @param {HTMLFormElement} form
 * @param {Omit<Parameters<typeof import("./dictation.js").startDictation>[1], "Recognition">} options
 */
export function showDictationButton(form, options) {
  const { SpeechRecognition, webkitSpeechRecognition: Recognition = SpeechRecognition } =
    /** @type {Record<string, any>} */ (/** @type {unknown} */ (window));
  const button = find(form, '[data-action="dictate"]');
  button.hidden = !Recognition;
  button.addEventListener("click", start, { once: true });

  async function start() {
    /** @type {typeof import("./dictation.js") | undefined} */
    const fetched = await fetchBundle("dictation");
    if (!fetched) {
      options.say(sentence("dictationFailed"));
      button.addEventListener("click", start, { once: true }); // the next press tries again
    } else if (!options.signal.aborted) {
      fetched.startDictation(form, { ...options, Recognition });
    }
  }
}
