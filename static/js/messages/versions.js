/** Switch between versions of a message: buttons of a form without JavaScript. */

import { closest } from "../shared/dom.js";

/**
 * @param {HTMLElement} page
 * @param {object} options
 * @param {import("../server/connection.js").Connection} options.connection
 * @param {() => void} options.onShown
 * @param {(error: unknown) => void} options.onRefused
 */
export function startVersions(page, { connection, onShown, onRefused }) {
  page.addEventListener("click", async (event) => {
    const button = closest(event, '[data-action="previous-version"], [data-action="next-version"]', HTMLButtonElement);
    if (!button) {
      return;
    }
    event.preventDefault();
    try {
      await connection.show(button.formAction);
      onShown();
    } catch (error) {
      onRefused(error);
    }
  });
}
