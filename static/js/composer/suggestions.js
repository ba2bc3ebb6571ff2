/** Suggested questions for an empty conversation: pressed, they stand in the composer, and nothing is sent yet. */

import { closest } from "../shared/dom.js";

/**
 * @param {HTMLElement} page
 * @param {{onChosen: (question: string) => void}} options
 */
export function startSuggestions(page, { onChosen }) {
  page.addEventListener("click", (event) => {
    const button = closest(event, '[data-action="suggest"]');
    if (button) {
      onChosen((button.textContent ?? "").trim());
    }
  });
}
