/** Dialogs whose content comes from the server: htmx fills them, and once it knows their forms they open. */

/** @param {HTMLDialogElement} dialog */
export function openWhenFilled(dialog) {
  dialog.addEventListener("htmx:afterSettle", () => {
    if (!dialog.open) {
      dialog.showModal();
    }
    dialog.scrollTop = 0;
  });
  closeByItself(dialog);
}

/** Let it close when somebody clicks beside it, or what says that it closes. @param {HTMLDialogElement} dialog */
export function closeByItself(dialog) {
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog || event.target.closest("[data-close]")) {
      event.preventDefault();
      dialog.close();
    }
  });
}
