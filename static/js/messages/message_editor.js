/** Edit: a link to a page of its own without JavaScript. With it the message is edited where it stands. */

import { Composer } from "../composer/composer.js";
import { Draft } from "../composer/draft.js";
import { getJson } from "../server/http.js";
import { closest, fieldOf, find, isPlainPress, query } from "../shared/dom.js";

/** @import { Attempt } from "../composer/draft.js" */

/**
 * @param {HTMLElement} page
 * @param {object} options
 * @param {HTMLTemplateElement} options.template the form
 * @param {import("../server/connection.js").Connection} options.connection
 * @param {(answer: {cleaned: boolean}) => void} options.onSent
 * @param {(error: unknown) => void} options.onRefused told why a message can't be edited at all
 */
export function startEditing(page, { template, connection, onSent, onRefused }) {
  /**
   * @param {HTMLElement} article
   * @param {string} url
   */
  async function open(article, url) {
    try {
      const { content } = await getJson(url);
      editorIn(article) ?? show(article, url, content);
    } catch (error) {
      onRefused(error);
    }
  }

  /**
   * @param {HTMLElement} article
   * @param {string} url
   * @param {string} content
   */
  function show(article, url, content) {
    const form = find(document.importNode(template.content, true), "form", HTMLFormElement);
    const writing = document.activeElement;
    const goBack = () => (writing instanceof HTMLTextAreaElement ? writing.focus() : article.focus());
    const field = fieldOf(form, "content", HTMLTextAreaElement);
    const draft = new Draft(`edit-${article.dataset.message}`, { isStored: true });
    /**
     * @param {string} typed
     * @param {Attempt} attempt
     */
    const send = async (typed, { clientId }) => {
      const answer = await connection.edit(Number(article.dataset.message), typed, clientId, url);
      draft.clear();
      close(form, goBack, typed);
      onSent(answer);
    };
    form.action = url;
    field.value = draft.content || content;
    article.classList.add("is-edited");
    article.append(form);
    new Composer(form, { draft, send, onChange: () => undefined });
    startCancelling(form, draft, goBack);
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  }

  page.addEventListener("click", (event) => {
    const link = closest(event, '[data-action="edit"]', HTMLAnchorElement);
    const article = link && /** @type {HTMLElement | null} */ (link.closest("[data-message]"));
    if (article && isPlainPress(event)) {
      event.preventDefault();
      open(article, link.href);
    }
  });
}

/**
 * @param {HTMLFormElement} form
 * @param {Draft} draft
 * @param {() => void} goBack
 */
function startCancelling(form, draft, goBack) {
  /** @param {Event} event */
  function cancel(event) {
    event.preventDefault();
    draft.clear();
    close(form, goBack);
  }

  find(form, '[data-action="cancel-edit"]').addEventListener("click", cancel);
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.isComposing) {
      cancel(event);
    }
  });
}

/**
 * Show the message again; one that was sent shows what was *typed* until the server's own comes.
 * @param {HTMLFormElement} form
 * @param {() => void} goBack gives the focus back to where one wrote, or to the message; not called where one has gone on
 *   elsewhere while the version was on its way
 * @param {string} [typed]
 */
function close(form, goBack, typed) {
  const article = /** @type {HTMLElement | null} */ (form.closest("[data-message]"));
  form.remove();
  if (!article) {
    return; // another page's version has taken its place
  }
  if (typed !== undefined) {
    find(article, "[data-content]").innerText = typed;
  }
  article.classList.remove("is-edited");
  if (document.activeElement === document.body) {
    goBack();
  }
}

/** @param {HTMLElement} article */
function editorIn(article) {
  return query(article, ".editor");
}
