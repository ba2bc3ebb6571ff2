/** The tour of the window on the demo model's empty page: three messages, sent by a press each, one after the other. */

import { closest, find } from "../shared/dom.js";

/**
 * @param {HTMLElement} page
 * @param {HTMLElement} tour shown in the empty page; above the composer once it has begun
 * @param {{send: (content: string) => boolean, signal: AbortSignal}} options *send* tells whether it has begun to
 */
export function startTour(page, tour, { send, signal }) {
  if (signal.aborted) {
    return; // left before this was fetched
  }
  const stops = [...tour.querySelectorAll("button")].filter((button) => button.dataset.action === "tour");
  const end = find(tour, '[data-part="tour-end"]');
  let next = 0;

  /** The next stop can be pressed, once the reply before it has ended. */
  function showNext() {
    const isStreaming = page.classList.contains("is-streaming");
    for (const [number, stop] of stops.entries()) {
      stop.ariaDisabled = String(number !== next || isStreaming);
      stop.toggleAttribute("data-done", number < next);
    }
    end.hidden = next < stops.length || isStreaming;
  }
  const observer = new MutationObserver(showNext);
  observer.observe(page, { attributeFilter: ["class"] });
  showNext();

  function leave() {
    observer.disconnect();
    tour.remove();
  }
  signal.addEventListener("abort", () => observer.disconnect());

  tour.addEventListener("click", (event) => {
    if (closest(event, '[data-action="end-tour"]')) {
      leave();
      return;
    }
    const stop = closest(event, '[data-action="tour"]', HTMLButtonElement);
    if (stop && stop.ariaDisabled !== "true" && send(contentOf(stop))) {
      find(page, ".composer-dock").prepend(tour);
      next += 1;
      showNext();
      stops[next]?.focus();
    }
  });
}

/**
 * @param {HTMLElement} stop
 * @returns {string} its message; one that fills the window is made here, line by line
 */
function contentOf({ dataset }) {
  const numbers = Array.from({ length: Number(dataset.lines ?? 0) }, (_, index) => String(index + 1));
  return dataset.content ?? numbers.map((number) => (dataset.line ?? "").replace("{number}", number)).join("\n");
}
