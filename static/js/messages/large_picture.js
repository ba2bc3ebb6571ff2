/**
 * A picture of a message, seen large: press it, go to those beside it by the arrow keys, close it by Escape. Fetched when
 * the first one is pressed.
 */

import { closeByItself } from "../shared/dialogs.js";
import { closest, find, isPlainPress, queryAll } from "../shared/dom.js";

/**
 * @param {HTMLElement} page
 * @param {HTMLDialogElement} dialog
 */
export function startLargePictures(page, dialog) {
  const large = find(dialog, "img", HTMLImageElement);
  /** @type {HTMLImageElement[]} */
  let beside = [];
  let shown = 0;

  /** @param {number} index */
  function show(index) {
    shown = index;
    const small = /** @type {HTMLImageElement} */ (beside[index]);
    for (const name of ["src", "alt"]) {
      large.setAttribute(name, small.getAttribute(name) ?? "");
    }
    find(dialog, "[data-caption]").textContent = small.alt;
  }

  page.addEventListener("click", (event) => {
    const link = closest(event, '[data-action="see-picture"]');
    if (link && isPlainPress(event)) {
      event.preventDefault();
      beside = queryAll(link.closest("ul") ?? link, "img", HTMLImageElement);
      show(beside.indexOf(find(link, "img", HTMLImageElement)));
      dialog.showModal();
    }
  });
  dialog.addEventListener("keydown", ({ key }) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[key] ?? 0;
    if (beside[shown + step]) {
      show(shown + step);
    }
  });
  closeByItself(dialog);
}
