/** Keys with Alt, by their place on the keyboard, so that they work in every layout. */

/**
 * @param {Record<string, () => unknown>} actions by `event.code`
 * @param {AbortSignal} [signal] ends them
 */
export function startShortcuts(actions, signal) {
  const press = (/** @type {KeyboardEvent} */ event) => {
    const action = event.altKey && !event.ctrlKey && !event.metaKey && actions[event.code];
    if (action) {
      event.preventDefault();
      action();
    }
  };
  document.addEventListener("keydown", press, { signal });
}
