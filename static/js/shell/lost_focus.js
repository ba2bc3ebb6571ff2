/**
 * What has the focus may go, with a list, a note or a button that is over: then what is shown gets it, as when it came.
 * Without that keys, and a screen reader, would begin again at the top of the page.
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
