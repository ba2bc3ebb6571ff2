/** What the conversation has cost so far, in the header, and the switch that hides all costs. */

import { postForm } from "../server/http.js";
import { closest, find, focusedIn, query } from "../shared/dom.js";

export class Costs {
  /**
   * @param {HTMLElement} element
   * @param {object} handlers
   * @param {() => void} handlers.onSwitched
   * @param {(error: unknown) => void} handlers.onRefused
   */
  constructor(element, { onSwitched, onRefused }) {
    this.element = element;
    this.onSwitched = onSwitched;
    this.onRefused = onRefused;
    this.html = "";
    element.addEventListener("click", (event) => this.#switch(event));
    element.addEventListener("focusout", (event) => this.#closeLeft(event));
  }

  /**
   * Show *html*, in which the panel stays open and the focus where it was.
   * @param {string} html
   */
  show(html) {
    if (html === this.html) {
      return;
    }
    const isOpen = Boolean(query(this.element, ":popover-open"));
    const action = focusedIn(this.element)?.dataset.action;
    this.html = html;
    this.element.innerHTML = html;
    if (isOpen) {
      find(this.element, "[popover]").showPopover();
    }
    if (action) {
      query(this.element, `[data-action="${action}"]`)?.focus();
    }
  }

  /**
   * Close the panel when the focus goes on to something else; a click beside it closes it anyway.
   * @param {FocusEvent} event
   */
  #closeLeft({ relatedTarget }) {
    if (relatedTarget instanceof Node && !this.element.contains(relatedTarget)) {
      query(this.element, ":popover-open")?.hidePopover();
    }
  }

  /** @param {Event} event */
  async #switch(event) {
    const button = closest(event, '[data-action="show-costs"]', HTMLButtonElement);
    if (!button) {
      return;
    }
    event.preventDefault();
    try {
      await postForm(button.formAction, { shows: button.value });
      this.onSwitched();
    } catch (error) {
      this.onRefused(error);
    }
  }
}
