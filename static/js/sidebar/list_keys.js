/** The list of conversations by keyboard: one tab stop, arrows from entry to entry and into the actions of each. */

import { closest, query, queryAll } from "../shared/dom.js";

const LINK = "[data-entry]";
const ACTION = ".entry-more";

/** @param {HTMLElement} sidebar */
export function startListKeys(sidebar) {
  sidebar.addEventListener("keydown", (event) => {
    const from = closest(event, `${LINK}, ${ACTION}`);
    const to = from && !event.ctrlKey && !event.metaKey && !event.altKey && target(sidebar, from, event.key);
    if (to) {
      event.preventDefault();
      setTabStop(sidebar, to);
      to.focus();
    }
  });
  sidebar.addEventListener("focusin", (event) => {
    const link = closest(event, LINK);
    if (link) {
      setTabStop(sidebar, link);
    }
  });
}

/**
 * Let one entry be reached by Tab: the one that has the focus, else the one that was reached last, the current one, or
 * the first.
 * @param {HTMLElement} sidebar
 */
export function drawTabStop(sidebar) {
  const wanted = [`${LINK}:focus`, `${LINK}[tabindex="0"]`, `${LINK}[aria-current]`, LINK];
  const stop = wanted.map((selector) => query(sidebar, selector)).find(Boolean);
  if (stop) {
    setTabStop(sidebar, stop);
  }
}

/**
 * @param {HTMLElement} sidebar
 * @param {HTMLElement} stop an entry or an action of one
 */
function setTabStop(sidebar, stop) {
  const entry = stop.closest(".entry");
  for (const each of queryAll(sidebar, `${LINK}, ${ACTION}`)) {
    const tabIndex = each.closest(".entry") === entry && each.matches(LINK) ? 0 : -1;
    if (each.tabIndex !== tabIndex) {
      each.tabIndex = tabIndex; // of what has the focus, setting it computes the style of the page
    }
  }
}

/**
 * @param {HTMLElement} sidebar
 * @param {HTMLElement} from
 * @param {string} key
 * @returns {HTMLElement | null | undefined} what gets the focus
 */
function target(sidebar, from, key) {
  const entry = /** @type {HTMLElement} */ (from.closest(".entry"));
  const links = queryAll(sidebar, LINK);
  const link = /** @type {HTMLElement} */ (query(entry, LINK));
  const inEntry = [link, ...queryAll(entry, ACTION).filter((each) => each.checkVisibility())];
  const at = inEntry.indexOf(from);
  switch (key) {
    case "ArrowDown":
      return links[links.indexOf(link) + 1];
    case "ArrowUp":
      return links[links.indexOf(link) - 1];
    case "Home":
      return links[0];
    case "End":
      return links.at(-1);
    case "ArrowRight":
      return inEntry[at + 1];
    case "ArrowLeft":
      return inEntry[at - 1];
    case "Escape":
      return at > 0 ? link : null;
    default:
      return null;
  }
}
