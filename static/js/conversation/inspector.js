/** "What the model saw": the panel at the side, filled by htmx when a link to a window is followed. */

import { openWhenFilled } from "../shared/dialogs.js";
import { closest } from "../shared/dom.js";

/** @param {HTMLDialogElement} dialog */
export function startInspector(dialog) {
  openWhenFilled(dialog);
  dialog.addEventListener("click", (event) => goToMessage(event, dialog));
}

/**
 * A row of the window leads to its message, if that is on the page; otherwise the link is followed.
 * @param {Event} event
 * @param {HTMLDialogElement} dialog
 */
function goToMessage(event, dialog) {
  const link = closest(event, "[data-go-to]");
  const message = link && document.getElementById(`message-${link.dataset.goTo}`);
  if (message) {
    event.preventDefault();
    dialog.close();
    message.focus();
    message.scrollIntoView({ block: "center" });
  }
}
