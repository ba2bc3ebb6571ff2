/** Pin and Exclude: buttons of a form without JavaScript. With it they show at once, and are taken back if refused. */

import { postForm } from "./http.js";

const FIELDS = { pin: "pinned", exclude: "excluded" };
const KEYS = { KeyP: "pin", KeyX: "exclude" };
const BUTTONS = '[data-action="pin"], [data-action="exclude"]';

/**
 * @param {HTMLElement} page its dataset has a sentence for what was done
 * @param {object} options
 * @param {import("./sight.js").Sight} options.sight
 * @param {() => void} options.onChanging called before anything is known, to keep older news from undoing it
 * @param {() => void} options.onChanged called once the server has answered, whatever it said
 * @param {(sentence: string) => void} options.onDone
 * @param {(error: Error) => void} options.onRefused
 */
export function startMarking(page, { sight, onChanging, onChanged, onDone, onRefused }) {
  const underWay = new Set();

  async function mark(message, { field, isOn, url }) {
    const before = sight.decisionsOn(message);
    onChanging();
    sight.mark(message, wanted(before, field, isOn));
    try {
      const { pinned, excluded } = await postForm(url, { [field]: isOn });
      sight.mark(message, { pinned, excluded });
      onDone(page.dataset[textFor(field, isOn)]);
    } catch (error) {
      sight.mark(message, before);
      onRefused(error);
    } finally {
      onChanged();
    }
  }

  async function pressed(button) {
    const { message } = button.closest("[data-message]").dataset;
    if (underWay.has(message)) {
      return;
    }
    underWay.add(message);
    const isOn = button.value === "true";
    await mark(message, { field: FIELDS[button.dataset.action], isOn, url: button.formAction });
    underWay.delete(message);
  }

  page.addEventListener("click", (event) => {
    const button = event.target.closest(BUTTONS);
    if (button) {
      event.preventDefault();
      pressed(button);
    }
  });
  page.addEventListener("keydown", (event) => {
    const button = buttonFor(event);
    if (button) {
      event.preventDefault();
      pressed(button);
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

/** A key counts where somebody has gone to a message by keyboard; who clicked into one may want to write. */
function buttonFor({ target, code, altKey, ctrlKey, metaKey, repeat }) {
  const action = KEYS[code];
  if (!action || altKey || ctrlKey || metaKey || repeat || !target.matches(":focus-visible")) {
    return null;
  }
  return target.closest("[data-message]")?.querySelector(`[data-action="${action}"]`);
}
