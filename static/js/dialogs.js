/** Dialogs whose content comes from the server: htmx fills them, and once it knows their forms they open. */

/** @param {HTMLDialogElement} dialog */
export function openWhenFilled(dialog) {
  dialog.addEventListener("htmx:afterSettle", () => {
    if (!dialog.open) {
      dialog.showModal();
    }
    dialog.scrollTop = 0;
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog || event.target.closest("[data-close]")) {
      event.preventDefault();
      dialog.close();
    }
  });
}
