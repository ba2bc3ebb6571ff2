/** htmx as our scripts use it: a script of its own, which may not be there. */

/**
 * @typedef {{process: (element: Element) => void, trigger: (element: Element, event: string) => void,
 *   ajax: (verb: string, url: string, options: {target: string, swap: string, source?: Element, values?: Record<string, string | string[]>}) => Promise<void>}} Htmx
 */

/** @returns {Htmx | undefined} */
export function htmx() {
  return /** @type {{htmx?: Htmx}} */ (/** @type {unknown} */ (window)).htmx;
}

/**
 * Whether *event*, one of htmx's, is about a request that changes something.
 * @param {Event} event
 */
export function isPost(event) {
  return event instanceof CustomEvent && event.detail.requestConfig.verb === "post";
}
