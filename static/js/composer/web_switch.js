/**
 * The switch for the web search in the composer. A conversation that is stored is told at once; of one that has not
 * begun it goes with the first message, by the box that the switch stands for.
 */

import { postForm } from "../server/http.js";
import { query } from "../shared/dom.js";

/**
 * @param {HTMLFormElement} form the composer, in which there may be no switch
 * @param {object} options
 * @param {() => boolean} options.isStored
 * @param {string} options.url
 * @param {Record<string, string>} options.beginning what is sent with the first message
 * @param {() => void} options.onSwitched
 * @param {(error: unknown) => void} options.onRefused
 */
export function startWebSwitch(form, { isStored, url, beginning, onSwitched, onRefused }) {
  const button = query(form, '[data-action="search-web"]');
  const box = query(form, 'input[name="searches_web"]', HTMLInputElement);
  if (box?.checked) {
    beginning.searches_web = "true";
  }
  button?.addEventListener("click", async (event) => {
    event.preventDefault();
    if (button.ariaBusy === "true") {
      return;
    }
    const searchesWeb = button.ariaPressed !== "true";
    button.ariaBusy = "true";
    try {
      if (isStored()) {
        await postForm(url, { searches_web: String(searchesWeb) });
      }
      beginning.searches_web = String(searchesWeb);
      if (box) {
        box.checked = searchesWeb;
      }
      button.ariaPressed = String(searchesWeb);
      onSwitched();
    } catch (error) {
      onRefused(error);
    } finally {
      button.ariaBusy = "false";
    }
  });
}
