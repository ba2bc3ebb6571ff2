/** Copy buttons: of a block of code, and of what an address answers with. */

import { closest, query, queryAll } from "./dom.js";
import { sentence } from "./sentences.js";

const DONE_MS = 1_600;

/** @param {HTMLElement} root */
export function startCopying(root) {
  labelCopyButtons(root);
  root.addEventListener("click", async (event) => {
    const button = closest(event, "[data-copy], [data-copy-from]");
    if (!button || button.ariaDisabled === "true") {
      return;
    }
    try {
      await (button.dataset.copyFrom ? copyFrom(button.dataset.copyFrom) : copyCode(button));
      say(button, sentence("copied"));
    } catch {
      say(button, sentence("notCopied"));
    }
  });
}

/**
 * A block of code is drawn once for all its readers, so its button comes without a word in any language.
 * @param {HTMLElement} root
 */
export function labelCopyButtons(root) {
  for (const button of queryAll(root, "[data-copy]:empty")) {
    button.textContent = sentence("copy");
  }
}

/**
 * Let the button tell the outcome for a moment; it keeps the focus.
 * @param {HTMLElement} button
 * @param {string} outcome
 */
function say(button, outcome) {
  const place = query(button, "[data-copy-label]") ?? button;
  const label = place.textContent;
  place.textContent = outcome;
  button.ariaDisabled = "true";
  setTimeout(() => {
    place.textContent = label;
    button.ariaDisabled = "false";
  }, DONE_MS);
}

/** @param {HTMLElement} button */
function copyCode(button) {
  return copyText(button.closest(".code-block, [data-copy-source]")?.querySelector("code")?.textContent ?? "");
}

/**
 * A clipboard may be closed again by the time an answer is here, so it is given the promise of one.
 * @param {string} url
 */
async function copyFrom(url) {
  const text = fetchText(url);
  if (navigator.clipboard?.write && window.ClipboardItem) {
    const blob = text.then((content) => new Blob([content], { type: "text/plain" }));
    await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
  } else {
    await copyText(await text);
  }
}

/** @param {string} url */
async function fetchText(url) {
  const response = await fetch(url, { credentials: "same-origin" });
  if (!response.ok) {
    throw new Error(`no answer (${response.status})`);
  }
  return response.text();
}

/**
 * On plain http in a local network there is no clipboard API; a selected field does it there.
 * @param {string} text
 */
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
