/** Toasts, notes that something was done: base.css hides them after a while, and they can be closed before that. */

import { closest, find } from "./dom.js";

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

export function startToasts() {
  document.addEventListener("click", (event) => closest(event, "[data-dismiss]")?.parentElement?.remove());
  document.addEventListener("animationend", ({ animationName, target }) => {
    if (animationName === LEAVING && target instanceof Element) {
      target.remove();
    }
  });
}
