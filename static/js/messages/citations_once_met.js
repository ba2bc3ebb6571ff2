/** The card of a cited passage, fetched when the first number is pointed at, pressed or given the focus. */

import { fetchBundle } from "../shared/bundles.js";
import { closest } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";
import { showProblem } from "../shared/toasts.js";

const EVENTS = ["pointerover", "focusin", "click"];

/**
 * @param {HTMLElement} page
 * @param {HTMLElement} card
 * @param {AbortSignal} signal ends it
 */
export function startCitationsOnceMet(page, card, signal) {
  /** @type {{citation: HTMLElement, type: string} | undefined} what was done last; a press counts more than what follows */
  let met;

  /** @param {Event} event */
  async function meet(event) {
    const citation = closest(event, "[data-citation]");
    const isFirst = !met;
    if (citation && (met?.type !== "click" || event.type === "click")) {
      met = { citation, type: event.type };
    }
    if (!met || !isFirst) {
      return;
    }
    /** @type {typeof import("./citations.js") | undefined} */
    const fetched = await fetchBundle("citations");
    if (fetched && !signal.aborted) {
      for (const name of EVENTS) {
        page.removeEventListener(name, meet);
      }
      fetched.startCitations(page, card, signal, met);
    } else if (met.type === "click" && !signal.aborted) {
      showProblem(sentence("notOpened"));
    }
    met = undefined; // the next one tries again
  }

  for (const name of EVENTS) {
    page.addEventListener(name, meet);
  }
}
