/** Code and styles that a page fetches once they are needed, from bundles whose addresses its body has. */

import { dataOf } from "./dom.js";
import { sentence } from "./sentences.js";
import { showProblem } from "./toasts.js";

const NOT_FOUND = 404;

/** The style sheets that were asked for, by their address. @type {Map<string, Promise<void>>} */
const sheets = new Map();

/**
 * Return what the bundle exports; nothing if it does not come, which the next time tries again.
 *
 * Never settles for a page that has to be loaded again: the site has other bundles since an update.
 * @param {string} name as in the body's data attributes
 * @returns {Promise<any>}
 */
export async function fetchBundle(name) {
  const address = dataOf(document.body, name);
  try {
    return await import(address);
  } catch {
    return (await isGone(address)) ? sayUpdated() : undefined;
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
    sheet.addEventListener("error", async () => {
      sheet.remove();
      sheets.delete(address);
      if (await isGone(address)) {
        sayUpdated();
      } else {
        reject(new Error(`the style sheet ${address} did not come`));
      }
    });
    document.head.append(sheet);
  });
}

/**
 * Whether the server has no such file any more.
 * @param {string} address
 */
async function isGone(address) {
  try {
    return (await fetch(address, { method: "HEAD" })).status === NOT_FOUND;
  } catch {
    return false; // no connection
  }
}

/** @returns {Promise<never>} */
function sayUpdated() {
  showProblem(sentence("siteUpdated"), { isMendedByReload: true });
  return new Promise(() => undefined);
}
