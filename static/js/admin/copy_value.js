/** Copies what the element that a button names holds: the value of a field, or a text. The button says in which words. */

const button = document.querySelector("[data-copies]");
const source = document.getElementById(button.dataset.copies);

button.addEventListener("click", async () => {
  button.textContent = (await copied()) ? button.dataset.copied : button.dataset.press;
});

/** On plain http there is no clipboard API; what is selected does it there. */
async function copied() {
  select();
  try {
    await navigator.clipboard.writeText(source.value ?? source.textContent);
    return true;
  } catch {
    return document.execCommand("copy");
  }
}

function select() {
  if ("select" in source) source.select();
  else getSelection().selectAllChildren(source);
}
