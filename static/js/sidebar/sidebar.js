/** The list of conversations beside the thread: its titles, its current entry, and which of them await approval. */

import { dataOf, find, query, queryAll } from "../shared/dom.js";
import { htmx, isPost } from "../shared/htmx.js";
import { sentence } from "../shared/sentences.js";
import { drawTabStop, startListKeys } from "./list_keys.js";

/** @import { ConversationAwaitsApproval, ConversationRenamed } from "../server/frames.js" */

export class Sidebar {
  /** The conversation that the page shows. */
  conversation = "";
  title = "";

  /**
   * @param {HTMLElement} element
   * @param {{onAwaitingApproval: (sentence: string) => void}} handlers told of each other conversation that begins to ask
   */
  constructor(element, { onAwaitingApproval }) {
    this.element = element;
    this.onAwaitingApproval = onAwaitingApproval;
    this.awaiting = this.#listedAsAwaiting;
    /** @type {Set<string>} */
    this.untold = new Set();
    startListKeys(element);
    element.addEventListener("htmx:configRequest", (event) => this.#nameCurrent(event));
    element.addEventListener("htmx:afterRequest", (event) => isPost(event) && this.close());
    element.addEventListener("htmx:load", (event) => this.#arrived(event));
  }

  /**
   * Show which conversation the page shows now, under the title that stands there.
   * @param {string} conversation
   * @param {{isStored: boolean}} options one that is not has no place in the list yet
   */
  enter(conversation, { isStored }) {
    const isFirst = !this.conversation; // the list came with it
    this.conversation = conversation;
    this.title = find(document, "[data-conversation-title]").textContent;
    this.#mark(query(this.element, ".new-conversation"), !isStored);
    this.#draw();
    if (isStored && !isFirst && !this.#entry(conversation)) {
      this.reload(); // begun elsewhere
    }
  }

  /**
   * Show the conversation under its title, everywhere it stands; a new one joins the list.
   * @param {string} title
   */
  showTitle(title) {
    this.title = title;
    for (const heading of queryAll(document, "[data-conversation-title]")) {
      heading.textContent = title;
    }
    this.#drawTab();
    const entry = this.#entry(this.conversation);
    if (entry) {
      find(entry, "[data-entry-title]").textContent = title;
    } else {
      this.reload();
    }
  }

  /** @param {ConversationRenamed} frame */
  takeRenamed({ conversation, title }) {
    if (conversation === this.conversation) {
      this.showTitle(title);
      return;
    }
    const entry = this.#entry(conversation);
    if (entry) {
      find(entry, "[data-entry-title]").textContent = title;
    }
  }

  /**
   * Show which conversations wait for the user's answer, and no others.
   * @param {string[]} conversations
   */
  showAwaitingApproval(conversations) {
    const news = conversations.filter((conversation) => !this.awaiting.has(conversation));
    this.untold = new Set([...news, ...conversations.filter((conversation) => this.untold.has(conversation))]);
    this.awaiting = new Set(conversations);
    this.#draw();
    this.#tell();
    if (news.some((conversation) => !this.#entry(conversation))) {
      this.reload(); // begun in another tab: it has to be in the list to be found
    }
  }

  /** @param {ConversationAwaitsApproval} frame */
  takeAwaitingApproval({ conversation, awaiting_approval: isAwaiting }) {
    const others = [...this.awaiting].filter((each) => each !== conversation);
    this.showAwaitingApproval(isAwaiting ? [...others, conversation] : others);
  }

  /** @returns {Set<string>} */
  get #listedAsAwaiting() {
    return new Set(JSON.parse(dataOf(find(this.element, "[data-list]"), "awaitingIds")));
  }

  /** @param {string} conversation */
  #entry(conversation) {
    return query(this.element, `[data-entry="${conversation}"]`);
  }

  /**
   * A list that has taken the place knows best; of a further page of it the frames may know more.
   * @param {Event} event
   */
  #arrived({ target }) {
    if (target instanceof Element && target.matches("[data-list]")) {
      this.awaiting = this.#listedAsAwaiting;
    }
    this.#draw();
    this.#tell();
  }

  #draw() {
    for (const entry of queryAll(this.element, "[data-entry]")) {
      const isCurrent = dataOf(entry, "entry") === this.conversation;
      this.#mark(entry, isCurrent);
      entry.closest(".entry")?.classList.toggle("is-current", isCurrent);
      find(entry, "[data-entry-awaiting-approval]").hidden = !this.awaiting.has(dataOf(entry, "entry"));
    }
    drawTabStop(this.element);
    this.#drawTab();
  }

  /**
   * @param {HTMLElement | null} link
   * @param {boolean} isCurrent
   */
  #mark(link, isCurrent) {
    isCurrent ? link?.setAttribute("aria-current", "page") : link?.removeAttribute("aria-current");
  }

  /** The server marks the current entry of a list, and answers the deletion of the current one in another way. */
  #nameCurrent(/** @type {Event} */ event) {
    const { detail } = /** @type {CustomEvent<{parameters: Record<string, string>}>} */ (event);
    detail.parameters.current = this.conversation;
  }

  #drawTab() {
    const count = this.awaiting.size ? `(${this.awaiting.size}) ` : "";
    document.title = `${count}${this.title} · ${this.element.dataset.site}`;
  }

  /** Tell of each that has begun to ask and is in the list. The one that the page shows speaks for itself. */
  #tell() {
    for (const conversation of [...this.untold]) {
      const entry = this.#entry(conversation);
      if (entry) {
        this.untold.delete(conversation);
      }
      if (entry && conversation !== this.conversation) {
        const title = find(entry, "[data-entry-title]").textContent;
        this.onAwaitingApproval(sentence("awaitingApproval", { title }));
      }
    }
  }

  /** Once something was done in the drawer, the note that says so must not lie below it. */
  close() {
    if (this.element.matches(":popover-open")) {
      this.element.hidePopover();
    }
  }

  reload() {
    htmx()?.trigger(find(this.element, "[data-list]"), "reload");
  }
}
