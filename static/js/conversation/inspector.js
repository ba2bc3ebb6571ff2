/** "What the model saw": the panel at the side, filled by htmx when a link to a window is followed. */

import { fetchStyles } from "../shared/bundles.js";
import { openWhenFilled } from "../shared/dialogs.js";
import { closest, dataOf, query } from "../shared/dom.js";

const WIDE = "(min-width: 68.75rem)"; // as in static/css/window.css

/**
 * Where there is room it stands beside the thread, which goes on. What would be sent now does not: it would be true only
 * until the next letter.
 * @param {HTMLDialogElement} dialog
 * @param {object} thread
 * @param {import("../messages/thread_range.js").ThreadRange} thread.range
 * @param {string} thread.url of its pieces
 */
export function startInspector(dialog, { range, url }) {
  const isBeside = () => matchMedia(WIDE).matches && !query(dialog, "[data-preview]");
  openWhenFilled(dialog, { prepare: () => fetchStyles("windowStyles"), isBeside });
  // A browser closes by it only what is modal.
  dialog.addEventListener("keydown", ({ key }) => key === "Escape" && dialog.close());
  dialog.addEventListener("click", (event) => {
    const link = closest(event, "[data-go-to]", HTMLAnchorElement);
    const message = document.getElementById(`message-${link?.dataset.goTo}`);
    if (link && (message || link.pathname === url)) {
      event.preventDefault();
      isBeside() || dialog.close();
      range.goTo({ message: dataOf(link, "goTo") }, { focus: true });
    }
  });
}
