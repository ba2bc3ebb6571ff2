/**
 * Toasts: the server's, that something was done, which base.css hides after a while, and problems, which scripts show.
 * Each can be closed.
 */

import { closest, find, queryAll } from "./dom.js";

const LEAVING = "toast-leave";

/**
 * Show that something did not work, until it is closed, or something else works.
 * @param {string} words
 * @param {{isMendedByReload?: boolean}} [options] whether it offers to load the page again
 */
export function showProblem(words, { isMendedByReload = false } = {}) {
  clearProblems();
  const template = find(document, "#problem-toast", HTMLTemplateElement);
  const toast = /** @type {HTMLElement} */ (find(template.content, ".toast").cloneNode(true));
  find(toast, "[data-words]").textContent = words;
  find(toast, "[data-reload]").hidden = !isMendedByReload;
  find(document, "#toasts").append(toast);
}

export function clearProblems() {
  for (const toast of queryAll(document, "#toasts .toast-problem")) {
    toast.remove();
  }
}

export function startToasts() {
  document.addEventListener("click", (event) => {
    closest(event, "[data-dismiss]")?.parentElement?.remove();
    closest(event, "[data-reload]") && location.reload();
  });
  document.addEventListener("animationend", ({ animationName, target }) => {
    if (animationName === LEAVING && target instanceof Element) {
      target.remove();
    }
  });
}
