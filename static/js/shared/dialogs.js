/** Dialogs whose content comes from the server: htmx fills them, and once it knows their forms they open. */

import { closest, find } from "./dom.js";
import { sentence } from "./sentences.js";
import { showProblem } from "./toasts.js";

/**
 * A part of its content that is replaced neither opens it again nor moves it.
 * @param {HTMLDialogElement} dialog
 * @param {object} [options]
 * @param {() => Promise<unknown>} [options.prepare] what has to be there before it opens; without it, it stays closed
 * @param {() => boolean} [options.isBeside] whether the page beside it can still be used
 */
export function openWhenFilled(dialog, { prepare, isBeside } = {}) {
  const body = find(dialog, "[data-dialog-body]");
  dialog.addEventListener("htmx:afterSettle", async (event) => {
    const { detail } = /** @type {CustomEvent<{target: Element}>} */ (event);
    if (detail.target !== body) {
      return;
    }
    try {
      await prepare?.();
    } catch {
      showProblem(sentence("notOpened"));
      return;
    }
    if (isBeside?.()) {
      dialog.show();
    } else if (!dialog.matches(":modal") && dialog.isConnected) {
      dialog.close();
      dialog.showModal();
    }
    dialog.scrollTop = 0;
  });
  closeByItself(dialog);
}

/**
 * Close it at a click beside it, or on what says that it closes.
 * @param {HTMLDialogElement} dialog
 */
export function closeByItself(dialog) {
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog || closest(event, "[data-close]")) {
      event.preventDefault();
      dialog.close();
    }
  });
}
