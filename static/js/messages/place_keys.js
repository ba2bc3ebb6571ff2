/** Ways to a place of the thread that stand in it: links to a position, and a key that leads to the line. */

import { closest, dataOf } from "../shared/dom.js";

/**
 * @param {HTMLElement} page
 * @param {object} parts
 * @param {import("./thread_range.js").ThreadRange} parts.range
 * @param {import("./window_coverage.js").WindowCoverage} parts.coverage
 */
export function startPlaceKeys(page, { range, coverage }) {
  page.addEventListener("click", (event) => {
    const link = closest(event, "[data-go-to-position]", HTMLElement);
    if (link) {
      event.preventDefault();
      link.closest("details")?.removeAttribute("open");
      range.goTo({ at: Number(dataOf(link, "goToPosition")) }, { focus: true });
    }
  });
  page.addEventListener(
    "toggle",
    ({ target }) => {
      if (target instanceof Element && target.matches("[data-line-why][open]")) {
        target.lastElementChild?.scrollIntoView({ block: "nearest" }); // it may lie below the edge of the thread
      }
    },
    { capture: true },
  );
  page.addEventListener("keydown", (event) => {
    const { target, key, altKey, ctrlKey, metaKey } = event;
    const isInThread =
      target instanceof Element && Boolean(target.closest('[data-part="scroller"], [data-part="map"]'));
    const writes = target instanceof Element && target.matches("input, textarea, select");
    if (key.toLowerCase() === "j" && isInThread && !writes && !altKey && !ctrlKey && !metaKey) {
      event.preventDefault();
      coverage.goToLine();
    } else if (key === "Escape" && target instanceof Element) {
      closeWhy(target);
    }
  });
}

/** @param {Element} target */
function closeWhy(target) {
  const why = target.closest("[data-line-why][open]");
  why?.removeAttribute("open");
  why?.querySelector("summary")?.focus();
}
