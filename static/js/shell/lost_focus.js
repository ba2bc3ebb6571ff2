/**
 * Gives the focus to the page that is shown when the element that had it is removed or hidden: a note, a button, an entry.
 * Without that, keys and screen readers would begin again at the top of the page.
 */

const MAY_TAKE_IT = ["focusout", "htmx:afterSettle", "keydown"]; // not all browsers tell of a blur

/** @param {() => void} give the focus to what is shown */
export function startLostFocus(give) {
  /** @type {Element | null} */
  let had = null;
  addEventListener("focusin", ({ target }) => {
    had = /** @type {Element} */ (target);
  });
  const look = () =>
    setTimeout(() => {
      const now = document.activeElement;
      if (had?.checkVisibility() === false && (now === document.body || now === had)) {
        give();
      }
    });
  for (const name of MAY_TAKE_IT) {
    addEventListener(name, look, { capture: true });
  }
}
