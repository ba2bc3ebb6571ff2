/** Forget everything above a message, and remember it again: buttons of a form, which without a script load the page again. */

import { postForm } from "../server/http.js";
import { closest } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";

const BUTTONS = '[data-action="forget-above"], [data-action="remember"]';

/**
 * @param {HTMLElement} page
 * @param {object} options
 * @param {import("./window_coverage.js").WindowCoverage} options.coverage
 * @param {() => void} options.onChanged told once the server has answered
 * @param {() => void} options.onFocusLost told when the button that had the focus has gone
 * @param {(sentence: string) => void} options.onDone
 * @param {(error: unknown) => void} options.onRefused
 */
export function startForgetting(page, { coverage, onChanged, onFocusLost, onDone, onRefused }) {
  page.addEventListener("click", async (event) => {
    const button = closest(event, BUTTONS);
    if (!(button instanceof HTMLButtonElement)) {
      return;
    }
    event.preventDefault();
    const hadFocus = button.matches(":focus-visible");
    try {
      const { forgotten_before: before } = await postForm(button.formAction, {});
      coverage.forget(before);
      if (hadFocus && !before) {
        onFocusLost();
      }
      onDone(sentence(before ? "forgotten" : "remembered"));
      onChanged();
    } catch (error) {
      onRefused(error);
    }
  });
}
