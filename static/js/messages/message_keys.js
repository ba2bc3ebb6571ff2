/** Keys for the message that has the focus: each presses a button of it. */

import { findAction } from "./message_menu.js";

/**
 * They work where a message was reached by keyboard; a click into one may mean to write.
 *
 * @param {HTMLElement} page
 * @param {Record<string, string>} actions by `event.code`, the `data-action` of the button
 */
export function startMessageKeys(page, actions) {
  /** @type {EventTarget | null} */
  let reachedByKeyboard = null;

  page.addEventListener("focusin", ({ target }) => {
    reachedByKeyboard = target instanceof Element && target.matches(":focus-visible") ? target : null;
  });
  page.addEventListener("keydown", (event) => {
    const button = event.target === reachedByKeyboard && buttonFor(event, actions);
    if (button) {
      event.preventDefault();
      button.click();
    }
  });
}

/**
 * @param {KeyboardEvent} event
 * @param {Record<string, string>} actions
 */
function buttonFor({ target, code, altKey, ctrlKey, metaKey, repeat }, actions) {
  const action = actions[code];
  if (!action || altKey || ctrlKey || metaKey || repeat) {
    return null;
  }
  if (!(target instanceof Element) || target.matches("input, select, textarea")) {
    return null;
  }
  const article = target.closest("[data-message]");
  return article instanceof HTMLElement ? findAction(article, action) : null;
}
