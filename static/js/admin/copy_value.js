/** Copies what the element that a button names holds: the value of a field, or a text. The button says the outcome. */

import { dataOf, find } from "../shared/dom.js";

const button = find(document, "[data-copies]");
const source = find(document, `#${dataOf(button, "copies")}`);

button.addEventListener("click", async () => {
  button.textContent = dataOf(button, (await copy()) ? "copied" : "press");
});
button.hidden = false; // before this a press would do nothing

/** On plain http there is no clipboard API; what is selected does it there. */
async function copy() {
  select();
  try {
    await navigator.clipboard.writeText(isField(source) ? source.value : source.textContent);
    return true;
  } catch {
    return document.execCommand("copy");
  }
}

function select() {
  if (isField(source)) source.select();
  else getSelection()?.selectAllChildren(source);
}

/**
 * @param {HTMLElement} element
 * @returns {element is HTMLInputElement | HTMLTextAreaElement}
 */
function isField(element) {
  return element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;
}
