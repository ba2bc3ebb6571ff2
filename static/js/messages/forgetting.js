/** Forget everything above a message, and remember it again: buttons of a form, which without a script load the page again. */

import { postForm } from "../server/http.js";
import { closest } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";

const BUTTONS = '[data-action="forget-above"], [data-action="remember"]';

/**
 * @param {HTMLElement} page
 * @param {object} options
 * @param {import("../server/connection.js").Connection} options.connection
 * @param {import("./window_coverage.js").WindowCoverage} options.coverage
 * @param {() => void} options.onChanging told before the server has answered
 * @param {() => void} options.onChanged told once it has, whatever it said
 * @param {(sentence: string) => void} options.onDone
 * @param {(error: unknown) => void} options.onRefused
 */
export function startForgetting(page, { connection, coverage, onChanging, onChanged, onDone, onRefused }) {
  let turn = Promise.resolve();

  /** @param {HTMLButtonElement} button */
  async function press(button) {
    onChanging();
    try {
      const { forgotten_before: before } = await postForm(button.formAction, {});
      coverage.forget(before);
      onDone(sentence(before ? "forgotten" : "remembered"));
    } catch (error) {
      onRefused(error);
    } finally {
      onChanged();
    }
  }

  page.addEventListener("click", (event) => {
    const button = closest(event, BUTTONS);
    if (button instanceof HTMLButtonElement) {
      event.preventDefault();
      turn = turn.then(() => press(button));
      connection.waitFor(turn); // what is sent next is sent without what is forgotten
    }
  });
}
