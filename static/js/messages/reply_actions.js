/** Stop and Try again: buttons of a form without JavaScript, frames with it. */

export function startReplyActions(page, { connection, onRefused }) {
  page.addEventListener("click", async (event) => {
    const button = event.target.closest('[data-action="stop"], [data-action="regenerate"]');
    const article = button?.closest("[data-message]") ?? page.querySelector('[data-message][data-state="streaming"]');
    if (!button || !article) {
      return;
    }
    event.preventDefault();
    onRefused("");
    try {
      await connection[button.dataset.action](Number(article.dataset.message), urlOf(article, button.dataset.action));
    } catch (error) {
      onRefused(error.message);
    }
  });
}

function urlOf(article, action) {
  return article.querySelector(`[data-action="${action}"]`).formAction;
}
