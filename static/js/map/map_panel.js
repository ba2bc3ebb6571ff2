/** Where the page is narrow the map is folded into the meter's ring: pressed, it unfolds with the window beside it. */

import { find, query } from "../shared/dom.js";

/**
 * @param {HTMLElement} page
 * @param {object} parts
 * @param {HTMLElement} parts.map
 * @param {HTMLElement} parts.meter
 * @param {() => void} parts.onOpen told when there is room to draw the map in
 * @param {AbortSignal} parts.signal ends it
 */
export function startMapPanel(page, { map, meter, onOpen, signal }) {
  const opener = find(meter, ".meter-open", HTMLButtonElement);
  const ring = find(opener, ".meter-ring", SVGElement);
  const windowCard = find(map, "[data-map-window]");
  let showsPreview = false; // the press is meant for what the button does elsewhere

  /** @param {boolean} isOpen */
  function toggle(isOpen) {
    map.classList.toggle("is-open", isOpen);
    page.classList.toggle("has-map-open", isOpen);
    if (isOpen) {
      const [text, bar] = [query(meter, ".meter-text > span"), query(meter, ".meter-bar")];
      find(windowCard, "[data-map-figures]").replaceChildren(...(text ? [text.cloneNode(true)] : []));
      find(windowCard, "[data-map-bar]").replaceChildren(...(bar ? [bar.cloneNode(true)] : []));
      onOpen();
      find(map, "[data-map-strip]").focus({ preventScroll: true });
    } else if (map.contains(document.activeElement)) {
      opener.focus();
    }
  }

  opener.addEventListener(
    "click",
    (event) => {
      const isFolded = getComputedStyle(ring).display !== "none" && !map.hidden;
      if (isFolded && !showsPreview) {
        event.preventDefault();
        event.stopImmediatePropagation();
        toggle(!map.classList.contains("is-open"));
      }
    },
    { capture: true },
  );
  find(windowCard, "[data-map-preview]").addEventListener("click", () => {
    toggle(false);
    showsPreview = true;
    opener.click();
    showsPreview = false;
  });
  document.addEventListener(
    "pointerdown",
    ({ target }) => {
      const isInside = target instanceof Node && (map.contains(target) || opener.contains(target));
      if (map.classList.contains("is-open") && !isInside) {
        toggle(false);
      }
    },
    { signal },
  );
  map.addEventListener("keydown", ({ key }) => {
    if (key === "Escape" && map.classList.contains("is-open")) {
      toggle(false);
    }
  });
}
