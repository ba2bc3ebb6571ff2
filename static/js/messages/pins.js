/** Pin, Exclude and Don't recall: buttons of a form without JavaScript. With it they show at once, and are taken back if refused. */

import { postForm } from "../server/http.js";
import { closest, dataOf, query } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";
import { findAction } from "./message_menu.js";

/**
 * @import { Connection } from "../server/connection.js"
 * @import { SentenceName } from "../shared/sentences.js"
 * @import { Decisions, WindowCoverage } from "./window_coverage.js"
 */

/** @type {Record<string, keyof Decisions>} */
const FIELDS = { pin: "pinned", exclude: "excluded", "keep-from-recall": "never_recalled" };
/**
 * What is said of what was done: switched off, switched on.
 * @type {Record<keyof Decisions, [SentenceName, SentenceName]>}
 */
const SENTENCES = {
  pinned: ["unpinned", "pinned"],
  excluded: ["included", "excluded"],
  never_recalled: ["recalledAgain", "neverRecalled"],
};
const BUTTONS = Object.keys(FIELDS)
  .map((action) => `[data-action="${action}"]`)
  .join(", ");

/**
 * @param {HTMLElement} page
 * @param {object} options
 * @param {Connection} options.connection
 * @param {WindowCoverage} options.coverage
 * @param {() => void} options.onChanging called before anything is known, to keep older news from undoing it
 * @param {() => void} options.onChanged called once the server has answered, whatever it said
 * @param {(sentence: string) => void} options.onDone
 * @param {(error: unknown) => void} options.onRefused
 */
export function startPins(page, { connection, coverage, onChanging, onChanged, onDone, onRefused }) {
  let turn = Promise.resolve();

  /**
   * @param {string} message
   * @param {string} action
   */
  async function mark(message, action) {
    const article = query(page, `[data-message="${message}"]`);
    const button = article && findAction(article, action);
    if (!(button instanceof HTMLButtonElement)) {
      return; // taken off the page while it waited for its turn
    }
    const field = FIELDS[action];
    const isOn = button.value === "true";
    const before = coverage.decisionsOn(message);
    onChanging();
    coverage.mark(message, wanted(before, field, isOn));
    try {
      const { pinned, excluded, never_recalled } = await postForm(button.formAction, { [field]: String(isOn) });
      coverage.mark(message, { pinned, excluded, never_recalled });
      onDone(sentence(SENTENCES[field][Number(isOn)]));
    } catch (error) {
      coverage.mark(message, before);
      onRefused(error);
    } finally {
      onChanged();
    }
  }

  page.addEventListener("click", (event) => {
    const button = closest(event, BUTTONS);
    const article = button && /** @type {HTMLElement | null} */ (button.closest("[data-message]"));
    if (article) {
      event.preventDefault();
      const [message, action] = [dataOf(article, "message"), dataOf(button, "action")];
      turn = turn.then(() => mark(message, action)); // one after the other: each may depend on the outcome of the last
      connection.waitFor(turn);
    }
  });
}

/**
 * An excluded message is not pinned any more.
 * @param {Decisions} before
 * @param {keyof Decisions} field
 * @param {boolean} isOn
 */
function wanted(before, field, isOn) {
  const after = { ...before, [field]: isOn };
  return field === "excluded" ? { ...after, pinned: before.pinned && !isOn } : after;
}
