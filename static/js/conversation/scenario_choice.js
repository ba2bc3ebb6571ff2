/** The choice of a scenario in the header: taken at once, and the page is loaded again; what was typed is kept. */

import { postForm } from "../server/http.js";

/**
 * @param {HTMLFormElement | null} form there is none where nothing can be chosen
 * @param {object} options
 * @param {() => boolean} options.isStored
 * @param {string} options.url
 * @param {string} options.conversation the address of the conversation
 * @param {AbortSignal} options.signal of the page, which may be left meanwhile
 * @param {(error: unknown) => void} options.onRefused
 */
export function startScenarioChoice(form, { isStored, url, conversation, signal, onRefused }) {
  form?.addEventListener("change", async ({ target }) => {
    if (!isStored()) {
      form.submit();
      return;
    }
    try {
      await postForm(url, { scenario: /** @type {HTMLSelectElement} */ (target).value });
      signal.aborted || location.assign(conversation);
    } catch (error) {
      onRefused(error);
    }
  });
}
