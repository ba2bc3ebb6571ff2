/** While something of the list is pressed or dragged, no other list takes its place: the click would find nothing. */

import { closest, find, query } from "../shared/dom.js";
import { htmx, isPost } from "../shared/htmx.js";

const ENDS = ["pointerup", "pointercancel", "keyup", "dragend"];

/**
 * Have a list that comes meanwhile dropped, and asked for again once it can take the place. What answers an action of
 * the user is shown all the same: it says how to undo that.
 * @param {HTMLElement} sidebar
 */
export function startPressing(sidebar) {
  /** @type {HTMLElement | null} */
  let dragged = null;
  let isMissed = false;

  const isHeld = () => dragged?.isConnected || Boolean(query(sidebar, "[data-list] :active"));

  sidebar.addEventListener("dragstart", (event) => {
    dragged = closest(event, "[data-list] a");
  });
  sidebar.addEventListener("dragend", () => {
    dragged = null;
  });
  document.addEventListener(
    "htmx:beforeSwap",
    (event) => {
      if (event.target instanceof Element && event.target.matches("[data-list]") && !isPost(event) && isHeld()) {
        isMissed = true;
        event.preventDefault();
        event.stopPropagation();
      }
    },
    { capture: true },
  );
  for (const end of ENDS) {
    // The click comes after the pointer's event, and before the next task.
    document.addEventListener(end, () =>
      setTimeout(() => {
        if (isMissed && !isHeld()) {
          isMissed = false;
          htmx()?.trigger(find(sidebar, "[data-list]"), "reload");
        }
      }),
    );
  }
}
