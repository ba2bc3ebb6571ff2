/** Says why a request of htmx has failed, for which nothing else on the page would have words. What was typed stays. */

import { closest, query } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";
import { clearProblems, showProblem } from "../shared/toasts.js";

/**
 * @import { SentenceName } from "../shared/sentences.js"
 *
 * @typedef {object} FailedRequest as htmx tells of it
 * @property {XMLHttpRequest} xhr
 * @property {Element | null} target
 * @property {{verb: string, path: string, elt: Element}} requestConfig *elt* has asked
 */

const TIMEOUT = "htmx:timeout";
const FAILURES = ["htmx:sendError", TIMEOUT, "htmx:responseError"];
const ASKING_BY_THEMSELVES = "[data-documents], [data-list], [data-ordered]"; // they ask again soon: no one waits for it
const ABOUT_CONVERSATION = /^\/c\/([0-9a-f-]{36})\/(actions|move|star|archive|rename|notes|delete|restore)\/$/;
const NO_ANSWER = 0;
const FORBIDDEN = 403;
const NOT_FOUND = 404;
const SERVER_FAULT = 500;

/**
 * @param {object} options
 * @param {(element: Element) => void} options.onFailed told what has asked
 * @param {(conversation: string) => void} options.onGone told of a conversation that turns out to be deleted
 */
export function startFailedRequests({ onFailed, onGone }) {
  for (const name of FAILURES) {
    document.addEventListener(name, (event) => {
      const { detail } = /** @type {CustomEvent<FailedRequest>} */ (event);
      const { status } = detail.xhr;
      const { elt: element, path } = detail.requestConfig;
      const [, conversation] = ABOUT_CONVERSATION.exec(path) ?? [];
      if (status === NOT_FOUND && conversation) {
        onGone(conversation);
      }
      if (!isAskedByItself(event)) {
        say(event, status === NOT_FOUND && conversation ? sentence("conversationGone") : wordsFor(detail, name));
        onFailed(element);
      }
    });
  }
  document.addEventListener("htmx:beforeRequest", (event) => isAskedByItself(event) || removeProblem(event));
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event instanceof CustomEvent && event.detail.successful && !isAskedByItself(event)) {
      clearProblems();
    }
  });
}

/**
 * Whether *event* is about a request of a list that is kept up to date. Its target is another one once the list has been
 * replaced.
 * @param {Event} event
 */
function isAskedByItself(event) {
  const { detail } = /** @type {CustomEvent<FailedRequest>} */ (event);
  return detail.requestConfig.elt.matches(ASKING_BY_THEMSELVES);
}

/**
 * Choose the words: the server's own where its answer has some.
 * @param {FailedRequest} request
 * @param {string} failure
 * @returns {string}
 */
function wordsFor({ xhr, target, requestConfig }, failure) {
  const isReading = requestConfig.verb === "get" || Boolean(target?.closest("#inspector"));
  switch (xhr.status) {
    case NO_ANSWER:
      return sentence(isReading ? "notOpened" : failure === TIMEOUT ? "perhapsNotDone" : "notDone");
    case NOT_FOUND:
      return sentence("gone");
    default:
      return (
        alertOf(xhr.responseText) || sentence(xhr.status === FORBIDDEN ? "sessionChanged" : sentenceNameFor(xhr.status))
      );
  }
}

/**
 * @param {number} status
 * @returns {SentenceName}
 */
function sentenceNameFor(status) {
  return status >= SERVER_FAULT ? "serverFailed" : "serverRefused";
}

/**
 * Return what a page says in its alert, if it has one.
 * @param {string} page
 */
function alertOf(page) {
  return new DOMParser().parseFromString(page, "text/html").querySelector('[role="alert"]')?.textContent?.trim() ?? "";
}

/**
 * Say it where one looks: at the end of the form in an open dialog, over which nothing else is seen, or in a note.
 * @param {Event} event
 * @param {string} words
 */
function say(event, words) {
  const dialog = closest(event, "dialog[open]");
  if (!dialog) {
    showProblem(words);
    return;
  }
  removeProblem(event);
  const problem = document.createElement("p");
  problem.className = "field-error";
  problem.dataset.requestProblem = "";
  problem.setAttribute("role", "alert");
  const form = closest(event, "form");
  const actions = form && query(form, ".card-actions");
  if (actions) {
    actions.before(problem);
  } else if (form) {
    form.append(problem);
  } else {
    (query(dialog, "[data-dialog-body]") ?? dialog).prepend(problem);
  }
  problem.textContent = words; // once the region is there, so that it is read out
  problem.scrollIntoView({ block: "nearest" });
}

/** @param {Event} event about a request from a dialog: what was said there of the one before it is over */
function removeProblem(event) {
  const dialog = closest(event, "dialog[open]");
  dialog && query(dialog, "[data-request-problem]")?.remove();
}
