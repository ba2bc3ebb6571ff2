/** Dialogs whose content comes from the server: htmx fills them, and once it knows their forms they open. */

import { closest } from "./dom.js";

/** @param {HTMLDialogElement} dialog */
export function openWhenFilled(dialog) {
  dialog.addEventListener("htmx:afterSettle", () => {
    if (!dialog.open) {
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
