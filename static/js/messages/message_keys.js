/** Keys for the message that one is at: each presses a button of it. */

/**
 * They count where somebody has gone to a message by keyboard; who clicked into one may want to write.
 *
 * @param {HTMLElement} page
 * @param {Record<string, string>} actions by `event.code`, the `data-action` of the button
 */
export function startMessageKeys(page, actions) {
  let reachedByKeyboard = null;

  page.addEventListener("focusin", ({ target }) => {
    reachedByKeyboard = target.matches(":focus-visible") ? target : null;
  });
  page.addEventListener("keydown", (event) => {
    const button = event.target === reachedByKeyboard && buttonFor(event, actions);
    if (button) {
      event.preventDefault();
      button.click();
    }
  });
}

function buttonFor({ target, code, altKey, ctrlKey, metaKey, repeat }, actions) {
  const action = actions[code];
  if (!action || altKey || ctrlKey || metaKey || repeat || target.matches("input, select, textarea")) {
    return null;
  }
  return target.closest("[data-message]")?.querySelector(`[data-action="${action}"]`);
}
