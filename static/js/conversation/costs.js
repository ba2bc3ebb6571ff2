/** What the conversation has cost so far, in the header, and the switch that hides all costs. */

import { postForm } from "../server/http.js";

export class Costs {
  /**
   * @param {HTMLElement} element
   * @param {{onSwitched: () => void, onRefused: (error: Error) => void}} handlers
   */
  constructor(element, { onSwitched, onRefused }) {
    Object.assign(this, { element, onSwitched, onRefused });
    this.html = "";
    element.addEventListener("click", (event) => this.#switch(event));
  }

  /** Show *html*, in which the panel stays open and the focus where it was. */
  show(html) {
    if (html === this.html) {
      return;
    }
    const isOpen = Boolean(this.element.querySelector(":popover-open"));
    const action = this.element.contains(document.activeElement) && document.activeElement.dataset.action;
    this.element.innerHTML = this.html = html;
    if (isOpen) {
      this.element.querySelector("[popover]").showPopover();
    }
    if (action) {
      this.element.querySelector(`[data-action="${action}"]`)?.focus();
    }
  }

  async #switch(event) {
    const button = event.target.closest('[data-action="show-costs"]');
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
