/** Stop and Regenerate: buttons of a form without JavaScript, frames with it. */

import { closest, find, query } from "../shared/dom.js";

/**
 * @param {HTMLElement} page
 * @param {object} options
 * @param {import("../server/connection.js").Connection} options.connection
 * @param {(sentence: string) => void} options.onRefused told "" when an attempt begins
 */
export function startReplyActions(page, { connection, onRefused }) {
  page.addEventListener("click", async (event) => {
    const button = closest(event, '[data-action="stop"], [data-action="regenerate"]');
    const article = button?.closest("[data-message]") ?? query(page, '[data-message][data-state="streaming"]');
    if (!button || !(article instanceof HTMLElement)) {
      return;
    }
    event.preventDefault();
    onRefused("");
    const action = button.dataset.action === "stop" ? "stop" : "regenerate";
    const { formAction } = find(article, `[data-action="${action}"]`, HTMLButtonElement);
    try {
      await connection[action](Number(article.dataset.message), formAction);
    } catch (error) {
      onRefused(error instanceof Error ? error.message : "");
    }
  });
}
