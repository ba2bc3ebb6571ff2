/**
 * The list of conversations: its titles, its current entry, and which of them await approval or are being written.
 * Those stand on top of it, the others under dates.
 */

import { fetchBundle } from "../shared/bundles.js";
import { closest, dataOf, find, focusedIn, query, queryAll } from "../shared/dom.js";
import { htmx, isPost } from "../shared/htmx.js";
import { isolateName } from "../shared/names.js";
import { MARK } from "../shared/reply_notices.js";
import { sentence } from "../shared/sentences.js";
import { showProblem } from "../shared/toasts.js";
import { hideEmptyGroups, moveEntry } from "./list_order.js";

/**
 * @import { ConversationAwaitsApproval, ConversationRenamed, ConversationWriting, ServerFrame } from "../server/frames.js"
 *
 * @typedef {{xhr: XMLHttpRequest, target: Element}} ListRequest as htmx tells of it
 * @typedef {{elt: Element, parameters: Record<string, string | number>, verb: string}} ListParameters as htmx lets one set them
 */

const OK = 200;
/** Entries that have moved under their dates since a part of the list came: it must not grow by them. */
const MOST_MOVED = 10;

export class Sidebar {
  /** The conversation that the page is about, if it is about one. */
  conversation = "";
  title = "";
  #showsConversation = false;
  /** Whether it was stored when it was opened, or listed since: if the list has it not, it is older or in the archive. */
  #wasListed = false;
  /** What frames have said since the list was asked for: its answer may be older. @type {ServerFrame[] | undefined} */
  #heard;
  /** How many requests are on their way that bring another list. */
  #listRequests = 0;
  /** How many changes may be missing in what they bring. */
  #missedChanges = 0;
  /** Conversations for whose sake the list was asked for, as they were not in it. @type {Set<string>} */
  #soughtFor = new Set();
  #isUnderPointer = false;
  /** How far a list was scrolled that is replaced. */
  #scrollTop = 0;
  /** @type {typeof import("./list_tools.js") | undefined} */
  #tools;

  /**
   * @param {HTMLElement} element
   * @param {{onAwaitingApproval: (sentence: string) => void}} handlers told of each other conversation that begins to await approval
   */
  constructor(element, { onAwaitingApproval }) {
    this.element = element;
    this.onAwaitingApproval = onAwaitingApproval;
    this.awaiting = this.#listedAs("awaitingIds");
    this.writing = this.#listedAs("writingIds");
    /** @type {Set<string>} */
    this.untold = new Set();
    element.addEventListener("focusin", () => this.#fetchTools());
    document.addEventListener("htmx:configRequest", (event) => this.#describe(event)); // also a dialog's
    element.addEventListener("reload", (event) => this.#holdBack(event), { capture: true });
    document.addEventListener("htmx:beforeSend", (event) => this.#noteAsked(event)); // also by the menu of the title
    element.addEventListener(
      "htmx:afterRequest",
      (event) => isPost(event) && !closest(event, ".list-folder") && this.close(),
    );
    document.addEventListener("htmx:beforeSwap", (event) => {
      const { target } = /** @type {CustomEvent<ListRequest>} */ (event).detail; // a dialog may bring another list, too
      if (target.closest("[data-list]")) {
        this.#scrollTop = find(element, "[data-list]").scrollTop;
        this.#tools?.noteFocus(element);
      }
    });
    element.addEventListener("htmx:afterSettle", (event) => this.#openMenu(event));
    element.addEventListener("htmx:load", (event) => this.#arrived(event));
    element.addEventListener("pointerover", (event) =>
      this.#point(event.pointerType === "mouse" && Boolean(closest(event, "[data-list]"))),
    );
    element.addEventListener("pointerleave", () => this.#point(false));
    element.addEventListener("toggle", () => this.#arrange(), { capture: true });
  }

  /**
   * Show which conversation the page shows now, under the title that stands there.
   * @param {string} conversation
   * @param {{isStored: boolean}} options one that is not has no place in the list yet
   */
  enter(conversation, { isStored }) {
    const isFirst = !this.title; // the list came with it
    this.conversation = conversation;
    this.#showsConversation = true;
    this.title = find(document, "[data-conversation-title]").textContent;
    this.#mark(query(this.element, ".new-conversation"), !isStored);
    this.#draw();
    this.#wasListed = isStored;
    if (isStored && !isFirst && !this.#entry(conversation)) {
      this.reload(); // begun elsewhere
    }
  }

  /**
   * Show that the page has something else than a conversation.
   * @param {string} title
   * @param {string} conversation the one that it is about, if there is one
   */
  enterPage(title, conversation) {
    this.conversation = conversation;
    this.#showsConversation = false;
    this.title = title;
    this.#mark(query(this.element, ".new-conversation"), false);
    this.#draw();
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
      this.#wasListed = true;
    } else if (!this.#wasListed) {
      this.reload();
    }
  }

  /**
   * Take a frame that is for all pages of the user; any other is left alone.
   * @param {ServerFrame} frame
   */
  take(frame) {
    switch (frame.type) {
      case "conversation.renamed":
        this.#heard?.push(frame);
        this.#takeRenamed(frame);
        break;
      case "conversation.deleted":
        if (frame.deleted) {
          this.#heard?.push(frame);
          this.remove(frame.conversation);
          this.#missedChanges += 1; // as any other that is told of while the list is on its way
        } else {
          this.reload();
        }
        showPlaces([]);
        break;
      case "list.changed":
        this.reload();
        showPlaces(frame.conversations);
        break;
      case "conversation.awaiting_approval":
        this.#heard?.push(frame);
        this.#takeAwaitingApproval(frame);
        break;
      case "conversation.writing":
        this.#heard?.push(frame);
        this.#takeWriting(frame);
        break;
    }
  }

  /**
   * Show which conversations await the user's approval, and in which a reply is being made, and no others.
   * @param {string[]} awaiting
   * @param {string[]} writing
   */
  showActive(awaiting, writing) {
    const known = new Set([...this.awaiting, ...this.writing]);
    for (const conversation of [...awaiting, ...writing].filter((each) => !known.has(each))) {
      this.#noteBegun(conversation) || this.#raise(conversation);
    }
    this.writing = new Set(writing);
    this.#showAwaiting(awaiting);
  }

  /** @param {ConversationRenamed} frame */
  #takeRenamed({ conversation, title }) {
    if (this.#showsConversation && conversation === this.conversation) {
      this.showTitle(title);
      return;
    }
    const entry = this.#entry(conversation);
    if (entry) {
      find(entry, "[data-entry-title]").textContent = title;
    }
  }

  /**
   * One that awaits approval no longer is being written again, until a frame says that it has ended.
   * @param {ConversationAwaitsApproval} frame
   */
  #takeAwaitingApproval({ conversation, awaiting_approval: isAwaiting }) {
    const others = [...this.awaiting].filter((each) => each !== conversation);
    if (!isAwaiting && this.awaiting.has(conversation)) {
      this.writing.add(conversation);
    }
    this.#showAwaiting(isAwaiting ? [...others, conversation] : others);
  }

  /** @param {ConversationWriting} frame */
  #takeWriting({ conversation, writing: isWriting }) {
    const isNew = isWriting && !this.writing.has(conversation);
    isWriting ? this.writing.add(conversation) : this.writing.delete(conversation);
    if (isNew && !this.#noteBegun(conversation) && !this.#raise(conversation) && !this.#soughtFor.has(conversation)) {
      this.#soughtFor.add(conversation);
      this.reload(); // begun in another tab
    }
    this.#draw();
  }

  /**
   * A reply was begun in a conversation that is not in the list: ask for that where it is the one that is shown.
   * @param {string} conversation
   * @returns {boolean} whether it is the one that is shown
   */
  #raise(conversation) {
    const isShown = conversation === this.conversation;
    isShown && this.#wasListed && this.reload();
    return isShown;
  }

  /**
   * Note that a reply was begun just now: that is where its conversation stands once it has ended.
   * @param {string} conversation
   * @returns {boolean} whether it is in the list
   */
  #noteBegun(conversation) {
    const item = /** @type {HTMLElement | null} */ (this.#entry(conversation)?.closest(".entry"));
    if (item) {
      item.dataset.active = new Date().toISOString();
    }
    return Boolean(item);
  }

  /** @param {string[]} conversations */
  #showAwaiting(conversations) {
    const news = conversations.filter((conversation) => !this.awaiting.has(conversation));
    this.untold = new Set([...news, ...conversations.filter((conversation) => this.untold.has(conversation))]);
    this.awaiting = new Set(conversations);
    this.#draw();
    this.#tell();
    if (news.some((conversation) => !this.#entry(conversation))) {
      this.reload(); // begun in another tab: it has to be in the list to be found
    }
  }

  /**
   * @param {"awaitingIds" | "writingIds"} name
   * @returns {Set<string>}
   */
  #listedAs(name) {
    return new Set(JSON.parse(dataOf(find(this.element, "[data-list]"), name)));
  }

  /** @param {string} conversation */
  #entry(conversation) {
    return conversation ? query(this.element, `[data-entry="${conversation}"]`) : null;
  }

  /**
   * While a list is on its way, only count the change: htmx would queue this request at the list that the answer replaces.
   * @param {Event} event says that the list is to be asked for
   */
  #holdBack(event) {
    if (this.#listRequests) {
      this.#missedChanges += 1;
      event.stopPropagation();
    }
  }

  /**
   * Follow a request that brings a list, by its XHR: htmx tells of its end at elements that may have been replaced.
   *
   * If two overlap, the later answer may be dropped, so that the list is asked for again in any case (`Infinity`). A change
   * that is posted from here is in its answer, and is told of by the socket as well: one missed change is expected then.
   * @param {Event} event
   */
  #noteAsked(event) {
    const { xhr, target } = /** @type {CustomEvent<ListRequest>} */ (event).detail;
    if (!target.matches("[data-list]")) {
      return;
    }
    this.#heard = [];
    this.#missedChanges = this.#listRequests ? Infinity : 0;
    this.#listRequests += 1;
    xhr.addEventListener("loadend", () => {
      this.#listRequests -= 1;
      if (!this.#listRequests) {
        this.#heard = undefined;
        this.#missedChanges > Number(isPost(event) && xhr.status === OK) && this.reload();
      }
    });
  }

  /**
   * A list that has taken the place knows best, but for what was said since; of a further page the frames know more.
   * @param {Event} event
   */
  #arrived({ target }) {
    if (target instanceof Element && target.matches("[data-list]")) {
      target.scrollTop = this.#scrollTop;
      this.awaiting = this.#listedAs("awaitingIds");
      this.writing = this.#listedAs("writingIds");
      const heard = this.#heard ?? [];
      this.#heard = undefined;
      for (const frame of heard) {
        this.take(frame);
      }
    }
    this.#tools?.focusAgain(this.element);
    this.#draw();
    this.#tell();
  }

  /**
   * Open the menu of an entry, which has come.
   * @param {Event} event
   */
  async #openMenu(event) {
    const { detail } = /** @type {CustomEvent<{target: HTMLElement, requestConfig: {elt: HTMLElement}}>} */ (event);
    if (detail.target.id === "entry-menu") {
      await this.#fetchTools();
      this.#tools?.openEntryMenu(detail.target, detail.requestConfig.elt) ?? showProblem(sentence("notOpened"));
    }
  }

  /** Fetch what is needed once the list is used; where that does not come, it is asked for again. */
  async #fetchTools() {
    this.#tools ??= await fetchBundle("listTools");
    this.#tools?.startList(this.element);
  }

  #draw() {
    for (const entry of queryAll(this.element, "[data-entry]")) {
      const conversation = dataOf(entry, "entry");
      const isCurrent = conversation === this.conversation;
      const isAwaiting = this.awaiting.has(conversation);
      this.#mark(entry, isCurrent);
      entry.closest(".entry")?.classList.toggle("is-current", isCurrent);
      find(entry, "[data-entry-awaiting-approval]").hidden = !isAwaiting;
      find(entry, "[data-entry-writing]").hidden = isAwaiting || !this.writing.has(conversation);
    }
    for (const link of queryAll(this.element, ".account-menu > a", HTMLAnchorElement)) {
      this.#mark(link, link.pathname === location.pathname);
    }
    this.#arrange();
    this.#tools?.drawTabStop(this.element);
    this.#drawTab();
  }

  /** @param {boolean} isUnderPointer */
  #point(isUnderPointer) {
    if (this.#isUnderPointer !== isUnderPointer) {
      this.#isUnderPointer = isUnderPointer;
      this.#arrange();
    }
  }

  /** Put each entry where it belongs, unless one may be about to be pressed, or has its menu open: then later. */
  #arrange() {
    if (this.#isUnderPointer || this.element.matches(":popover-open, :has(#entry-menu:popover-open)")) {
      return;
    }
    const list = find(this.element, "[data-list]");
    for (const entry of queryAll(list, "[data-entry]")) {
      const conversation = dataOf(entry, "entry");
      const item = /** @type {HTMLElement} */ (entry.closest(".entry"));
      const isWriting = this.writing.has(conversation);
      const kind = this.awaiting.has(conversation) ? "awaiting" : isWriting ? "writing" : dataOf(item, "place");
      moveEntry(list, item, kind);
    }
    hideEmptyGroups(list);
  }

  /**
   * @param {HTMLElement | null} link
   * @param {boolean} isCurrent
   */
  #mark(link, isCurrent) {
    isCurrent ? link?.setAttribute("aria-current", "page") : link?.removeAttribute("aria-current");
  }

  /**
   * The server marks the current entry of a list, answers the deletion of the current one in another way, and lets a list
   * that comes again be as long.
   *
   * @param {Event} event
   */
  #describe(event) {
    const { elt, parameters, verb } = /** @type {CustomEvent<ListParameters>} */ (event).detail;
    if (verb === "post" || this.element.contains(elt)) {
      parameters.current = this.conversation;
      const moved = query(this.element, "[data-before]") ? MOST_MOVED : 0;
      parameters.listed = Math.max(queryAll(this.element, "[data-since] .entry").length - moved, 0);
    }
  }

  #drawTab() {
    const count = this.awaiting.size ? `(${this.awaiting.size}) ` : "";
    const mark = document.title.startsWith(MARK) ? MARK : "";
    document.title = `${mark}${count}${isolateName(this.title)} · ${this.element.dataset.site}`;
  }

  /** Tell of each that has begun to await approval and is in the list. The one that the page shows speaks for itself. */
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

  /**
   * Take a conversation off the list that is there no more; the focus goes to the next one, or where one begins.
   * @param {string} conversation
   */
  remove(conversation) {
    const item = this.#entry(conversation)?.closest(".entry");
    if (!item) {
      return;
    }
    const entries = queryAll(this.element, "[data-entry]");
    const at = entries.findIndex((entry) => item.contains(entry));
    const next = focusedIn(item) && (entries[at + 1] ?? entries[at - 1] ?? query(this.element, ".new-conversation"));
    item.remove();
    this.awaiting.delete(conversation);
    this.writing.delete(conversation);
    this.#draw();
    next?.focus();
  }

  /** Once something was done in the drawer, the note that says so must not lie below it. */
  close() {
    for (const open of [query(this.element, ".account-menu"), this.element]) {
      if (open?.matches(":popover-open")) {
        open.hidePopover();
      }
    }
  }

  /** Take the focus back from a dialog that was opened from the list; return whether there was one. */
  takeFocus() {
    return this.#tools?.takeFocus();
  }

  reload() {
    htmx()?.trigger(find(this.element, "[data-list]"), "reload");
  }
}

/**
 * Have those parts of the page asked for again that show where one of *conversations*, or any, stands in the list.
 * @param {string[]} conversations
 */
function showPlaces(conversations) {
  const places = ["", ...conversations].map((conversation) => `[data-ordered="${conversation}"]`);
  for (const part of queryAll(document, places.join())) {
    htmx()?.trigger(part, "ordered");
  }
}
