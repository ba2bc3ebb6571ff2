/** Places of the map by name: the beginning, the line, the newest, a day; and, for screen readers, the marked messages. */

import { find, queryAll } from "../shared/dom.js";
import { timeFormat } from "../shared/local_times.js";
import { sentence } from "../shared/sentences.js";

/**
 * @import { MapScale } from "./map_scale.js"
 * @import { Marked } from "./map_signs.js"
 */

const MOST_LISTED = 100;
const LISTED = ["recalled", "pinned", "excluded"];

/**
 * @param {import("./map_parts.js").MapParts} map
 * @param {AbortSignal} signal ends it
 */
export function startMapPlaces({ element, coverage, range, toNewest }, signal) {
  const places = find(element, "#map-places");
  places.addEventListener(
    "click",
    ({ target }) => {
      const link = target instanceof Element ? target.closest("[data-place]") : null;
      if (link) {
        places.hidePopover();
        const place = link.getAttribute("data-place");
        if (place === "line") {
          coverage.goToLine();
        } else {
          place === "newest" ? toNewest() : range.goTo({ at: 0 }, { focus: true });
        }
      }
    },
    { signal },
  );
  const form = find(places, "form", HTMLFormElement);
  form.addEventListener(
    "submit",
    (event) => {
      event.preventDefault();
      const { value } = find(form, "input", HTMLInputElement);
      if (value) {
        places.hidePopover();
        range.goTo({ on: value }, { focus: true });
      }
    },
    { signal },
  );
}

/** The links to marked messages. */
export class MarkedMessages {
  /**
   * @param {import("./map_parts.js").MapParts} map
   * @param {string} threadUrl of the thread at a place
   */
  constructor({ element, coverage, range }, threadUrl) {
    this.element = element;
    this.coverage = coverage;
    this.range = range;
    this.threadUrl = threadUrl;
    this.moment = timeFormat({ dateStyle: "medium", timeStyle: "short" });
  }

  /**
   * @param {Marked[]} marks
   * @param {MapScale} scale
   */
  draw(marks, scale) {
    const listed = marks.filter(({ mark }) => LISTED.includes(mark)).slice(-MOST_LISTED);
    find(this.element, "[data-map-marked]").replaceChildren(...listed.map((marked) => this.#itemOf(marked, scale)));
    for (const part of queryAll(this.element, "[data-map-has-marked]")) {
      part.hidden = !listed.length;
    }
  }

  /**
   * @param {Marked} marked
   * @param {MapScale} scale
   */
  #itemOf({ message, position, mark, at }, scale) {
    const words = /** @type {Record<string, string>} */ (this.coverage.words);
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = `${this.threadUrl}?at=${position}#message-${message}`;
    link.tabIndex = -1; // screen readers find it; by keys, [ and ] lead from one to the next
    link.textContent = sentence("mapPlace", {
      date: this.moment.format(new Date(at * 1_000)),
      number: String(scale.numberOf(position)),
      count: String(scale.messages),
      mark: words[mark],
    });
    link.addEventListener("click", (event) => {
      event.preventDefault();
      this.range.goTo({ message: String(message) }, { focus: true });
    });
    item.append(link);
    return item;
  }
}
