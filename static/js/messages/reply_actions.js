/** Stop, Continue, Regenerate, with more room or another model: buttons of a form without JavaScript, frames with it. */

import { sentenceFor } from "../server/http.js";
import { closest, find, query } from "../shared/dom.js";
import { findAction } from "./message_menu.js";

const ACTIONS = ["stop", "continue", "regenerate", "more-room"];

/**
 * @param {HTMLElement} page
 * @param {object} options
 * @param {import("../server/connection.js").Connection} options.connection
 * @param {(sentence: string) => void} options.onRefused told "" when an attempt begins
 */
export function startReplyActions(page, { connection, onRefused }) {
  page.addEventListener("click", async (event) => {
    const button = closest(event, ACTIONS.map((action) => `[data-action="${action}"]`).join(", "));
    const article = button?.closest("[data-message]") ?? query(page, '[data-message][data-state="streaming"]');
    if (!button || !(article instanceof HTMLElement)) {
      return;
    }
    event.preventDefault();
    const withAnother = event.shiftKey && findAction(article, "choose-regeneration");
    if (withAnother && button.dataset.action === "regenerate") {
      withAnother.click();
      return;
    }
    onRefused("");
    const action = button.dataset.action;
    const { formAction, value } = find(article, `[data-action="${action}"]`, HTMLButtonElement);
    const reply = Number(article.dataset.message);
    try {
      if (action === "more-room") {
        await connection.regenerateWithMoreRoom(formAction);
      } else if (action === "continue") {
        await connection.continueReply(reply, Number(value), formAction);
      } else {
        await (action === "stop" ? connection.stop(reply, formAction) : connection.regenerate(reply, formAction));
      }
    } catch (error) {
      onRefused(sentenceFor(error));
    }
  });
  page.addEventListener("keydown", (event) => {
    const isForward = event.key === forward(page);
    const article = isForward && closest(event, '[data-action="regenerate"]')?.closest("[data-message]");
    const withAnother = article instanceof HTMLElement && findAction(article, "choose-regeneration");
    if (withAnother) {
      event.preventDefault();
      withAnother.click();
    }
  });
}

/**
 * Return the arrow key that leads on in the direction of reading.
 * @param {HTMLElement} page
 */
function forward(page) {
  return getComputedStyle(page).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
}

/**
 * Regenerate a reply by the language model that is chosen in *dialog*, which htmx fills.
 * @param {HTMLDialogElement} dialog
 * @param {object} options
 * @param {import("../server/connection.js").Connection} options.connection
 * @param {(sentence: string) => void} options.onRefused told "" when an attempt begins
 * @param {AbortSignal} options.signal ends it
 */
export function startRegenerateWith(dialog, { connection, onRefused, signal }) {
  const regenerate = async (/** @type {Event} */ event) => {
    const button = closest(event, '[data-action="regenerate-with"]', HTMLButtonElement);
    if (!button?.form) {
      return;
    }
    event.preventDefault();
    dialog.close();
    onRefused("");
    try {
      await connection.regenerateWith(Number(button.dataset.reply), button.value, button.form.action);
    } catch (error) {
      onRefused(sentenceFor(error));
    }
  };
  dialog.addEventListener("click", regenerate, { signal });
}
