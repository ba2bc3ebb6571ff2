/**
 * The sheet of a message on touch screens: what its row and its menu offer, as large as fingers need it. Fetched when the
 * first one is opened.
 */

import { find, query, queryAll } from "../shared/dom.js";
import { findAction } from "./message_menu.js";

const TILES = ["copy-message", "regenerate", "rate-good", "rate-bad"];
const NOT_IN_IT = ["more", "open-sheet"];

/**
 * Show the sheet of *article*.
 * @param {HTMLDialogElement} dialog
 * @param {HTMLElement} article
 */
export function showMessageSheet(dialog, article) {
  const heading = find(article, ".message-by").textContent ?? "";
  find(dialog, "[data-title]").textContent = heading.trim().replace(/,$/, "");
  find(dialog, "[data-figures]").textContent = figuresOf(article);
  const buttons = actionsOf(article).map((action) => twinOf(action, dialog));
  const tiles = buttons.filter(({ dataset }) => TILES.includes(dataset.twin ?? ""));
  find(dialog, "[data-tiles]").replaceChildren(...tiles);
  find(dialog, "[data-rows]").replaceChildren(...buttons.filter((button) => !tiles.includes(button)));
  dialog.showModal();
}

/** @param {HTMLElement} article */
function figuresOf(article) {
  const parts = queryAll(article, ".figures > *").map(({ textContent }) => (textContent ?? "").trim());
  return parts.filter(Boolean).join(" · ");
}

/**
 * Return what can be done with the message now: what CSS hides by itself, as of any reply but the last, can't.
 * @param {HTMLElement} article
 */
function actionsOf(article) {
  const all = queryAll(article, ".message-foot [data-action]");
  return all.filter(
    (action) =>
      !NOT_IN_IT.includes(action.dataset.action ?? "") &&
      !action.closest(".versions") &&
      getComputedStyle(action).display !== "none",
  );
}

/**
 * Return a button of the sheet that presses *action*.
 * @param {HTMLElement} action
 * @param {HTMLDialogElement} dialog
 */
function twinOf(action, dialog) {
  const twin = document.createElement("button");
  twin.type = "button";
  twin.className = "sheet-action";
  twin.dataset.twin = action.dataset.action;
  const icon = query(action, "svg", SVGElement)?.cloneNode(true);
  const hint = query(action, ".menu-hint")?.textContent ?? "";
  const words = Object.assign(document.createElement("span"), { textContent: labelOf(action) });
  twin.append(...(icon ? [icon] : []), words);
  if (hint) {
    twin.append(Object.assign(document.createElement("span"), { className: "menu-hint", textContent: hint }));
  }
  const isOn = action.ariaChecked ?? action.ariaPressed;
  if (isOn) {
    twin.ariaPressed = isOn;
  }
  twin.addEventListener("click", () => {
    dialog.close();
    press(action);
  });
  return twin;
}

/**
 * Press *action*, or what has taken its place: while the sheet is open, its message may be drawn again.
 * @param {HTMLElement} action
 */
function press(action) {
  const message = document.getElementById(action.closest("[data-message]")?.id ?? "");
  const drawnAgain = !action.isConnected && message && findAction(message, action.dataset.action);
  (drawnAgain || action).click();
}

/**
 * Return what the button says to the eye, or is called where it shows no words.
 * @param {HTMLElement} action
 */
function labelOf(action) {
  const shown = /** @type {HTMLElement} */ (action.cloneNode(true));
  for (const other of queryAll(shown, ".menu-hint, .visually-hidden")) {
    other.remove();
  }
  return action.ariaLabel ?? (shown.textContent ?? "").trim();
}
