/** The menu in the header to choose another language model, and what other pages have chosen meanwhile. */

import { getFragment } from "../server/http.js";
import { closest, dataOf, find, focusedIn, query, queryAll } from "../shared/dom.js";

const STEPS = new Map([
  ["ArrowDown", 1],
  ["ArrowRight", 1],
  ["ArrowUp", -1],
  ["ArrowLeft", -1],
]);

export class ModelChoice {
  /**
   * @param {HTMLElement} header holds it
   * @param {object} options
   * @param {string} options.url where it is chosen, and what the header says of it is asked for
   * @param {import("../server/connection.js").Connection} options.connection
   * @param {(sentence: string) => void} options.onChosen told when another model or effort is shown
   * @param {(scenario: string, name: string) => void} options.onScenario told which scenario is chosen
   * @param {(error: unknown) => void} options.onRefused told "" when an attempt begins
   */
  constructor(header, { url, connection, onChosen, onScenario, onRefused }) {
    this.header = header;
    this.url = url;
    this.connection = connection;
    this.onChosen = onChosen;
    this.onScenario = onScenario;
    this.onRefused = onRefused;
    header.addEventListener("click", (event) => this.#choose(event));
    header.addEventListener("keydown", (event) => this.#move(event));
    header.addEventListener("toggle", (event) => this.#focusChosen(event), { capture: true });
  }

  /** What the model that is shown does with pictures, if it can't see them; else empty. */
  get noPictures() {
    return this.#element.dataset.noPictures ?? "";
  }

  get #element() {
    return find(this.header, '[data-part="model"]');
  }

  /**
   * Show what is chosen now, unless the page shows it already.
   * @param {string} [key] of what is stored; without it that is asked for
   */
  async show(key) {
    if (key === dataOf(this.#element, "key") || !this.connection.isStored) {
      return;
    }
    const element = await getFragment(this.url, '[data-part="model"]').catch(() => undefined);
    if (!element || dataOf(element, "key") === dataOf(this.#element, "key")) {
      return; // the next snapshot says it again
    }
    const hadFocus = Boolean(focusedIn(this.#element));
    this.#element.replaceWith(element);
    if (hadFocus) {
      find(element, ".model-open").focus();
    }
    this.onChosen(dataOf(element, "announcement"));
  }

  /** @param {Event} event */
  async #choose(event) {
    if (closest(event, ".model-more")) {
      find(this.#element, "[popover]").hidePopover(); // what it leads to opens in its place
    }
    const item = closest(event, '[data-action="choose-model"], [data-action="choose-scenario"]');
    if (!item || (item instanceof HTMLAnchorElement && !this.connection.isStored)) {
      return; // a conversation that has not begun has another address for each model
    }
    event.preventDefault();
    find(this.#element, "[popover]").hidePopover();
    find(this.#element, ".model-open").focus();
    if (item.dataset.scenario) {
      this.onScenario(item.dataset.scenario, find(item, ".model-row-name").textContent);
      return;
    }
    const address = item instanceof HTMLButtonElement ? item.formAction : /** @type {HTMLAnchorElement} */ (item).href;
    const chosen = new URL(address).searchParams;
    try {
      await this.connection.chooseModel(chosen.get("language_model") ?? "", chosen.get("effort") ?? "", this.url);
    } catch (error) {
      this.onRefused(error);
    }
  }

  /** @param {KeyboardEvent} event */
  #move(event) {
    const menu = closest(event, "#model-menu");
    const items = menu ? queryAll(menu, '[role^="menuitem"]') : [];
    if (!items.length) {
      return;
    }
    const at = items.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const step = STEPS.get(event.key);
    const ends = new Map([
      ["Home", items.at(0)],
      ["End", items.at(-1)],
    ]);
    const next = step ? items[(at + step + items.length) % items.length] : ends.get(event.key);
    if (next) {
      event.preventDefault();
      next.focus();
    }
  }

  /** @param {Event} event that the menu has opened or closed */
  #focusChosen({ target }) {
    if (target instanceof HTMLElement && target.matches("#model-menu:popover-open")) {
      query(target, '.model-row[aria-checked="true"]')?.focus(); // the efforts, which come first, have one too
    }
  }
}
