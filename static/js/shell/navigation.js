/**
 * From conversation to conversation without a new page: the thread and its panels are fetched and take the place of those
 * that are shown, while the shell around them stays. Address, history and title are as with new pages.
 *
 * What is no conversation (the sign-in, the gate, an error, a newer version of the site) is opened as a new page.
 */

import { refreshDocuments } from "../documents/document_lists.js";
import { closest, dataOf, find, query, queryAll } from "../shared/dom.js";
import { htmx } from "../shared/htmx.js";
import { sentence } from "../shared/sentences.js";
import { showToast } from "../shared/toasts.js";

/**
 * @import { StartedConversation } from "../conversation/conversation_page.js"
 * @import { ScrollPlace } from "../messages/auto_scroll.js"
 */

const WITHOUT_SHELL = "X-Without-Shell";
const CONVERSATION = /^\/c\/[0-9a-f-]{36}\/$/;

export class Navigation {
  /** @type {StartedConversation | undefined} */
  #shown;
  /** @type {AbortController | undefined} of what is being fetched */
  #fetching;
  /** What was in view at each entry of the history that was left, by its key. @type {Map<string, ScrollPlace | undefined>} */
  #places = new Map();
  /** The key of the entry of the history that is shown, and its address. */
  #key = "";
  #address = "";

  /**
   * @param {object} options
   * @param {HTMLElement} options.view holds the conversation
   * @param {(page: HTMLElement) => StartedConversation} options.start
   * @param {() => void} options.onArrived told when another conversation is shown
   */
  constructor({ view, start, onArrived }) {
    this.view = view;
    this.start = start;
    this.onArrived = onArrived;
    document.addEventListener("click", (event) => this.#follow(event));
    addEventListener("popstate", () => this.#goBack());
  }

  /** Start the conversation with which the page has come. */
  begin() {
    this.nameAddress(addressOf(location));
    this.#startShown();
  }

  /**
   * Show the conversation at *address*.
   * @param {string} address
   */
  go(address) {
    this.#show(address, () => history.pushState({ key: newKey() }, "", address));
  }

  /**
   * Show the conversation at *address* in place of what is shown, also if it is the same.
   * @param {string} address
   */
  replace(address) {
    this.#show(address, () => history.replaceState({ key: newKey() }, "", address));
  }

  /**
   * What is shown has that address from now on.
   * @param {string} address
   */
  nameAddress(address) {
    history.replaceState({ key: history.state?.key ?? newKey() }, "", address + location.hash);
    this.#arrivedAt(address);
  }

  /**
   * A plain click on a link to a conversation shows it here; any other click is the browser's.
   * @param {MouseEvent} event
   */
  #follow(event) {
    const link = closest(event, "a[href]", HTMLAnchorElement);
    const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey && event.button === 0;
    if (!link || !isPlain || event.defaultPrevented || !this.#leadsHere(link)) {
      return;
    }
    event.preventDefault();
    this.go(addressOf(link));
  }

  /** @param {HTMLAnchorElement} link */
  #leadsHere(link) {
    const isOurs = link.origin === location.origin && !link.target && !link.hasAttribute("download");
    return isOurs && !link.hash && isConversation(link.pathname);
  }

  /** Show the entry of the history that the browser has gone to, with what was in view there. */
  #goBack() {
    const address = addressOf(location);
    if (address === this.#address) {
      return; // it leads to another message of the same conversation
    }
    if (!isConversation(location.pathname)) {
      location.reload();
      return;
    }
    this.#show(address, () => undefined);
  }

  /**
   * @param {string} address
   * @param {() => void} enter makes it the address of the page
   */
  async #show(address, enter) {
    this.#fetching?.abort();
    const fetching = new AbortController();
    this.#fetching = fetching;
    this.view.ariaBusy = "true";
    const fetched = await fetchView(address, fetching.signal).catch(() => undefined);
    if (fetching.signal.aborted) {
      return;
    }
    this.view.ariaBusy = null;
    if (fetched === undefined) {
      showToast(sentence("unreachable"));
    } else if (!fetched || dataOf(fetched, "shell") !== dataOf(document.body, "shell")) {
      location.assign(address); // as a page it says what it is
    } else {
      this.#leave();
      enter();
      this.#arrivedAt(address);
      this.#put(fetched);
    }
  }

  #leave() {
    this.#places.set(this.#key, this.#shown?.place);
    this.#shown?.end();
  }

  /** @param {string} address */
  #arrivedAt(address) {
    this.#key = history.state?.key ?? "";
    this.#address = address;
    for (const next of queryAll(document, '.languages [name="next"]', HTMLInputElement)) {
      next.value = address;
    }
  }

  /** @param {HTMLElement} view */
  #put(view) {
    const place = this.view.nextSibling;
    this.view.remove();
    refreshDocuments(); // at which htmx lets go of lists that are gone
    this.view = view;
    document.body.insertBefore(view, place);
    htmx()?.process(view);
    this.#startShown();
    const scrolled = this.#places.get(this.#key);
    if (scrolled) {
      this.#shown?.restore(scrolled);
    }
    this.#takeFocus();
    this.onArrived();
  }

  #startShown() {
    this.#shown = this.start(find(this.view, "#main"));
  }

  /** Where a finger writes, the focus would bring the keyboard up. */
  #takeFocus() {
    if (matchMedia("(hover: none)").matches) {
      find(this.view, "#main").focus({ preventScroll: true });
    } else {
      this.#shown?.focus();
    }
  }
}

/**
 * Return the view that *address* answers with, or null if its answer is something else.
 * @param {string} address
 * @param {AbortSignal} signal
 * @returns {Promise<HTMLElement | null>}
 */
async function fetchView(address, signal) {
  const headers = { Accept: "text/html", [WITHOUT_SHELL]: "true" };
  const response = await fetch(address, { headers, signal, credentials: "same-origin", cache: "no-store" });
  if (!response.ok || response.redirected) {
    return null;
  }
  const template = document.createElement("template");
  template.innerHTML = await response.text();
  const view = query(document.importNode(template.content, true), '[data-part="view"]');
  return view;
}

/** @param {string} path */
function isConversation(path) {
  return path === dataOf(document.body, "new") || CONVERSATION.test(path);
}

/** @param {Location | HTMLAnchorElement} place */
function addressOf({ pathname, search }) {
  return pathname + search;
}

function newKey() {
  return `${Date.now()}-${Math.random()}`;
}
