/** Pin and Exclude: buttons of a form without JavaScript. With it they show at once, and are taken back if refused. */

import { postForm } from "../server/http.js";

const FIELDS = { pin: "pinned", exclude: "excluded" };
const BUTTONS = '[data-action="pin"], [data-action="exclude"]';

/**
 * @param {HTMLElement} page its dataset has a sentence for what was done
 * @param {object} options
 * @param {import("./window_coverage.js").Sight} options.sight
 * @param {() => void} options.onChanging called before anything is known, to keep older news from undoing it
 * @param {() => void} options.onChanged called once the server has answered, whatever it said
 * @param {(sentence: string) => void} options.onDone
 * @param {(error: Error) => void} options.onRefused
 */
export function startMarking(page, { sight, onChanging, onChanged, onDone, onRefused }) {
  let turn = Promise.resolve();

  async function mark(message, action) {
    const button = page.querySelector(`[data-message="${message}"] [data-action="${action}"]`);
    if (!button) {
      return; // taken off the page while it waited for its turn
    }
    const field = FIELDS[action];
    const isOn = button.value === "true";
    const before = sight.decisionsOn(message);
    onChanging();
    sight.mark(message, wanted(before, field, isOn));
    try {
      const { pinned, excluded } = await postForm(button.formAction, { [field]: isOn });
      sight.mark(message, { pinned, excluded });
      onDone(page.dataset[textFor(field, isOn)]);
    } catch (error) {
      sight.mark(message, before);
      onRefused(error);
    } finally {
      onChanged();
    }
  }

  /** One after the other: what a press means depends on what came of the one before. */
  function press(event, button) {
    const { message } = button.closest("[data-message]").dataset;
    event.preventDefault();
    turn = turn.then(() => mark(message, button.dataset.action));
  }

  page.addEventListener("click", (event) => {
    const button = event.target.closest(BUTTONS);
    if (button) {
      press(event, button);
    }
  });
}

/** What is excluded is not pinned any more. */
function wanted(before, field, isOn) {
  return field === "excluded" ? { pinned: before.pinned && !isOn, excluded: isOn } : { ...before, pinned: isOn };
}

function textFor(field, isOn) {
  return { pinned: ["textUnpinned", "textPinned"], excluded: ["textIncluded", "textExcluded"] }[field][Number(isOn)];
}
