/** Code, tables and formulas that are wider than the page: the keyboard can reach them, and so scroll them. */

import { queryAll } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";

const PARTS = '.prose :is(pre, .table-scroll, math[display="block"])';
const PAUSE_MS = 300; // a reply that streams changes its size with each frame

/**
 * @param {HTMLElement} list of messages
 * @param {AbortSignal} signal ends it
 */
export function startScrollableParts(list, signal) {
  let timer = 0;
  const update = () => {
    timer ||= setTimeout(() => {
      timer = 0;
      letReach(list);
    }, PAUSE_MS);
  };
  const sizes = new ResizeObserver(update);
  sizes.observe(list);
  const messages = new MutationObserver(update); // one that is replaced need not change its size
  messages.observe(list, { childList: true });
  signal.addEventListener("abort", () => {
    sizes.disconnect();
    messages.disconnect();
    clearTimeout(timer);
  });
}

/**
 * Let the keyboard reach the parts that are wide, and no others. Code and the box of a table get a name; formulas have a role
 * of their own.
 * @param {HTMLElement} list
 */
function letReach(list) {
  const parts = queryAll(list, PARTS);
  const wide = new Set(parts.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth));
  for (const part of parts) {
    const name = part.matches("pre") ? sentence("wideCode") : part.matches("div") ? sentence("wideTable") : "";
    for (const [attribute, value] of Object.entries({ tabindex: "0", role: name && "group", "aria-label": name })) {
      wide.has(part) && value ? part.setAttribute(attribute, value) : part.removeAttribute(attribute);
    }
  }
}
