/** The choice of a scenario in the header: taken at once, and the conversation is loaded again; what was typed is kept. */

import { postForm } from "../server/http.js";

/**
 * @param {HTMLFormElement | null} form there is none where nothing can be chosen
 * @param {object} options
 * @param {() => boolean} options.isStored
 * @param {string} options.url
 * @param {() => void} options.onChosen
 * @param {AbortSignal} options.signal of the page, which may be left meanwhile
 * @param {(error: unknown) => void} options.onRefused
 */
export function startScenarioChoice(form, { isStored, url, onChosen, signal, onRefused }) {
  form?.addEventListener("change", async ({ target }) => {
    if (!isStored()) {
      form.submit();
      return;
    }
    try {
      await postForm(url, { scenario: /** @type {HTMLSelectElement} */ (target).value });
      signal.aborted || onChosen();
    } catch (error) {
      onRefused(error);
    }
  });
}
