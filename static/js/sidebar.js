/** The list of conversations beside the thread: its titles and its current entry. */

export class Sidebar {
  /**
   * @param {HTMLElement} element
   * @param {string} conversation
   */
  constructor(element, conversation) {
    Object.assign(this, { element, conversation });
    element.addEventListener("htmx:afterRequest", ({ detail }) => detail.requestConfig.verb === "post" && this.#close());
  }

  /** Show the conversation under its title, everywhere it stands; a new one joins the list. */
  showTitle(title) {
    for (const heading of document.querySelectorAll("[data-conversation-title]")) {
      heading.textContent = title;
    }
    document.title = title;
    const link = this.element.querySelector(`[data-entry="${this.conversation}"]`);
    if (link) {
      link.textContent = title;
    } else {
      this.#reload();
    }
  }

  /** Once something was done in the drawer, the note that says so must not lie below it. */
  #close() {
    if (this.element.matches(":popover-open")) {
      this.element.hidePopover();
    }
  }

  #reload() {
    window.htmx?.trigger(this.element.querySelector("[data-list]"), "reload");
  }
}
