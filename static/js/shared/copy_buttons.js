/** Copy buttons: of a block of code, and of what an address answers with. */

import { fetchBundle } from "./bundles.js";
import { closest, query, queryAll } from "./dom.js";
import { sentence } from "./sentences.js";

const DONE_MS = 1_500;

/**
 * @param {HTMLElement} root
 * @param {(sentence: string) => void} [say] tells a screen reader the outcome of a button that shows no words
 */
export function startCopying(root, say = () => {}) {
  labelCopyButtons(root);
  root.addEventListener("click", async (event) => {
    const button = closest(event, "[data-copy], [data-copy-from]");
    if (!button || button.ariaDisabled === "true") {
      return;
    }
    try {
      await copyFor(button, event.shiftKey);
      showOutcome(button, { isDone: true, say });
    } catch {
      showOutcome(button, { isDone: false, say });
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
 * @param {HTMLElement} button
 * @param {boolean} asPlainText of a message, what the page shows of it in place of its Markdown
 */
function copyFor(button, asPlainText) {
  const message = /** @type {HTMLElement | null} */ (asPlainText ? button.closest("[data-message]") : null);
  if (message && button.dataset.copyFrom) {
    return copyPromised(textOfMessage(message));
  }
  return button.dataset.copyFrom ? copyPromised(fetchText(button.dataset.copyFrom)) : copyCode(button);
}

/**
 * Return what the page shows of a message, in all its steps.
 * @param {HTMLElement} message
 */
async function textOfMessage(message) {
  /** @type {typeof import("./plain_text.js") | undefined} */
  const fetched = await fetchBundle("plainText");
  if (!fetched) {
    throw new Error("the bundle did not come");
  }
  const texts = queryAll(message, ".prose").map((prose) => fetched.plainText(prose));
  return texts.filter(Boolean).join("\n\n");
}

/**
 * Let the button tell the outcome for a moment, in its words or by a check mark; it keeps the focus.
 * @param {HTMLElement} button
 * @param {{isDone: boolean, say: (sentence: string) => void}} outcome
 */
function showOutcome(button, { isDone, say }) {
  const words = sentence(isDone ? "copied" : "notCopied");
  const visible = query(button, "[data-copy-label]") ?? (button.children.length ? null : button);
  const label = visible?.textContent ?? "";
  if (visible) {
    visible.textContent = words;
  } else {
    button.classList.toggle("is-done", isDone);
    button.dataset.outcome = isDone ? "" : words;
    say(words);
  }
  button.ariaDisabled = "true";
  setTimeout(() => {
    if (visible) {
      visible.textContent = label;
    }
    button.classList.remove("is-done");
    delete button.dataset.outcome;
    button.ariaDisabled = "false";
  }, DONE_MS);
}

/** @param {HTMLElement} button */
function copyCode(button) {
  return copyText(button.closest(".code-block, [data-copy-source]")?.querySelector("code")?.textContent ?? "");
}

/**
 * A clipboard may be closed again by the time an answer is here, so it is given the promise of one.
 * @param {Promise<string>} text
 */
async function copyPromised(text) {
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
