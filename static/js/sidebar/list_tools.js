/** What is done with conversations in the list: the menu of an entry. Fetched when it is first asked for. */

import { fetchStyles } from "../shared/bundles.js";
import { query } from "../shared/dom.js";

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
}
