/** Where an entry of the list stands: on top in the group of its kind, or in the one of its date. */

import { dataOf, find, focusedIn, query, queryAll } from "../shared/dom.js";

/**
 * Move *item* to where one of that *kind* stands; what has the focus in it keeps it.
 * @param {HTMLElement} list
 * @param {HTMLElement} item
 * @param {string} kind `awaiting`, `writing` or `starred`; blank is none of them
 */
export function moveEntry(list, item, kind) {
  const group = /** @type {HTMLElement} */ (item.closest(".list-group"));
  if (dataOf(group, "kind") === kind) {
    return;
  }
  const focused = focusedIn(item);
  const target = kind && query(list, `[data-kind="${kind}"] .entries`);
  if (target) {
    /writing|awaiting/.test(kind) ? target.append(item) : target.prepend(item); // it has just been active
  } else if (dataOf(group, "kind")) {
    placeByDate(list, item);
  }
  item.closest(".list-group")?.removeAttribute("hidden"); // what is not shown can't have the focus
  focused?.focus({ preventScroll: true });
}

/** @param {HTMLElement} list */
export function hideEmptyGroups(list) {
  for (const group of queryAll(list, "div.list-group")) {
    group.hidden = !query(group, ".entry");
  }
}

/**
 * Put *item* before the first that is older, in the span of time that it belongs to. One that belongs to a page of the
 * list which has not come goes, and comes with that page.
 * @param {HTMLElement} list
 * @param {HTMLElement} item
 */
function placeByDate(list, item) {
  const active = timeOf(item, "active");
  const more = query(list, "[data-before]");
  const groups = queryAll(list, "[data-since]");
  const first = groups.find((group) => timeOf(group, "since") <= active);
  const span = groups.filter((group) => group.dataset.since === first?.dataset.since);
  const older = span.flatMap((group) => queryAll(group, ".entry")).find((each) => timeOf(each, "active") < active);
  const last = span.at(-1);
  if (older) {
    older.before(item);
  } else if (last && !(more && active < timeOf(more, "before"))) {
    find(last, ".entries").append(item);
  } else {
    item.remove();
  }
}

/**
 * @param {HTMLElement} element
 * @param {string} name of the moment in its `dataset`
 */
function timeOf(element, name) {
  return Date.parse(dataOf(element, name));
}
