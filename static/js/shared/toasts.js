/** Notes that something was done: overlays.css lets them go after a while, and they can be closed before that. */

const LEAVING = "toast-leave";

export function startToasts() {
  document.addEventListener("click", ({ target }) => target.closest("[data-dismiss]")?.parentElement.remove());
  document.addEventListener(
    "animationend",
    ({ animationName, target }) => animationName === LEAVING && target.remove(),
  );
}
