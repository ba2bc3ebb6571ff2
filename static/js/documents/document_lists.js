/**
 * The lists of documents on the page, which htmx draws again while anything in them moves.
 *
 * What becomes of each document is said once, and the focus keeps its place in a list that is drawn again.
 */

import { closest, dataOf, find, focusedIn, query, queryAll } from "../shared/dom.js";
import { isPost } from "../shared/htmx.js";
import { isolateName } from "../shared/names.js";

const LIST = "[data-documents]";
const CONTROL = "[data-action]";
const FAILED = "failed";
const CHANGED = "documents-changed"; // on which htmx asks for each list: see _documents.html

/** Have every list of documents drawn again. */
export function refreshDocuments() {
  document.body.dispatchEvent(new CustomEvent(CHANGED));
}

/**
 * @param {object} options
 * @param {() => boolean} options.isStored whether there is anything to ask for
 * @param {(sentence: string) => void} options.say
 * @param {(name: string, reason: string) => void} options.onFailed told of each document that could not be read
 * @param {AbortSignal} [options.signal] ends it
 */
export function startDocumentLists({ isStored, say, onFailed, signal }) {
  let states = statesNow();
  /** @type {string | null} */
  let place = null;

  document.addEventListener(
    "htmx:beforeRequest",
    (event) => {
      const list = listIn(event);
      if (list && (!isStored() || isBusy(list))) {
        event.preventDefault();
      }
    },
    { signal },
  );
  document.addEventListener(
    "htmx:beforeSwap",
    (event) => {
      const list = listIn(event);
      const focused = list && focusedIn(list);
      place = focused ? placeOf(focused) : null;
    },
    { signal },
  );
  document.addEventListener(
    "htmx:afterSettle",
    (event) => {
      const list = listIn(event);
      if (list) {
        if (place) {
          (query(list, place) ?? query(list, CONTROL) ?? query(list.parentElement ?? list, CONTROL))?.focus();
        }
        const before = states;
        states = statesNow();
        sayChanges(before, states, { say, onFailed });
      }
    },
    { signal },
  );
  document.addEventListener(
    "htmx:afterRequest",
    (event) => {
      if (isPost(event) && closest(event, LIST)) {
        const question = closest(event, "details");
        question?.removeAttribute("open");
        question && find(question, "summary").focus(); // of which the place is known
        refreshDocuments();
      }
    },
    { signal },
  );
  // Another tab may have added or deleted some.
  document.addEventListener("visibilitychange", () => document.hidden || refreshDocuments(), { signal });
  window.addEventListener("focus", refreshDocuments, { signal });
}

/**
 * Return the list that *event*, one of htmx's, is about.
 * @param {Event} event
 */
function listIn({ target }) {
  return target instanceof HTMLElement && target.matches(LIST) ? target : null;
}

/**
 * Whether a question is being answered in it, or it is out of sight.
 * @param {HTMLElement} list
 */
function isBusy(list) {
  return Boolean(list.querySelector("details[open]") || list.closest("dialog:not([open])"));
}

/** Return the data of each document's row, by the document's id. */
function statesNow() {
  return new Map(queryAll(document, `${LIST} [data-document]`).map((row) => [dataOf(row, "document"), row.dataset]));
}

/**
 * @param {Map<string, DOMStringMap>} before
 * @param {Map<string, DOMStringMap>} now
 * @param {object} options
 * @param {(sentence: string) => void} options.say
 * @param {(name: string, reason: string) => void} options.onFailed
 */
function sayChanges(before, now, { say, onFailed }) {
  const changed = [...now].filter(([id, { state }]) => before.get(id)?.state !== state);
  const told = changed.filter(([id]) => before.has(id));
  if (told.length) {
    say(told.map(([, { name = "", status }]) => `${isolateName(name)}: ${status}`).join(". "));
  }
  for (const [, { state, name = "", status = "" }] of changed) {
    if (state === FAILED) {
      onFailed(name, status);
    }
  }
}

/**
 * Return a selector for the same control of the same document, or for the first one where it is about none.
 * @param {HTMLElement} element
 */
function placeOf(element) {
  const row = /** @type {HTMLElement | null} */ (element.closest("[data-document]"));
  const { document: id } = row?.dataset ?? {};
  const { action } = element.dataset;
  return id && action ? `[data-document="${id}"] [data-action="${action}"]` : CONTROL;
}
