/** Copy buttons: of a block of code, and of a whole message as it was written. */

const DONE_MS = 1_600;

export function startCopying(root, { copied }) {
  root.addEventListener("click", async ({ target }) => {
    const button = target.closest("[data-copy]");
    if (!button) {
      return;
    }
    await copyText(button.closest(".code-block")?.querySelector("code").textContent ?? "");
    const label = button.textContent;
    button.textContent = copied;
    button.disabled = true;
    setTimeout(() => {
      button.textContent = label;
      button.disabled = false;
    }, DONE_MS);
  });
}

/** On plain http in a local network there is no clipboard API; a selected field does it there. */
async function copyText(text) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const field = Object.assign(document.createElement("textarea"), { value: text, className: "visually-hidden" });
  document.body.append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}
