/**
 * The lists of documents on the page, which htmx draws anew while anything in them moves.
 *
 * What became of each document is said once, and nobody loses their place in a list because it is drawn anew.
 */

import { refreshDocuments } from "./documents.js";

const LIST = "[data-documents]";

/** @param {(sentence: string) => void} say */
export function startDocumentLists(say) {
  let states = statesOn(document);
  let focused = null;

  document.addEventListener("htmx:beforeRequest", (event) => {
    const list = event.target;
    if (list.matches(LIST) && list.querySelector("details[open]")) {
      event.preventDefault(); // a question is being answered in it
    }
  });
  document.addEventListener("htmx:beforeSwap", ({ target }) => {
    focused = target.matches(LIST) && target.contains(document.activeElement) ? placeOf(document.activeElement) : null;
  });
  document.addEventListener("htmx:afterSettle", ({ target, detail }) => {
    if (!target.matches(LIST)) {
      return;
    }
    if (detail.requestConfig.verb === "post") {
      refreshDocuments(); // the other lists
    }
    focused && target.querySelector(focused)?.focus();
    const before = states;
    states = statesOn(document);
    for (const [id, { state, words }] of states) {
      if (before.has(id) && before.get(id).state !== state) {
        say(words);
      }
    }
  });
  // Another tab may have added or deleted some.
  document.addEventListener("visibilitychange", () => document.hidden || refreshDocuments());
  window.addEventListener("focus", refreshDocuments);
}

function statesOn(root) {
  const rows = [...root.querySelectorAll("[data-document]")];
  return new Map(rows.map(({ dataset }) => [dataset.document, { state: dataset.state, words: dataset.words }]));
}

/** Return a selector for the same control of the same document. */
function placeOf(element) {
  const { document: id } = element.closest("[data-document]")?.dataset ?? {};
  const { action } = element.dataset;
  return id && action ? `[data-document="${id}"] [data-action="${action}"]` : null;
}
