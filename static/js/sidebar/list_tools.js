/** What is done with conversations in the list: its keys, the menu of an entry. Fetched once the list has the focus. */

import { fetchStyles } from "../shared/bundles.js";
import { closest, dataOf, focusedIn, query, queryAll } from "../shared/dom.js";
import { htmx } from "../shared/htmx.js";
import { startDragging } from "./dragging.js";
import { drawTabStop, startListKeys } from "./list_keys.js";
import { startPressing } from "./pressing.js";
import { startSelection } from "./selection.js";

export { drawTabStop };

const LINK = "[data-entry]";
const MORE = ".entry-more";
const FOLLOWING = Node.DOCUMENT_POSITION_FOLLOWING;

/** The sidebars whose keys are started. @type {WeakSet<HTMLElement>} */
const started = new WeakSet();

/** @param {HTMLElement} sidebar */
export function startList(sidebar) {
  if (!started.has(sidebar)) {
    started.add(sidebar);
    startListKeys(sidebar);
    startDragging(sidebar);
    startPressing(sidebar);
    startSelection(sidebar);
    sidebar.addEventListener("submit", (event) => search(sidebar, event));
    document.addEventListener("focusin", (event) => noteDialog(sidebar, event));
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
 * Open the menu of an entry beside the button that has asked for it, unless the user has gone on to write meanwhile.
 * @param {HTMLElement} menu
 * @param {HTMLElement} opener
 */
export async function openEntryMenu(menu, opener) {
  await fetchStyles("listToolsStyles").catch(() => undefined); // without them it stands where menus stand
  if (!document.activeElement?.matches("input, textarea")) {
    showEntryMenu(menu, opener);
  }
  return true;
}

/**
 * @param {HTMLElement} menu
 * @param {HTMLElement} opener
 */
function showEntryMenu(menu, opener) {
  openerOf(menu)?.removeAttribute("popovertarget");
  opener.setAttribute("popovertarget", menu.id); // by which menus.js finds it
  menu.hidePopover();
  opener.focus({ preventScroll: true }); // where the focus goes back to
  menu.showPopover();
}

/** @param {HTMLElement} menu */
function openerOf(menu) {
  return query(document, `[popovertarget="${menu.id}"]`);
}

/**
 * @typedef {object} Noted what is used of a list, or a part of it, that is replaced
 * @property {string[]} entries the one that has the focus or the open menu, then those that get the focus if it is gone
 * @property {HTMLElement | null} menu that is open
 * @property {HTMLElement | null} item of it that has the focus
 * @property {number} next which entry gets the focus of a link to more of them
 */

/** @type {Noted | undefined} */
let noted;

/** What the focus goes back to from a modal dialog, if it came from the list. @type {HTMLElement | undefined} */
let returnsTo;

/**
 * @param {HTMLElement} sidebar
 * @param {FocusEvent} event
 */
function noteDialog(sidebar, { target, relatedTarget }) {
  if (!(target instanceof HTMLElement && target.closest("dialog:modal"))) {
    returnsTo = undefined;
  } else if (relatedTarget instanceof HTMLElement && sidebar.contains(relatedTarget)) {
    returnsTo = relatedTarget;
  }
}

/** Give the focus back to the list, where what a dialog was opened from was replaced; return whether that was so. */
export function takeFocus() {
  const link = returnsTo;
  link?.focus({ preventScroll: true });
  return link ? link === document.activeElement : false;
}

/** @param {HTMLElement} sidebar */
export function noteFocus(sidebar) {
  const links = queryAll(sidebar, LINK);
  const menu = query(sidebar, "#entry-menu:popover-open");
  const used = menu ? openerOf(menu) : (focusedIn(sidebar) ?? returnsTo);
  const at = links.findIndex((link) => used?.closest(".entry")?.contains(link));
  const around = at < 0 ? [] : [...links.slice(at), ...links.slice(0, at).reverse()];
  const more = used?.closest(".list-more");
  noted = {
    entries: around.map((link) => dataOf(link, "entry")),
    menu,
    item: menu && focusedIn(menu),
    next: more ? links.filter((link) => link.compareDocumentPosition(more) & FOLLOWING).length : -1,
  };
}

/** @param {HTMLElement} sidebar */
export function focusAgain(sidebar) {
  const { entries = [], menu, item, next = -1 } = noted ?? {};
  noted = undefined;
  const found = entries.map((conversation) => query(sidebar, `[data-entry="${conversation}"]`)).find(Boolean);
  const more = next < 0 ? undefined : queryAll(sidebar, ".list-more a").at(-1); // where a list came without more of it
  const link = found ?? queryAll(sidebar, LINK)[next] ?? more;
  const opener =
    link && dataOf(link, "entry") === entries[0] && query(/** @type {Element} */ (link.parentElement), MORE);
  if (menu && opener) {
    showEntryMenu(menu, opener);
    item?.focus();
  } else {
    menu?.hidePopover();
    returnsTo &&= link;
    link?.focus({ preventScroll: true }); // not while a modal dialog is open
  }
}
