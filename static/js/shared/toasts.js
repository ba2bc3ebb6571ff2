/** Toasts, notes that something was done: base.css hides them after a while, and they can be closed before that. */

import { closest, find, queryAll } from "./dom.js";

const LEAVING = "toast-leave";

/**
 * Show a note of a script.
 * @param {string} words
 */
export function showToast(words) {
  const note = Object.assign(document.createElement("span"), { textContent: words });
  const toast = Object.assign(document.createElement("div"), { className: "toast" });
  toast.append(note);
  find(document, "#toasts").append(toast);
}

/**
 * Show that something did not work, until it is closed, or something else works.
 * @param {string} words
 */
export function showProblem(words) {
  clearProblems();
  const template = find(document, "#problem-toast", HTMLTemplateElement);
  const toast = /** @type {HTMLElement} */ (find(template.content, ".toast").cloneNode(true));
  find(toast, "[data-words]").textContent = words;
  find(document, "#toasts").append(toast);
}

export function clearProblems() {
  for (const toast of queryAll(document, "#toasts .toast-problem")) {
    toast.remove();
  }
}

export function startToasts() {
  document.addEventListener("click", (event) => closest(event, "[data-dismiss]")?.parentElement?.remove());
  document.addEventListener("animationend", ({ animationName, target }) => {
    if (animationName === LEAVING && target instanceof Element) {
      target.remove();
    }
  });
}
