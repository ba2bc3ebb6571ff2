/** Parts of the page that are fetched with the first press of a button or link of theirs, as they are not needed before. */

import { fetchBundle } from "../shared/bundles.js";
import { closest, isPlainPress } from "../shared/dom.js";

/**
 * @param {HTMLElement} page
 * @param {string} pressable selects what may be pressed
 * @param {string} bundle as in the body's data attributes
 * @param {(fetched: any) => void} start told what the bundle exports, before what was pressed is pressed again
 * @param {() => void} onUnreachable told when the bundle does not come
 */
export function startOncePressed(page, pressable, bundle, start, onUnreachable) {
  /** What was pressed until it came. @type {HTMLElement[]} */
  const presses = [];

  /** @param {MouseEvent} event */
  async function press(event) {
    const pressed = closest(event, pressable);
    if (!pressed || (pressed.matches("a") && !isPlainPress(event))) {
      return;
    }
    event.preventDefault();
    if (presses.push(pressed) > 1) {
      return;
    }
    const fetched = await fetchBundle(bundle);
    const again = presses.splice(0);
    if (fetched) {
      page.removeEventListener("click", press);
      start(fetched);
      for (const each of again) {
        each.click();
      }
    } else {
      onUnreachable();
    }
  }
  page.addEventListener("click", press);
}
