/** What was looked up for a reply: fetched once, when somebody wants to see it. */

import { getFragment } from "../server/http.js";

const fetched = new WeakMap();

/**
 * Return the list of passages of the reply in *article*.
 * @param {HTMLElement} article
 * @returns {Promise<HTMLElement>}
 */
export function passagesOf(article) {
  if (!fetched.has(article)) {
    const passages = getFragment(article.dataset.sources, ".passages");
    fetched.set(article, passages);
    passages.catch(() => fetched.delete(article)); // the next who asks tries again
  }
  return fetched.get(article);
}

/**
 * Fill a reply's list when it is opened, and let a question be asked again.
 * @param {{onNarrow: (question: string) => void}} handlers
 */
export function startSources(page, { onNarrow }) {
  page.addEventListener("toggle", ({ target }) => target.matches("[data-sources-list][open]") && fill(target), true);
  page.addEventListener("click", (event) => {
    const question = event.target.closest('[data-action="narrow"]')?.dataset.question;
    if (question && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      onNarrow(question);
    }
  });
}

/** Return what somebody reads in *article*: whether the list is open, and which number or line has the focus. */
export function readingIn(article) {
  const focused = article.querySelector("[data-sources-list] > summary:focus, [data-citation]:focus");
  const citation = focused?.dataset.citation;
  return {
    isListOpen: Boolean(article.querySelector("[data-sources-list][open]")),
    focus: focused && (citation ? `[data-citation="${citation}"]` : "[data-sources-list] > summary"),
  };
}

/** Let it go on in the *article* that has taken the place. */
export function readOn({ isListOpen, focus }, article) {
  article.querySelector("[data-sources-list]")?.toggleAttribute("open", isListOpen);
  if (focus) {
    article.querySelector(focus)?.focus();
  }
}

/** Until it is there, and where it can't be fetched, the link to it stands in its place. */
async function fill(list) {
  const passages = await passagesOf(list.closest("[data-sources]")).catch(() => undefined);
  if (passages) {
    list.querySelector("[data-sources-body]").replaceChildren(passages.cloneNode(true));
  }
}
