/**
 * From conversation to conversation, and to pages, without loading a page: what is new is fetched and takes the place of
 * what is shown, while the shell around it stays. Address, history and title are as with new pages.
 *
 * What has no place in the shell (the sign-in, the gate, an error, a newer version of the site) is opened as a new page.
 */

import { refreshDocuments } from "../documents/document_lists.js";
import { closest, dataOf, find, isPlainPress, query, queryAll } from "../shared/dom.js";
import { htmx } from "../shared/htmx.js";
import { sentence } from "../shared/sentences.js";
import { clearProblems, showProblem } from "../shared/toasts.js";

/**
 * @typedef {object} SearchedConversation what a search needs of the conversation that is shown
 * @property {HTMLElement} page
 * @property {string} conversation
 * @property {string} url of its messages that have some words
 * @property {() => boolean} isStored
 * @property {import("../messages/thread_range.js").ThreadRange} range
 * @property {import("../conversation/map_of_long_thread.js").MapOfLongThread} map
 * @property {import("../composer/commands.js").CommandActions} actions
 * @property {AbortSignal} signal
 *
 * @typedef {object} StartedView a conversation or a page that is shown
 * @property {() => void} end
 * @property {any} place what of it is in view
 * @property {(place: any) => void} restore takes what was its place
 * @property {() => void} focus gives the focus to where one goes on
 * @property {SearchedConversation} [searched] of a conversation
 *
 * @typedef {{view: HTMLElement, sheets: HTMLLinkElement[]}} FetchedView and the style sheets that it needs
 * @typedef {FetchedView | "gone" | "failed" | null | undefined} Fetched `"gone"`: the conversation was deleted; `"failed"`:
 *   the server failed; `null`: it has no place in the shell; `undefined`: no answer
 */

const WITHOUT_SHELL = "X-Without-Shell";
const IN_SHELL =
  /^\/(c\/[0-9a-f-]{36}\/(documents\/)?|(usage|search|scenarios|conversations|import|accounts?)\/(.+\/)?)$/; // and no file: see #leadsHere
const OF_CONVERSATION = /^\/c\/([0-9a-f-]{36})\//;
const NOT_FOUND = 404;
const SERVER_FAULT = 500;
const FRESH_MS = 2_000;
const REST_MS = 60; // of the focus, so that a held arrow key fetches nothing on its way
const OWN_SHEETS = 'link[rel="stylesheet"]:not([data-part="shell-styles"])';

export class Navigation {
  /** @type {StartedView | undefined} */
  #shown;
  /** @type {AbortController | undefined} of what is being fetched */
  #fetching;
  #restTimer = 0;
  /** What is fetched while a link is still held down or has the focus. @type {{address: string, began: number, ending: AbortController, view: Promise<Fetched>} | undefined} */
  #ahead;
  /** What was in view at each entry of the history that was left, by its key. @type {Map<string, unknown>} */
  #places = new Map();
  /** The key of the entry of the history that is shown, and its address. */
  #key = "";
  #address = "";

  /**
   * @param {object} options
   * @param {HTMLElement} options.view holds the conversation or page
   * @param {(main: HTMLElement) => StartedView} options.start
   * @param {(news?: string) => void} options.onArrived told when another one is shown, and what is to be said of it
   * @param {(gone?: string) => void} options.onStayed told when what is shown stays, as the other one could not be: the
   *   conversation, if that is because it is there no more
   */
  constructor({ view, start, onArrived, onStayed }) {
    this.view = view;
    this.start = start;
    this.onArrived = onArrived;
    this.onStayed = onStayed;
    history.scrollRestoration = "manual"; // before what is to be scrolled has come, the browser could not
    addEventListener("pointerdown", (event) => this.#pressed(event), { passive: true });
    addEventListener("focusin", (event) => this.#focused(event));
    addEventListener("pointercancel", () => this.#ahead?.ending.abort()); // the finger scrolls
    addEventListener("click", (event) => this.#follow(event)); // after all others: what opens here as a panel is no link
    addEventListener("popstate", () => this.#goBack());
  }

  /** Start what has come with the shell. */
  begin() {
    this.nameAddress(addressOf(location));
    this.#startShown();
  }

  /**
   * Show what is at *address*.
   * @param {string} address
   */
  go(address) {
    this.#show(address, () => history.pushState({ key: newKey() }, "", address));
  }

  /**
   * Show what is at *address* in place of what is shown, also if it is the same.
   * @param {string} address
   * @param {string} [news] to be said once it is shown
   */
  replace(address, news) {
    this.#show(address, () => history.replaceState({ key: newKey() }, "", address), { news });
  }

  /**
   * What is shown has that address from now on.
   * @param {string} address
   */
  nameAddress(address) {
    history.replaceState({ ...history.state, key: history.state?.key ?? newKey() }, "", address + location.hash);
    this.#arrivedAt(address);
  }

  /**
   * A plain click on a link to what has its place in the shell shows it here; any other click is the browser's.
   * @param {MouseEvent} event
   */
  #follow(event) {
    const address = addressFollowedBy(event);
    if (address === undefined) {
      return;
    }
    event.preventDefault();
    address === this.#address ? this.replace(address) : this.go(address);
  }

  /**
   * Fetch what a link of the list leads to as soon as it is pressed: until it is let go, most of it has come.
   * @param {PointerEvent} event
   */
  #pressed(event) {
    const address = addressFollowedBy(event);
    if (address !== undefined && closest(event, "[data-entry]")) {
      this.#fetchAhead(address);
    }
  }

  /**
   * Fetch what a link of the list leads to once a key has brought the focus to it, and it stays: Enter may follow.
   * @param {FocusEvent} event
   */
  #focused(event) {
    clearTimeout(this.#restTimer);
    const link = closest(event, "[data-entry]:focus-visible", HTMLAnchorElement);
    const address = link && addressOf(link);
    if (address && address !== this.#address) {
      this.#restTimer = setTimeout(() => this.#fetchAhead(address), REST_MS);
    }
  }

  /** @param {string} address */
  #fetchAhead(address) {
    this.#ahead?.ending.abort();
    const ending = new AbortController();
    const view = fetchView(address, ending.signal).catch(() => undefined);
    this.#ahead = { address, began: performance.now(), ending, view };
  }

  /**
   * Return what was fetched ahead, or fetch it now.
   * @param {string} address
   * @param {AbortSignal} signal
   * @returns {Promise<Fetched>}
   */
  async #fetch(address, signal) {
    clearTimeout(this.#restTimer);
    const ahead = this.#ahead;
    this.#ahead = undefined;
    if (ahead?.address === address && performance.now() - ahead.began < FRESH_MS) {
      signal.addEventListener("abort", () => ahead.ending.abort());
      const view = await ahead.view;
      if (view) {
        return view;
      }
    }
    ahead?.ending.abort();
    return signal.aborted ? undefined : fetchView(address, signal).catch(() => undefined);
  }

  /** Show the entry of the history that the browser has gone to, with what was in view there. */
  #goBack() {
    const address = addressOf(location);
    if (address === this.#address) {
      this.#fetching?.abort(); // it leads to another place of the same, or back to it while another was on its way
      this.view.ariaBusy = null;
      return;
    }
    if (!isInShell(location.pathname)) {
      location.reload();
      return;
    }
    const shown = this.#address;
    const key = this.#key;
    this.#show(address, () => undefined, {
      stay: (isGone) => (isGone ? history.replaceState({ key }, "", shown) : history.pushState({ key }, "", shown)),
    });
  }

  /**
   * @param {string} address
   * @param {() => void} enter makes it the address of the page
   * @param {{news?: string, stay?: (isGone: boolean) => void}} [options] *stay* makes the one that is shown the address again
   */
  async #show(address, enter, { news, stay } = {}) {
    this.#fetching?.abort();
    const fetching = new AbortController();
    this.#fetching = fetching;
    this.view.ariaBusy = "true";
    const fetched = await this.#fetch(address, fetching.signal);
    if (fetching.signal.aborted) {
      return;
    }
    if (fetched === undefined || fetched === "gone" || fetched === "failed") {
      this.view.ariaBusy = null;
      stay?.(fetched === "gone");
      this.#sayWhy(address, fetched);
      return;
    }
    const isComplete = fetched && (await loadSheets(fetched.sheets));
    if (fetching.signal.aborted) {
      fetched && removeSheets(fetched.sheets);
      return;
    }
    this.view.ariaBusy = null;
    if (!fetched || !isComplete || dataOf(fetched.view, "shell") !== dataOf(document.body, "shell")) {
      location.assign(address); // as a page it says what it is
    } else {
      this.#leave();
      enter();
      this.#arrivedAt(address);
      this.#put(fetched, news);
    }
  }

  /**
   * @param {string} address of what could not be shown
   * @param {"gone" | "failed" | undefined} why
   */
  #sayWhy(address, why) {
    const [, conversation] = OF_CONVERSATION.exec(address) ?? [];
    const unreachable = isConversation(address) ? "conversationNotOpened" : "notOpened";
    this.onStayed(why === "gone" ? conversation : undefined);
    showProblem(sentence(why === "gone" ? "conversationGone" : why === "failed" ? "serverFailed" : unreachable));
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

  /**
   * @param {FetchedView} fetched
   * @param {string} [news]
   */
  #put({ view, sheets }, news) {
    const next = this.view.nextSibling;
    this.view.remove();
    refreshDocuments(); // at which htmx lets go of lists that are gone
    this.view = view;
    clearProblems();
    useSheets(sheets);
    document.body.insertBefore(view, next);
    htmx()?.process(view);
    scrollTo(0, 0);
    this.#startShown();
    const scrolled = this.#places.get(this.#key);
    if (scrolled) {
      this.#shown?.restore(scrolled);
    }
    this.takeFocus();
    this.onArrived(news);
  }

  #startShown() {
    this.#shown = this.start(find(this.view, "#main"));
  }

  /** Give the focus to what is shown. In a field it would bring the keyboard up where a finger writes. */
  takeFocus() {
    if (matchMedia("(hover: none)").matches) {
      find(this.view, "#main").focus({ preventScroll: true });
    } else {
      this.#shown?.focus();
    }
  }
}

/**
 * Return the view that *address* answers with, or why there is none.
 * @param {string} address
 * @param {AbortSignal} signal
 * @returns {Promise<Fetched>}
 */
async function fetchView(address, signal) {
  const headers = { Accept: "text/html", [WITHOUT_SHELL]: "true" };
  const response = await fetch(address, { headers, signal, credentials: "same-origin", cache: "no-store" });
  if (response.status === NOT_FOUND && OF_CONVERSATION.test(address)) {
    return "gone";
  }
  if (!response.ok || response.redirected) {
    return response.status >= SERVER_FAULT ? "failed" : null;
  }
  const template = document.createElement("template");
  template.innerHTML = await response.text();
  const { content } = template;
  const view = query(content, '[data-part="view"]');
  return view && { view, sheets: queryAll(content, OWN_SHEETS, HTMLLinkElement) };
}

/**
 * Load *sheets* beside what is shown, and without an effect on it: a view is not to be seen before it looks as it will.
 * @param {HTMLLinkElement[]} sheets
 * @returns {Promise<boolean>} whether all have come
 */
async function loadSheets(sheets) {
  const loads = sheets.map((sheet) => {
    sheet.media = "not all";
    const loaded = new Promise((resolve) => {
      sheet.addEventListener("load", () => resolve(true));
      sheet.addEventListener("error", () => resolve(false));
    });
    document.head.append(sheet);
    return loaded;
  });
  return (await Promise.all(loads)).every(Boolean);
}

/**
 * Let *sheets* be those of the view, in place of those of the view before.
 * @param {HTMLLinkElement[]} sheets
 */
function useSheets(sheets) {
  removeSheets(queryAll(document.head, OWN_SHEETS, HTMLLinkElement).filter((sheet) => !sheets.includes(sheet)));
  for (const sheet of sheets) {
    sheet.media = "all";
  }
}

/** @param {HTMLLinkElement[]} sheets */
function removeSheets(sheets) {
  for (const sheet of sheets) {
    sheet.remove();
  }
}

/**
 * Return where an event at a link leads within the shell, if it is a plain one and nothing else has taken it.
 * @param {MouseEvent} event
 * @returns {string | undefined}
 */
function addressFollowedBy(event) {
  const link = closest(event, "a[href]", HTMLAnchorElement);
  if (!link || !isPlainPress(event) || event.defaultPrevented || link.origin !== location.origin) {
    return undefined;
  }
  const isOther = link.target || link.hasAttribute("download") || link.hash || !isInShell(link.pathname);
  return isOther ? undefined : addressOf(link);
}

/** @param {string} path */
function isInShell(path) {
  return path === dataOf(document.body, "new") || IN_SHELL.test(path);
}

/**
 * Whether a conversation is at *address*, or the page where one begins.
 * @param {string} address
 */
function isConversation(address) {
  const [path] = address.split("?");
  return path === dataOf(document.body, "new") || OF_CONVERSATION.exec(path)?.[0] === path;
}

/** @param {Location | HTMLAnchorElement} link */
function addressOf({ pathname, search }) {
  return pathname + search;
}

function newKey() {
  return `${Date.now()}-${Math.random()}`;
}
