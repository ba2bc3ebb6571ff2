/** The passages that were looked up for a reply: fetched once, when they are opened or pointed at. */

import { getFragment } from "../server/http.js";
import { closest, dataOf, find, isPlainPress, query } from "../shared/dom.js";

/** @typedef {{isListOpen: boolean, focus: string | null}} SourcesState whether the list is open; what has the focus */

/** @type {WeakMap<HTMLElement, Promise<HTMLElement>>} */
const fetched = new WeakMap();

/**
 * Return the list of passages of the reply in *article*.
 * @param {HTMLElement} article
 * @returns {Promise<HTMLElement>}
 */
export function passagesOf(article) {
  const known = fetched.get(article);
  if (known) {
    return known;
  }
  const passages = getFragment(dataOf(article, "sources"), ".passages");
  fetched.set(article, passages);
  passages.catch(() => fetched.delete(article)); // asked once more, it tries once more
  return passages;
}

/**
 * Fill a reply's list when it is opened, and let a question be asked again.
 * @param {HTMLElement} page
 * @param {{onNarrow: (question: string) => void}} handlers
 */
export function startSources(page, { onNarrow }) {
  const fillIfOpened = (/** @type {Event} */ { target }) => {
    if (target instanceof HTMLElement && target.matches("[data-sources-list][open]")) {
      fill(target);
    }
  };
  page.addEventListener("toggle", fillIfOpened, true); // it does not bubble
  page.addEventListener("click", (event) => {
    const question = closest(event, '[data-action="narrow"]')?.dataset.question;
    if (question && isPlainPress(event)) {
      event.preventDefault();
      onNarrow(question);
    }
  });
}

/**
 * Return what is being read in *article*: whether the list is open, and which number or line has the focus.
 * @param {HTMLElement} article
 * @returns {SourcesState}
 */
export function rememberSources(article) {
  const focused = query(article, "[data-sources-list] > summary:focus, [data-citation]:focus");
  const citation = focused?.dataset.citation;
  return {
    isListOpen: Boolean(query(article, "[data-sources-list][open]")),
    focus: focused && (citation ? `[data-citation="${citation}"]` : "[data-sources-list] > summary"),
  };
}

/**
 * Restore what `rememberSources` returned in the *article* that has taken the place.
 * @param {SourcesState} state
 * @param {HTMLElement} article
 */
export function restoreSources({ isListOpen, focus }, article) {
  query(article, "[data-sources-list]")?.toggleAttribute("open", isListOpen);
  if (focus) {
    query(article, focus)?.focus();
  }
}

/**
 * Fill *list*. Until the passages are there, and where they can't be fetched, a link stands in their place.
 * @param {HTMLElement} list
 */
async function fill(list) {
  const article = /** @type {HTMLElement} */ (list.closest("[data-sources]"));
  const passages = await passagesOf(article).catch(() => undefined);
  if (passages) {
    find(list, "[data-sources-body]").replaceChildren(passages.cloneNode(true));
  }
}
