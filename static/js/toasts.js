/** Notes that something was done stay until they are closed: nobody has to be quick to undo. */

export function startToasts() {
  document.addEventListener("click", ({ target }) => target.closest("[data-dismiss]")?.parentElement.remove());
}
