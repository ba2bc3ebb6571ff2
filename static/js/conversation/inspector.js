/** "What the model saw": the panel at the side, filled by htmx when a link to a window is followed. */

import { fetchStyles } from "../shared/bundles.js";
import { openWhenFilled } from "../shared/dialogs.js";
import { closest, dataOf } from "../shared/dom.js";

/**
 * @param {HTMLDialogElement} dialog
 * @param {object} thread
 * @param {import("../messages/thread_range.js").ThreadRange} thread.range
 * @param {string} thread.url of its pieces
 */
export function startInspector(dialog, { range, url }) {
  openWhenFilled(dialog, { prepare: () => fetchStyles("windowStyles") });
  dialog.addEventListener("click", (event) => {
    const link = closest(event, "[data-go-to]", HTMLAnchorElement);
    const message = document.getElementById(`message-${link?.dataset.goTo}`);
    if (link && (message || link.pathname === url)) {
      event.preventDefault();
      dialog.close();
      range.goTo({ message: dataOf(link, "goTo") }, { focus: true });
    }
  });
}
