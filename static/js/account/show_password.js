/** A button that shows what is typed into a password field, and hides it again. */

import { dataOf, find, queryAll } from "../shared/dom.js";

for (const button of queryAll(document, "[data-reveal]")) {
  const field = find(document, `#${dataOf(button, "reveal")}`, HTMLInputElement);
  button.addEventListener("click", () => {
    const isShown = field.type === "text";
    field.type = isShown ? "password" : "text";
    button.ariaPressed = String(!isShown);
  });
  // A browser keeps what is typed in a text field, and offers it to the next person.
  field.form?.addEventListener("submit", () => {
    field.type = "password";
  });
}
