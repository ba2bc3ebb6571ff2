/** Code and styles that a page fetches once they are needed, from bundles whose addresses its body has. */

import { dataOf } from "./dom.js";

/** The style sheets that were asked for, by their address. @type {Map<string, Promise<void>>} */
const sheets = new Map();

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

/**
 * Add a style sheet to the page, once, and wait until it holds. Throws if it does not come.
 * @param {string} name as in the body's data attributes
 * @returns {Promise<void>}
 */
export function fetchStyles(name) {
  const address = dataOf(document.body, name);
  const fetched = sheets.get(address) ?? addSheet(address);
  sheets.set(address, fetched);
  return fetched;
}

/**
 * @param {string} address
 * @returns {Promise<void>}
 */
function addSheet(address) {
  const sheet = Object.assign(document.createElement("link"), { rel: "stylesheet", href: address });
  sheet.dataset.part = "shell-styles"; // it stays when another conversation or page is shown
  return new Promise((resolve, reject) => {
    sheet.addEventListener("load", () => resolve());
    sheet.addEventListener("error", () => {
      sheet.remove();
      sheets.delete(address);
      reject(new Error(`the style sheet ${address} did not come`));
    });
    document.head.append(sheet);
  });
}
