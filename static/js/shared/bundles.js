/** Code that a page fetches once it is needed, from a bundle whose address its body has. */

import { dataOf } from "./dom.js";

/**
 * Return what the bundle exports; nothing if it does not come, which the next time tries again.
 * @param {string} name as in the body's data attributes
 * @returns {Promise<any>}
 */
export async function fetchBundle(name) {
  try {
    return await import(dataOf(document.body, name));
  } catch {
    return undefined;
  }
}
