/** Copies the value of the field that a button names. */

const button = document.querySelector("[data-copies]");
const field = document.getElementById(button.dataset.copies);

button.addEventListener("click", async () => {
  button.textContent = (await copied()) ? "Copied" : "Press Ctrl+C";
});

/** On plain http there is no clipboard API; the selected field does it there. */
async function copied() {
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    return document.execCommand("copy");
  }
}
