/** The choice of a scenario in the header: taken at once, and the page is drawn anew; what was typed is kept. */

import { postForm } from "../server/http.js";

/**
 * @param {HTMLFormElement | null} form there is none where nothing can be chosen
 * @param {{isStored: () => boolean, url: string, conversation: string, onRefused: (error: Error) => void}} options
 */
export function startScenarioChoice(form, { isStored, url, conversation, onRefused }) {
  form?.addEventListener("change", async ({ target }) => {
    if (!isStored()) {
      form.submit();
      return;
    }
    try {
      await postForm(url, { scenario: target.value });
      location.assign(conversation);
    } catch (error) {
      onRefused(error);
    }
  });
}
