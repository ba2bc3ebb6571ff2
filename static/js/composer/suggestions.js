/** Questions that may be asked first: pressed, they stand in the composer, and nothing is sent yet. */

/**
 * @param {HTMLElement} page
 * @param {{onChosen: (question: string) => void}} options
 */
export function startSuggestions(page, { onChosen }) {
  page.addEventListener("click", ({ target }) => {
    const button = target.closest('[data-action="suggest"]');
    if (button) {
      onChosen(button.textContent.trim());
    }
  });
}
