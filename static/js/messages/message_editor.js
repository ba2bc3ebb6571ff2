/** Edit: a link to a page of its own without JavaScript. With it the message is edited where it stands. */

import { Composer } from "../composer/composer.js";
import { Draft } from "../composer/draft.js";
import { getJson } from "../server/http.js";

/**
 * @param {HTMLElement} page
 * @param {object} options
 * @param {HTMLTemplateElement} options.template the form
 * @param {import("../server/connection.js").Connection} options.connection
 * @param {(answer: {cleaned: boolean}) => void} options.onSent
 * @param {(error: Error) => void} options.onRefused told why a message can't be edited at all
 */
export function startEditing(page, { template, connection, onSent, onRefused }) {
  async function open(article, url) {
    try {
      const { content } = await getJson(url);
      editorIn(article) ?? show(article, url, content);
    } catch (error) {
      onRefused(error);
    }
  }

  function show(article, url, content) {
    const form = document.importNode(template.content, true).querySelector("form");
    const field = form.elements.content;
    const draft = new Draft(`edit-${article.dataset.message}`, { isStored: true });
    const send = async (typed, { clientId }) => {
      const answer = await connection.edit(Number(article.dataset.message), typed, clientId, url);
      draft.clear();
      close(form, typed);
      onSent(answer);
    };
    form.action = url;
    field.value = draft.content || content;
    article.classList.add("is-edited");
    article.append(form);
    new Composer(form, { draft, send, onChange: () => undefined });
    letCancel(form, draft);
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  }

  page.addEventListener("click", (event) => {
    const link = event.target.closest('[data-action="edit"]');
    const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey;
    if (link && isPlain) {
      event.preventDefault();
      open(link.closest("[data-message]"), link.href);
    }
  });
}

function letCancel(form, draft) {
  function cancel(event) {
    event.preventDefault();
    draft.clear();
    close(form);
  }

  form.querySelector('[data-action="cancel-edit"]').addEventListener("click", cancel);
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.isComposing) {
      cancel(event);
    }
  });
}

/** Show the message again; one that was sent shows what was *typed* until the server's own comes. */
function close(form, typed) {
  const article = form.closest("[data-message]");
  form.remove();
  if (!article) {
    return; // another page's version has taken its place
  }
  if (typed !== undefined) {
    article.querySelector("[data-content]").innerText = typed;
  }
  article.classList.remove("is-edited");
  article.focus();
}

function editorIn(article) {
  return article.querySelector(".editor");
}
