/** From version to version of a message: buttons of a form without JavaScript. */

/**
 * @param {HTMLElement} page
 * @param {object} options
 * @param {import("../server/connection.js").Connection} options.connection
 * @param {() => void} options.onShown
 * @param {(error: Error) => void} options.onRefused
 */
export function startVersions(page, { connection, onShown, onRefused }) {
  page.addEventListener("click", async (event) => {
    const button = event.target.closest('[data-action="previous-version"], [data-action="next-version"]');
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
