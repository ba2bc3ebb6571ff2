/** Toasts, notes that something was done: base.css hides them after a while, and they can be closed before that. */

import { closest } from "./dom.js";

const LEAVING = "toast-leave";

export function startToasts() {
  document.addEventListener("click", (event) => closest(event, "[data-dismiss]")?.parentElement?.remove());
  document.addEventListener("animationend", ({ animationName, target }) => {
    if (animationName === LEAVING && target instanceof Element) {
      target.remove();
    }
  });
}
