/**
 * Keys of the page. With Ctrl, or Cmd on a Mac, they work anywhere. Alt types letters in a field on many systems, and so
 * do single keys: both work outside of fields alone, and the single ones can be switched off.
 */

import { find, query } from "../shared/dom.js";

const SWITCHED_OFF = "keysAlone";
const TAKEN_WITH_CMD = ";"; // checks the spelling on a Mac
const IS_MAC = /mac|iphone|ipad/i.test(navigator.platform);

/** @typedef {Record<string, () => unknown>} Actions by `event.key`: what is printed on it, in every layout */

/**
 * @param {{withControl: Actions, withAlt: Actions, alone: Actions}} keys
 * @param {AbortSignal} [signal] ends them
 */
export function startShortcuts({ withControl, withAlt, alone }, signal) {
  const press = (/** @type {KeyboardEvent} */ event) => {
    const action = actionOf(event);
    if (action && !event.defaultPrevented && !event.isComposing) {
      event.preventDefault();
      action();
    }
  };

  /** @param {KeyboardEvent} event */
  function actionOf({ key, target, altKey, ctrlKey, metaKey, repeat }) {
    if (ctrlKey || metaKey) {
      return altKey || repeat || (metaKey && key === TAKEN_WITH_CMD) ? undefined : withControl[key];
    }
    if (isField(target) || query(document, "dialog[open]")) {
      return undefined;
    }
    return altKey ? withAlt[key] : !repeat && areAloneOn() && alone[key];
  }
  document.addEventListener("keydown", press, { signal });
}

/**
 * Show in *help* the keys of the system, and switch those without Ctrl there.
 * @param {HTMLElement} help the list of keys
 * @param {AbortSignal} [signal] ends it
 */
export function startKeyList(help, signal) {
  const box = find(help, '[data-part="keys-alone"]', HTMLInputElement);
  box.checked = areAloneOn();
  const change = () => localStorage.setItem(SWITCHED_OFF, box.checked ? "on" : "off");
  box.addEventListener("change", change, { signal });
  if (IS_MAC) {
    for (const key of help.querySelectorAll("[data-control]")) {
      key.textContent = "⌘";
    }
  }
}

function areAloneOn() {
  return localStorage.getItem(SWITCHED_OFF) !== "off";
}

/** @param {EventTarget | null} target */
function isField(target) {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches("input, select, textarea"));
}
