/** A page in the shell that is no conversation: usage, scenarios, documents, the account. The window scrolls it. */

import { startKeyList, startShortcuts } from "../conversation/shortcuts.js";
import { Announcer } from "../shared/announcer.js";
import { fetchBundle } from "../shared/bundles.js";
import { closest, dataOf, find, query } from "../shared/dom.js";
import { localiseTimes } from "../shared/local_times.js";
import { sentence } from "../shared/sentences.js";
import { clearProblems, showProblem } from "../shared/toasts.js";

/** @typedef {typeof import("./page_parts.js")} PageParts */

/**
 * Start the page that stands in *page*.
 * @param {HTMLElement} page
 * @param {Pick<import("../conversation/conversation_page.js").Shell, "socket" | "sidebar" | "announcer">} shell
 * @returns {import("./navigation.js").StartedView}
 */
export function startPage(page, { socket, sidebar, announcer: region }) {
  const ending = new AbortController();
  const { signal } = ending;
  const announcer = new Announcer(region, signal);
  sidebar.enterPage(find(page, "h1").textContent.trim(), dataOf(page, "conversation"));
  localiseTimes(page);
  keepPlace(signal);
  sayWhenDeleted(socket, dataOf(page, "conversation"), signal);
  const keys = find(document, "#help");
  startKeyList(keys, signal);
  startShortcuts(
    { withControl: { "/": () => keys.togglePopover() }, withAlt: {}, alone: { "?": () => keys.togglePopover() } },
    signal,
  );
  startParts(page, (sentence) => announcer.say(sentence), signal);
  return {
    end: () => ending.abort(),
    get place() {
      return { top: scrollY };
    },
    restore: ({ top }) => scrollTo(0, top),
    focus: () => (query(page, "[autofocus]") ?? page).focus({ preventScroll: true }),
  };
}

/**
 * Keep in the history what is in view, for when one comes back here by loading the page, as after a form.
 * @param {AbortSignal} signal
 */
function keepPlace(signal) {
  const { top } = history.state ?? {};
  if (top) {
    scrollTo(0, top);
  }
  addEventListener("pagehide", () => history.replaceState({ ...history.state, top: scrollY }, ""), { signal });
}

/**
 * Say on a page about a conversation that it was deleted: what is done there would be refused.
 * @param {import("../server/socket.js").Socket} socket
 * @param {string} conversation
 * @param {AbortSignal} signal
 */
function sayWhenDeleted(socket, conversation, signal) {
  const stopListening = socket.listen({
    onOpen: () => undefined,
    onFrame(frame) {
      if (frame.type === "conversation.deleted" && frame.conversation === conversation) {
        frame.deleted ? showProblem(sentence("conversationGone")) : clearProblems();
      }
    },
    onFailure: () => undefined,
  });
  signal.addEventListener("abort", stopListening);
}

/**
 * Start what the page has beside links and forms. A button that was pressed before that came is pressed again; where it
 * does not come, a press says so and asks again.
 * @param {HTMLElement} page
 * @param {(sentence: string) => void} say
 * @param {AbortSignal} signal
 * @param {Event} [asked] the press that asks for it
 */
async function startParts(page, say, signal, asked) {
  let pressed = /** @type {HTMLElement | null} */ (null);
  const note = (/** @type {Event} */ event) => {
    pressed = closest(event, 'button[type="button"][data-action]');
  };
  asked && note(asked);
  const waiting = new AbortController();
  page.addEventListener("click", note, { signal: waiting.signal });
  signal.addEventListener("abort", () => waiting.abort());
  /** @type {PageParts | undefined} */
  const parts = await fetchBundle("pageParts");
  if (signal.aborted) {
    return;
  }
  waiting.abort();
  if (parts) {
    parts.startPageParts(page, { say, signal });
    pressed?.click();
    return;
  }
  if (pressed) {
    showProblem(sentence("notOpened"));
  }
  const again = (/** @type {Event} */ event) => {
    if (closest(event, 'button[type="button"][data-action]')) {
      page.removeEventListener("click", again);
      startParts(page, say, signal, event);
    }
  };
  page.addEventListener("click", again, { signal });
}
