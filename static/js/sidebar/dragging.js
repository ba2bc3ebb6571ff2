/** Conversations are dragged within the list: onto a folder, the starred ones, or a date. The menu of an entry does the same. */

import { closest, dataOf, query } from "../shared/dom.js";
import { htmx } from "../shared/htmx.js";

const TARGETS = '[data-kind^="folder-"], [data-kind="starred"], [data-since]';
const CONVERSATION = /\/c\/([0-9a-f-]{36})\/$/;
const LINK = "text/uri-list";

/** @param {HTMLElement} sidebar */
export function startDragging(sidebar) {
  let isOurs = false; // a link from elsewhere may look the same
  sidebar.addEventListener("dragstart", (event) => {
    isOurs = Boolean(closest(event, "[data-entry]"));
  });
  sidebar.addEventListener("dragend", () => {
    isOurs = false;
    mark(sidebar, null);
  });
  sidebar.addEventListener("dragover", (event) => {
    const target = isOurs ? closest(event, TARGETS) : null;
    mark(sidebar, target);
    target && event.preventDefault(); // by which it may be dropped there
  });
  sidebar.addEventListener("drop", (event) => {
    const target = isOurs ? closest(event, TARGETS) : null;
    const [, conversation] = CONVERSATION.exec(event.dataTransfer?.getData(LINK).trim() ?? "") ?? [];
    if (target && conversation) {
      event.preventDefault();
      drop(sidebar, conversation, target).catch(() => undefined); // failed_requests.js says why
    }
  });
}

/**
 * @param {HTMLElement} sidebar
 * @param {HTMLElement | null} target
 */
function mark(sidebar, target) {
  const marked = query(sidebar, ".is-drop-target");
  if (marked !== target) {
    marked?.classList.remove("is-drop-target");
    target?.classList.add("is-drop-target");
  }
}

/**
 * Put the conversation where it was dropped: one that is under a date is neither starred nor in a folder.
 * @param {HTMLElement} sidebar
 * @param {string} conversation
 * @param {HTMLElement} target
 */
async function drop(sidebar, conversation, target) {
  const kind = dataOf(target, "kind");
  const entry = query(sidebar, `[data-entry="${conversation}"]`);
  const source = entry?.closest(".entry") ?? sidebar;
  const swap = { source, target: "#conversation-list", swap: "outerHTML" };
  const isStarred = source instanceof HTMLElement && dataOf(source, "place") === "starred";
  if (kind === "starred") {
    await htmx()?.ajax("POST", `/c/${conversation}/star/`, { ...swap, values: { starred: "true" } });
    return;
  }
  if (isStarred) {
    await htmx()?.ajax("POST", `/c/${conversation}/star/`, { ...swap, source: sidebar, values: { starred: "false" } });
  }
  const folder = kind.replace("folder-", "");
  await htmx()?.ajax("POST", `/c/${conversation}/move/`, { ...swap, source: sidebar, values: { folder } });
}
