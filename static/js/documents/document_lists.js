/**
 * The lists of documents on the page, which htmx draws anew while anything in them moves.
 *
 * What becomes of each document is said once, and nobody loses their place in a list because it is drawn anew.
 */

const LIST = "[data-documents]";
const CHANGED = "documents-changed"; // on which htmx asks for each list: see _documents.html

/** Let every list of documents be drawn anew. */
export function refreshDocuments() {
  document.body.dispatchEvent(new CustomEvent(CHANGED));
}

/** @param {{isStored: () => boolean, say: (sentence: string) => void}} options whether there is anything to ask for */
export function startDocumentLists({ isStored, say }) {
  let states = statesOn(document);
  let place = null;

  document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.target.matches(LIST) && (!isStored() || isBusy(event.target))) {
      event.preventDefault();
    }
  });
  document.addEventListener("htmx:beforeSwap", ({ target }) => {
    place = target.matches(LIST) && target.contains(document.activeElement) ? placeOf(document.activeElement) : null;
  });
  document.addEventListener("htmx:afterSettle", ({ target }) => {
    if (target.matches(LIST)) {
      place && target.querySelector(place)?.focus();
      const before = states;
      states = statesOn(document);
      sayWhatChanged(before, states, say);
    }
  });
  document.addEventListener("htmx:afterRequest", ({ target, detail }) => {
    if (detail.requestConfig.verb === "post" && target.closest(LIST)) {
      target.closest("details")?.removeAttribute("open");
      refreshDocuments();
    }
  });
  // Another tab may have added or deleted some.
  document.addEventListener("visibilitychange", () => document.hidden || refreshDocuments());
  window.addEventListener("focus", refreshDocuments);
}

/** Whether a question is being answered in it, or nobody sees it. */
function isBusy(list) {
  return Boolean(list.querySelector("details[open]") || list.closest("dialog:not([open])"));
}

function statesOn(root) {
  const rows = [...root.querySelectorAll(`${LIST} [data-document]`)];
  return new Map(rows.map(({ dataset }) => [dataset.document, dataset]));
}

function sayWhatChanged(before, now, say) {
  const changed = [...now].filter(([id, { state }]) => before.has(id) && before.get(id).state !== state);
  if (changed.length) {
    say(changed.map(([, { words }]) => words).join(". "));
  }
}

/** Return a selector for the same control of the same document. */
function placeOf(element) {
  const { document: id } = element.closest("[data-document]")?.dataset ?? {};
  const { action } = element.dataset;
  return id && action ? `[data-document="${id}"] [data-action="${action}"]` : null;
}
