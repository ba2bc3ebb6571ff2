/** Keys with Alt, by their place on the keyboard, so that they work in every layout. */

/** @param {Record<string, () => unknown>} actions by `event.code` */
export function startShortcuts(actions) {
  document.addEventListener("keydown", (event) => {
    const action = event.altKey && !event.ctrlKey && !event.metaKey && actions[event.code];
    if (action) {
      event.preventDefault();
      action();
    }
  });
}
