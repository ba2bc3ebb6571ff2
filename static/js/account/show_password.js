/** A button that shows what is typed into a password field, and hides it again. */

for (const button of document.querySelectorAll("[data-reveal]")) {
  const field = document.getElementById(button.dataset.reveal);
  button.addEventListener("click", () => {
    const isShown = field.type === "text";
    field.type = isShown ? "password" : "text";
    button.ariaPressed = String(!isShown);
  });
  // A browser keeps what is typed in a text field, and offers it to the next person.
  field.form.addEventListener("submit", () => {
    field.type = "password";
  });
}
