/** Ratings of replies: fetched with the first press of a button of theirs, as they are not needed before. */

import { fetchBundle } from "../shared/bundles.js";
import { closest } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";

const BUTTONS = '[data-action="rate-good"], [data-action="rate-bad"], [data-action="remark"]';

/**
 * @param {HTMLElement} page
 * @param {Parameters<typeof import("./ratings.js").startRatings>[1]} options
 */
export function startRatingsOncePressed(page, options) {
  let isFetching = false;

  /** @param {Event} event */
  async function press(event) {
    const pressed = closest(event, BUTTONS);
    if (!pressed) {
      return;
    }
    event.preventDefault();
    if (isFetching) {
      return;
    }
    isFetching = true;
    /** @type {typeof import("./ratings.js") | undefined} */
    const fetched = await fetchBundle("ratings");
    isFetching = false;
    if (fetched) {
      page.removeEventListener("click", press);
      fetched.startRatings(page, options);
      pressed.click();
    } else {
      options.onRefused(sentence("unreachable"));
    }
  }
  page.addEventListener("click", press);
}
