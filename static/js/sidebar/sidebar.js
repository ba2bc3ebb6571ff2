/** The list of conversations beside the thread: its titles, its current entry, and which of them ask the person. */

export class Sidebar {
  /**
   * @param {HTMLElement} element
   * @param {string} conversation
   * @param {{onAsks: (sentence: string) => void}} handlers told of each other conversation that begins to ask
   */
  constructor(element, conversation, { onAsks }) {
    Object.assign(this, { element, conversation, onAsks });
    this.title = document.querySelector("[data-conversation-title]").textContent;
    this.asking = this.#listedAsAsking;
    this.untold = new Set();
    element.addEventListener(
      "htmx:afterRequest",
      ({ detail }) => detail.requestConfig.verb === "post" && this.#close(),
    );
    element.addEventListener("htmx:load", ({ target }) => this.#arrived(target));
  }

  /** Show the conversation under its title, everywhere it stands; a new one joins the list. */
  showTitle(title) {
    this.title = title;
    for (const heading of document.querySelectorAll("[data-conversation-title]")) {
      heading.textContent = title;
    }
    this.#drawTab();
    const entry = this.#entry(this.conversation);
    if (entry) {
      entry.querySelector("[data-entry-title]").textContent = title;
    } else {
      this.#reload();
    }
  }

  /** Show which conversations wait for the person's answer, and no others. */
  showAsking(conversations) {
    const news = conversations.filter((conversation) => !this.asking.has(conversation));
    this.untold = new Set([...news, ...conversations.filter((conversation) => this.untold.has(conversation))]);
    this.asking = new Set(conversations);
    this.#draw();
    this.#tell();
    if (news.some((conversation) => !this.#entry(conversation))) {
      this.#reload(); // begun in another tab: it has to be in the list to be found
    }
  }

  /** Take a `conversation.asks`. */
  takeAsking({ conversation, asks }) {
    const others = [...this.asking].filter((each) => each !== conversation);
    this.showAsking(asks ? [...others, conversation] : others);
  }

  get #listedAsAsking() {
    return new Set(JSON.parse(this.element.querySelector("[data-list]").dataset.asking));
  }

  #entry(conversation) {
    return this.element.querySelector(`[data-entry="${conversation}"]`);
  }

  /** A list that has taken the place knows best; of a further page of it the frames may know more. */
  #arrived(piece) {
    if (piece.matches("[data-list]")) {
      this.asking = this.#listedAsAsking;
    }
    this.#draw();
    this.#tell();
  }

  #draw() {
    for (const entry of this.element.querySelectorAll("[data-entry]")) {
      entry.querySelector("[data-entry-asks]").hidden = !this.asking.has(entry.dataset.entry);
    }
    this.#drawTab();
  }

  #drawTab() {
    const count = this.asking.size ? `(${this.asking.size}) ` : "";
    document.title = `${count}${this.title} · ${this.element.dataset.site}`;
  }

  /** Tell of each that has begun to ask and is in the list. The one that the page shows speaks for itself. */
  #tell() {
    for (const conversation of [...this.untold].filter((each) => this.#entry(each))) {
      this.untold.delete(conversation);
      if (conversation !== this.conversation) {
        const title = this.#entry(conversation).querySelector("[data-entry-title]").textContent;
        this.onAsks(this.element.dataset.textAsks.replace("%(title)s", () => title));
      }
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
