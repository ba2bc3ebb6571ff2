/** Search: by Ctrl+K and the sidebar everywhere, by Ctrl+F in the conversation that is shown. Fetched when it is asked for. */

import { fetchBundle, fetchStyles } from "../shared/bundles.js";
import { closest, isPlainPress, query, queryAll } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";
import { showProblem } from "../shared/toasts.js";

/**
 * @typedef {{conversation: string, message: string, typed: string}} Wanted a message of a conversation that is opened
 *
 * @typedef {object} SearchShell
 * @property {() => import("./navigation.js").SearchedConversation | undefined} shown
 * @property {import("./navigation.js").Navigation} navigation
 * @property {Wanted} [wanted]
 */

const IS_MAC = /mac|iphone|ipad/i.test(navigator.platform);
const BAR = "[data-find] input";

/**
 * @param {SearchShell} shell
 * @returns {() => void} to be called when another conversation or page is shown
 */
export function startSearch(shell) {
  /** What is typed before the field is there. @type {string | undefined} */
  let early;

  /**
   * @param {"palette" | "find"} which
   * @param {Wanted} [wanted]
   */
  async function open(which, wanted) {
    early = "";
    const [bundle] = await Promise.all([fetchBundle("search"), fetchStyles("searchStyles")]).catch(() => []);
    await (bundle ? bundle.openSearch(which, shell, wanted, () => early) : showProblem(sentence("notOpened")));
    early = undefined;
  }

  addEventListener("keydown", (event) => {
    const { key, code, altKey, shiftKey, repeat, defaultPrevented } = event;
    const isControl = IS_MAC ? event.metaKey : event.ctrlKey;
    if (early !== undefined && key.length === 1 && !event.ctrlKey && !event.metaKey && !altKey) {
      event.preventDefault();
      early += key;
    }
    if (!isControl || altKey || shiftKey || repeat || defaultPrevented || query(document, "dialog[open]")) {
      return;
    }
    const letter = /^[a-z]$/i.test(key) ? key.toLowerCase() : code.slice(3).toLowerCase();
    const isAgain = document.activeElement?.matches(BAR); // the second time the browser's own is meant
    if (letter === "k" || (letter === "f" && shell.shown()?.isStored() && !isAgain)) {
      event.preventDefault();
      open(letter === "k" ? "palette" : "find");
    }
  });
  const click = (/** @type {MouseEvent} */ event) => {
    if (isPlainPress(event) && closest(event, "[data-open-search]")) {
      event.preventDefault();
      open("palette");
    }
  };
  addEventListener("click", click, { capture: true }); // before the link is followed
  document.addEventListener("find", () => open("find"));
  for (const each of IS_MAC ? queryAll(document, "[data-open-search] kbd") : []) {
    each.textContent = "⌘K";
  }
  return () => {
    const { wanted } = shell;
    shell.wanted = undefined;
    if (wanted && shell.shown()?.conversation === wanted.conversation) {
      open("find", wanted);
    }
  };
}
