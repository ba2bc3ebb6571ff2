/** What is done with conversations in the list: its keys, the menu of an entry. Fetched once the list has the focus. */

import { fetchStyles } from "../shared/bundles.js";
import { closest, dataOf, focusedIn, query, queryAll } from "../shared/dom.js";
import { htmx } from "../shared/htmx.js";
import { startDragging } from "./dragging.js";
import { drawTabStop, startListKeys } from "./list_keys.js";
import { startSelection } from "./selection.js";

export { drawTabStop };

/** The sidebars whose keys are started. @type {WeakSet<HTMLElement>} */
const started = new WeakSet();

/** @param {HTMLElement} sidebar */
export function startList(sidebar) {
  if (!started.has(sidebar)) {
    started.add(sidebar);
    startListKeys(sidebar);
    startDragging(sidebar);
    startSelection(sidebar);
    sidebar.addEventListener("submit", (event) => search(sidebar, event));
    drawTabStop(sidebar);
  }
}

/**
 * What is typed is searched for already; Enter leads into what was found.
 * @param {HTMLElement} sidebar
 * @param {Event} event
 */
function search(sidebar, event) {
  if (htmx() && closest(event, ".list-search")) {
    event.preventDefault();
    query(sidebar, "[data-entry]")?.focus();
  }
}

/**
 * Open the menu of an entry beside the button that has asked for it.
 * @param {HTMLElement} menu
 * @param {HTMLElement} opener
 */
export async function openEntryMenu(menu, opener) {
  await fetchStyles("listToolsStyles").catch(() => undefined); // without them it stands where menus stand
  query(document, `[popovertarget="${menu.id}"]`)?.removeAttribute("popovertarget");
  opener.setAttribute("popovertarget", menu.id); // by which menus.js finds it
  menu.hidePopover();
  menu.showPopover();
  return true;
}

/** The entry that had the focus when the list was replaced, and those around it. @type {string[]} */
let focused = [];

/**
 * Note which entry has the focus, and those that may have it if that one goes with the list that is replaced.
 * @param {HTMLElement} sidebar
 */
export function noteFocus(sidebar) {
  const entries = queryAll(sidebar, "[data-entry]");
  const at = entries.findIndex((entry) => focusedIn(/** @type {Element} */ (entry.closest(".entry"))));
  const next = at < 0 ? [] : [...entries.slice(at), ...entries.slice(0, at).reverse()];
  focused = next.map((entry) => dataOf(entry, "entry"));
}

/** @param {HTMLElement} sidebar */
export function focusAgain(sidebar) {
  const entries = focused.map((conversation) => query(sidebar, `[data-entry="${conversation}"]`));
  entries.find(Boolean)?.focus({ preventScroll: true });
  focused = [];
}
