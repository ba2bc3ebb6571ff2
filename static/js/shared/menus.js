/** Menus that a button opens: placed beside it, walked through by arrow keys and first letters, closed by a choice. */

import { closest, focusedIn, query, queryAll } from "./dom.js";

const GAP = 4;
const MARGIN = 8;
const STEPS = new Map([
  ["ArrowDown", 1],
  ["ArrowUp", -1],
]);

/** @param {HTMLElement} root holds popovers with `data-menu`; a button names its menu by `popovertarget` */
export function startMenus(root) {
  root.addEventListener("beforetoggle", (event) => prepare(event), { capture: true });
  root.addEventListener("toggle", (event) => opened(event), { capture: true });
  root.addEventListener("keydown", (event) => move(event));
  root.addEventListener("click", (event) => closeAfter(event));
  root.addEventListener("scroll", ({ target }) => follow(target), { capture: true, passive: true });
}

/**
 * A menu is placed once it is known how large it is; until then it is not to be seen in a corner.
 * @param {Event} event
 */
function prepare({ target }) {
  if (target instanceof HTMLElement && target.matches("[data-menu]")) {
    target.style.setProperty("--menu-opacity", "0");
  }
}

/** @param {Event} event */
function opened({ target }) {
  if (!(target instanceof HTMLElement) || !target.matches("[data-menu]:popover-open")) {
    return;
  }
  const opener = openerOf(target);
  if (opener) {
    placeBeside(target, opener.getBoundingClientRect());
  }
  target.style.removeProperty("--menu-opacity");
  if (!focusedIn(target)) {
    itemsOf(target)[0]?.focus();
  }
}

/**
 * Stay beside the button while the page scrolls, as it does for a reply that streams; without it there is no menu.
 * @param {EventTarget | null} scrolled
 */
function follow(scrolled) {
  const menu = query(document, "[data-menu]:popover-open");
  if (!menu || scrolled === menu) {
    return;
  }
  const at = openerOf(menu)?.getBoundingClientRect();
  if (!at || at.bottom < 0 || at.top > innerHeight) {
    menu.hidePopover();
  } else {
    placeBeside(menu, at);
  }
}

/** @param {HTMLElement} menu */
function openerOf(menu) {
  return query(document, `[popovertarget="${menu.id}"]`);
}

/**
 * Below the button, or above it where there is more room; from its beginning on, as far as the page is wide.
 * @param {HTMLElement} menu
 * @param {DOMRect} at
 */
export function placeBeside(menu, at) {
  const isRightToLeft = getComputedStyle(menu).direction === "rtl";
  const [above, below] = [at.top - GAP - MARGIN, innerHeight - at.bottom - GAP - MARGIN];
  const isBelow = menu.offsetHeight <= below || below >= above;
  const left = isRightToLeft ? at.right - menu.offsetWidth : at.left;
  menu.style.setProperty("--menu-top", `${isBelow ? at.bottom + GAP : at.top - GAP - menu.offsetHeight}px`);
  menu.style.setProperty(
    "--menu-left",
    `${Math.max(MARGIN, Math.min(left, innerWidth - menu.offsetWidth - MARGIN))}px`,
  );
}

/** @param {KeyboardEvent} event */
function move(event) {
  const menu = closest(event, "[data-menu]");
  const items = menu ? itemsOf(menu) : [];
  if (!items.length || event.altKey || event.ctrlKey || event.metaKey) {
    return;
  }
  const at = items.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const next = itemFor(event.key, items, at);
  if (next) {
    event.preventDefault();
    event.stopPropagation(); // a letter that stands for an item is no key of the message
    next.focus();
  } else if (event.key === "Tab") {
    menu?.hidePopover();
  }
}

/**
 * @param {string} key
 * @param {HTMLElement[]} items
 * @param {number} at
 */
function itemFor(key, items, at) {
  const step = STEPS.get(key);
  if (step) {
    return items[(at + step + items.length) % items.length];
  }
  if (key === "Home" || key === "End") {
    return items.at(key === "Home" ? 0 : -1);
  }
  const letter = key.toLocaleLowerCase();
  const after = [...items.slice(at + 1), ...items.slice(0, at + 1)];
  return key.length === 1 && key !== " "
    ? after.find((item) => item.textContent?.trim().toLocaleLowerCase().startsWith(letter))
    : undefined;
}

/** @param {Event} event */
function closeAfter(event) {
  const menu = closest(event, '[role^="menuitem"]')?.closest("[data-menu]");
  if (menu instanceof HTMLElement && menu.matches(":popover-open")) {
    menu.hidePopover();
  }
}

/**
 * Return the items that are shown.
 * @param {HTMLElement} menu
 */
function itemsOf(menu) {
  return queryAll(menu, '[role^="menuitem"]').filter((item) => item.offsetParent !== null || item.offsetHeight > 0);
}
