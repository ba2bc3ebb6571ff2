/** Says that a reply is done which took long, while its page is hidden: by a mark in the title, and by the browser. */

import { dataOf } from "../shared/dom.js";
import { areNoticesOn, MARK } from "../shared/reply_notices.js";
import { sentence } from "../shared/sentences.js";

/**
 * @param {HTMLElement} page whose class tells whether a reply is streaming
 * @param {{title: () => string, signal: AbortSignal}} options *title* of the conversation
 */
export function startReplyNotice(page, { title, signal }) {
  let begunAt = page.classList.contains("is-streaming") ? 0 : null;

  function look() {
    const isStreaming = page.classList.contains("is-streaming");
    if (isStreaming) {
      begunAt ??= performance.now();
    } else if (begunAt !== null) {
      const seconds = (performance.now() - begunAt) / 1_000;
      begunAt = null;
      if (document.hidden && seconds >= Number(dataOf(page, "longReplySeconds"))) {
        document.title = MARK + withoutMark(document.title);
        notify(title());
      }
    }
  }

  const observer = new MutationObserver(look);
  observer.observe(page, { attributeFilter: ["class"] });
  signal.addEventListener("abort", () => observer.disconnect());
  document.addEventListener(
    "visibilitychange",
    () => {
      if (!document.hidden) {
        document.title = withoutMark(document.title);
      }
    },
    { signal },
  );
}

/** @param {string} title */
function withoutMark(title) {
  return title.startsWith(MARK) ? title.slice(MARK.length) : title;
}

/**
 * Nothing of the conversation but its title: it may stand on a locked screen.
 * @param {string} title
 */
function notify(title) {
  if (!areNoticesOn()) {
    return;
  }
  try {
    const notice = new Notification(title, { body: sentence("replyDone"), tag: location.pathname });
    notice.addEventListener("click", () => {
      window.focus();
      notice.close();
    });
  } catch {
    // Chrome on Android shows them from service workers only: there the title's mark has to do
  }
}
