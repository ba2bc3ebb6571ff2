/** Tool calls among the messages: open ones stay open, and one that awaits approval is answered in its place. */

import { postForm } from "../server/http.js";
import { closest, dataOf, fieldOf, find, focusedIn, query, queryAll } from "../shared/dom.js";

/** @typedef {{open: string[], focused: string | undefined}} CallsState which calls are open, and which has the focus */

/**
 * Bring the calls in *article* to how they stand in *drawn*, the same step of the same reply. A call that has not
 * changed is not touched, so that reading in it is not disturbed.
 * @param {HTMLElement} article
 * @param {HTMLElement} drawn
 */
export function updateCalls(article, drawn) {
  for (const call of queryAll(drawn, "[data-call]")) {
    const old = findCall(article, dataOf(call, "call"));
    if (!old) {
      find(article, "[data-calls]").append(call);
    } else if (!isSame(old, call)) {
      const parent = /** @type {HTMLElement} */ (old.parentElement);
      const state = rememberCalls(parent);
      old.replaceWith(call);
      restoreCalls(state, parent);
    }
  }
}

/**
 * @param {HTMLElement} element
 * @returns {CallsState}
 */
export function rememberCalls(element) {
  const open = queryAll(element, "[data-call][open]").map((call) => dataOf(call, "call"));
  const focused = /** @type {HTMLElement | undefined} */ (focusedIn(element)?.closest("[data-call]") ?? undefined);
  return { open, focused: focused?.dataset.call };
}

/**
 * Restore what `rememberCalls` returned in the *element* that has taken the place.
 * @param {CallsState} state
 * @param {HTMLElement} element
 */
export function restoreCalls({ open, focused }, element) {
  for (const call of open) {
    findCall(element, call)?.toggleAttribute("open", true);
  }
  if (focused && !focusedIn(element)) {
    const call = findCall(element, focused);
    (call && (query(call, "summary") ?? call))?.focus({ preventScroll: true });
  }
}

/**
 * Answer calls that await approval, and lead to the next one.
 *
 * @param {HTMLElement} page
 * @param {object} options
 * @param {(form: HTMLFormElement, allowed: string) => Promise<void>} options.decide
 * @param {(error: unknown) => void} options.onRefused
 */
export function startDeciding(page, { decide, onRefused }) {
  page.addEventListener("submit", async (event) => {
    const form = closest(event, "[data-decide]", HTMLFormElement);
    if (!form) {
      return;
    }
    event.preventDefault();
    const button = event.submitter;
    if (form.ariaBusy === "true" || !(button instanceof HTMLButtonElement)) {
      return;
    }
    form.ariaBusy = "true";
    try {
      await decide(form, button.value);
    } catch (error) {
      onRefused(error);
    } finally {
      form.ariaBusy = "false";
    }
  });
  page.addEventListener("click", (event) => {
    if (closest(event, '[data-action="go-to-approval"]')) {
      const waiting = query(page, "[data-awaiting-approval]");
      waiting?.scrollIntoView({ block: "nearest" });
      waiting?.focus({ preventScroll: true });
    }
  });
}

/**
 * Send the answer; which call it was for, and with which arguments, stands in the form.
 * @param {HTMLFormElement} form
 * @param {string} allowed
 */
export function sendDecision(form, allowed) {
  return postForm(form.action, { digest: fieldOf(form, "digest").value, allowed });
}

/**
 * @param {HTMLElement} element
 * @param {string} call
 */
function findCall(element, call) {
  return query(element, `[data-call="${call}"]`);
}

/**
 * Whether both look the same, but for being open and for what only a page without scripts needs.
 * @param {HTMLElement} old
 * @param {HTMLElement} call
 */
function isSame(old, call) {
  const [before, after] = [old, call].map((element) => {
    const twin = /** @type {HTMLElement} */ (element.cloneNode(true));
    twin.removeAttribute("open");
    twin.querySelector("[data-decide]")?.removeAttribute("aria-busy");
    twin.querySelector('[name="csrfmiddlewaretoken"]')?.remove();
    twin.normalize();
    return twin;
  });
  return before.isEqualNode(after);
}
