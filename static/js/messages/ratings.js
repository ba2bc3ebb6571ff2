/** Ratings of replies: two buttons that are pressed or not, and a remark that may follow. */

import { getJson, postForm, sentenceFor } from "../server/http.js";
import { closest, fieldOf, find, focusedIn, query } from "../shared/dom.js";
import { placeBeside } from "../shared/menus.js";
import { sentence } from "../shared/sentences.js";

const NONE = "none";
/** @type {Record<string, string>} the verdict that each button stands for */
const VERDICTS = { "rate-good": "good", "rate-bad": "bad" };

/**
 * @param {HTMLElement} page
 * @param {object} options
 * @param {HTMLFormElement} options.form in which the remark is written, a popover
 * @param {(sentence: string) => void} options.say
 * @param {(sentence: string) => void} options.onRefused
 */
export function startRatings(page, { form, say, onRefused }) {
  const field = fieldOf(form, "remark", HTMLTextAreaElement);
  let turn = Promise.resolve();

  /** @param {HTMLButtonElement} button */
  async function rate(button) {
    const article = articleOf(button);
    const before = verdictOf(article);
    const { formAction, value: verdict } = button;
    show(article, verdict);
    try {
      const { remark } = await postForm(formAction, { verdict });
      say(sentence(verdict === NONE ? "unrated" : "rated"));
      if (verdict !== NONE) {
        ask(button, { verdict, remark });
      }
    } catch (error) {
      show(article, before);
      onRefused(sentenceFor(error)); // each bundle has its own class `Refusal`
    }
  }

  /**
   * Ask for a remark beside the reply. A finger is not given a keyboard that it has not asked for, and who has begun to
   * write elsewhere, until the server had the rating, goes on there.
   * @param {HTMLButtonElement} button
   * @param {{verdict: string, remark: string}} rating
   */
  function ask(button, { verdict, remark }) {
    form.action = button.formAction;
    fieldOf(form, "verdict").value = verdict;
    field.value = remark;
    form.showPopover();
    placeBeside(form, button.getBoundingClientRect());
    if (matchMedia("(hover: hover)").matches && !focusedIn()?.matches("input, textarea")) {
      field.focus();
    }
  }

  page.addEventListener("click", async (event) => {
    const button = closest(event, '[data-action="rate-good"], [data-action="rate-bad"]', HTMLButtonElement);
    const item = closest(event, '[data-action="remark"]', HTMLAnchorElement);
    if (button) {
      event.preventDefault();
      turn = turn.then(() => rate(button));
    } else if (item) {
      event.preventDefault();
      try {
        const pressed = find(articleOf(item), '[data-action^="rate-"][aria-pressed="true"]', HTMLButtonElement);
        ask(pressed, await getJson(item.href));
      } catch (error) {
        onRefused(sentenceFor(error)); // each bundle has its own class `Refusal`
      }
    }
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await postForm(form.action, { verdict: fieldOf(form, "verdict").value, remark: field.value });
      form.hidePopover();
      say(sentence("remarkSaved"));
    } catch (error) {
      find(form, "[data-error]").textContent = sentenceFor(error);
    }
  });
  form.addEventListener("toggle", () => {
    find(form, "[data-error]").textContent = "";
  });
}

/** @param {Element} element */
function articleOf(element) {
  return /** @type {HTMLElement} */ (element.closest("[data-message]"));
}

/** @param {HTMLElement} article */
function verdictOf(article) {
  const pressed = query(article, '[data-action^="rate-"][aria-pressed="true"]');
  return pressed ? VERDICTS[pressed.dataset.action ?? ""] : NONE;
}

/**
 * Press the button of *verdict* and no other one; pressing it again takes the rating back.
 * @param {HTMLElement} article
 * @param {string} verdict
 */
function show(article, verdict) {
  for (const [action, own] of Object.entries(VERDICTS)) {
    const button = query(article, `[data-action="${action}"]`, HTMLButtonElement);
    if (button) {
      button.ariaPressed = String(own === verdict);
      button.value = own === verdict ? NONE : own;
    }
  }
  const item = query(article, '[data-action="remark"]');
  if (item) {
    item.hidden = verdict === NONE;
  }
}
