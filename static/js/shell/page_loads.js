/**
 * Forms and links that load a page. Without a connection the browser would show an error of its own in place of the site,
 * and what was typed would go with the page: then it stays, and says so.
 */

import { canReachServer } from "../server/http.js";
import { closest, isPlainPress } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";
import { showProblem } from "../shared/toasts.js";

/**
 * Keep the page where a form or link would load another and the server can't be reached. Start it last: what others have
 * handled is left alone.
 * @param {import("../server/socket.js").Socket} socket
 */
export function startPageLoads(socket) {
  let isSure = false; // what is submitted now was found to be able to go on its way

  const mayFail = (/** @type {Event} */ event) =>
    !(isSure || event.defaultPrevented || socket.isOpen || hasNeverFailed(socket));

  addEventListener("submit", async (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.method === "dialog" || !mayFail(event)) {
      return;
    }
    event.preventDefault();
    if (await canReachServer()) {
      isSure = true;
      form.requestSubmit(event.submitter);
      isSure = false;
    } else {
      showProblem(sentence("notDone"));
    }
  });
  addEventListener("click", async (event) => {
    const address = addressLoadedBy(event);
    if (address === undefined || !mayFail(event)) {
      return;
    }
    event.preventDefault();
    if (await canReachServer()) {
      location.assign(address);
    } else {
      showProblem(sentence("notOpened"));
    }
  });
}

/**
 * Whether the socket has not failed since the page came, and the machine is on a network.
 * @param {import("../server/socket.js").Socket} socket
 */
function hasNeverFailed(socket) {
  return !socket.failures && navigator.onLine;
}

/**
 * @param {MouseEvent} event
 * @returns {string | undefined}
 */
function addressLoadedBy(event) {
  const link = closest(event, "a[href]", HTMLAnchorElement);
  const isOther = !link || link.target || link.hasAttribute("download") || link.origin !== location.origin;
  const isHere = link?.hash && link.pathname === location.pathname && link.search === location.search;
  return !isPlainPress(event) || isOther || isHere ? undefined : link?.href;
}
