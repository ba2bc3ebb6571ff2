/** The messages on the page, kept the same as the stored ones. */

import { fetchBundle } from "../shared/bundles.js";
import { labelCopyButtons } from "../shared/copy_buttons.js";
import { dataOf, fieldOf, find, focusedIn, query, queryAll } from "../shared/dom.js";
import { htmx } from "../shared/htmx.js";
import { localiseTimes } from "../shared/local_times.js";
import { menuOf } from "./message_menu.js";
import { ReplyView } from "./reply_view.js";
import { rememberSources, restoreSources } from "./sources.js";
import { rememberColumns, restoreColumns } from "./table_columns.js";
import { rememberThinking, restoreThinking } from "./thinking.js";
import { articlesIn } from "./thread_range.js";
import { rememberCalls, restoreCalls } from "./tool_calls.js";

/** @import { ConversationSnapshot, DrawnMessage, ReplyPiece, ReplyRestarted, ReplySearching } from "../server/frames.js" */

export class MessageList {
  /** @type {ReplyView | undefined} the reply that streams */
  #reply;
  /** @type {typeof import("./selected_text.js") | undefined} */
  #selectedText;
  /** @type {WeakMap<HTMLElement, string>} the HTML that each article was drawn from */
  #drawnFrom = new WeakMap();

  /**
   * @param {HTMLElement} list holds the messages
   * @param {import("./thread_range.js").ThreadRange} range which of them are on the page
   * @param {object} handlers
   * @param {(article: HTMLElement) => void} handlers.onEnded
   * @param {() => void} handlers.onThinking told when a reply begins with thinking
   * @param {(call: HTMLElement) => void} handlers.onAwaitingApproval told of each tool call that begins to await approval
   */
  constructor(list, range, { onEnded, onThinking, onAwaitingApproval }) {
    this.list = list;
    this.range = range;
    this.onEnded = onEnded;
    this.onThinking = onThinking;
    this.onAwaitingApproval = onAwaitingApproval;
    this.announced = new Set(this.#awaiting.map(({ id }) => id));
    this.#findStreamingReply();
    const fetchOnce = async () => {
      this.#selectedText = await fetchBundle("selectedText");
    };
    list.addEventListener("selectstart", fetchOnce, { once: true });
  }

  get articles() {
    return articlesIn(this.list);
  }

  get streamingArticle() {
    return this.articles.findLast(({ dataset }) => dataset.state === "streaming") ?? null;
  }

  get lastReply() {
    return this.articles.findLast((article) => article.dataset.role === "assistant");
  }

  /**
   * How the last reply ended, or what it is at.
   * @returns {import("../composer/message_queue.js").ReplyState}
   */
  get replyState() {
    if (this.awaitsApproval) {
      return "awaiting";
    }
    const state = this.streamingArticle ? "writing" : this.lastReply?.dataset.state;
    return /** @type {import("../composer/message_queue.js").ReplyState} */ (state || "complete");
  }

  /** The position from which on the page may differ from what is stored. */
  get position() {
    const unsettled = this.streamingArticle ?? this.articles.at(-1);
    return unsettled ? Number(unsettled.dataset.position) : 0;
  }

  /** The position from which on every message is on the page. */
  get firstPosition() {
    return Number(this.range.newest[0]?.dataset.position ?? 0);
  }

  /**
   * Whether the page has the messages that a snapshot follows, or those that it begins with.
   * @param {ConversationSnapshot} snapshot
   */
  reaches({ from_position: position }) {
    const [first, last] = [this.range.shown[0], this.range.shown.at(-1)].map((it) => Number(it?.dataset.position ?? 0));
    return position >= this.firstPosition || (position >= first && position <= last + 1);
  }

  /**
   * Whether a snapshot follows what stands above it here; if not, a new version further up has been missed.
   * @param {ConversationSnapshot} snapshot
   */
  continues({ from_position: position, parent }) {
    const articles = position > this.firstPosition ? this.range.newest : this.range.shown;
    const above = articles.findLast((article) => Number(article.dataset.position) < position);
    return !above || above.dataset.message === String(parent);
  }

  /**
   * Show a piece of a streaming reply; return whether something before it is missing.
   * @param {ReplyPiece} frame
   */
  takePiece(frame) {
    if (this.#reply?.article.dataset.message !== String(frame.reply)) {
      return !document.getElementById(`message-${frame.reply}`);
    }
    const { article } = this.#reply;
    const selectAgain = this.#selectedText?.rememberSelection(article);
    this.#reply.take(frame);
    selectAgain?.(article);
    return this.#reply.hasGap;
  }

  /**
   * Show that the web is searched for a reply's question, or no longer; return whether the reply is missing.
   * @param {ReplySearching} frame
   */
  takeWebSearch({ reply, lasts }) {
    if (this.#reply?.article.dataset.message !== String(reply)) {
      return !document.getElementById(`message-${reply}`);
    }
    this.#reply.showWebSearch(lasts);
    return false;
  }

  /**
   * So many passages were sent for the question that *reply* answers.
   * @param {number} reply
   * @param {number} passages
   */
  showPassages(reply, passages) {
    if (this.#reply?.article.dataset.message === String(reply)) {
      this.#reply.showPassages(passages);
    }
  }

  /** @param {ReplyRestarted} frame */
  restart(frame) {
    if (this.#reply?.article.dataset.message === String(frame.reply)) {
      this.#reply.restart(frame);
    }
  }

  /**
   * Make the page show the messages of a snapshot from its position on, and nothing else there.
   * @param {ConversationSnapshot} snapshot
   */
  takeSnapshot({ from_position: position, messages }) {
    const stored = new Set(messages.map(({ id }) => String(id)));
    const [focus, before] = [focusNow(), this.#reply];
    for (const article of this.articles) {
      if (Number(article.dataset.position) >= position && !stored.has(dataOf(article, "message"))) {
        article.remove();
      }
    }
    for (const message of messages) {
      this.#put(message);
    }
    this.range.closeGap(position);
    this.#findStreamingReply();
    this.#announceThinking(before);
    this.#restoreFocus(focus);
    this.#announceApprovals();
  }

  /**
   * Move the focus to the message before (-1) or after (+1) the one that has it; without one, to the last.
   * @param {number} step
   * @returns {boolean} whether there was one to go to
   */
  moveFocus(step) {
    const articles = this.range.shown;
    const current = /** @type {HTMLElement | null} */ (focusedIn()?.closest("[data-message]") ?? null);
    const index = current ? articles.indexOf(current) : -1;
    const next = index < 0 ? articles.at(step < 0 ? -1 : articles.length) : articles[index + step];
    if (next) {
      next.focus({ preventScroll: true });
      const isTall = next.offsetHeight > this.range.scroller.clientHeight;
      next.scrollIntoView({ block: isTall ? "start" : "nearest" });
    }
    return Boolean(next);
  }

  /** Whether a tool call awaits approval. */
  get awaitsApproval() {
    return this.#awaiting.length > 0;
  }

  get #awaiting() {
    return queryAll(this.list, "[data-awaiting-approval]");
  }

  /**
   * A reply may have begun to think before it was drawn.
   * @param {ReplyView | undefined} before the one that streamed until then
   */
  #announceThinking(before) {
    if (this.#reply && this.#reply !== before && this.#reply.thinking.lasts) {
      this.onThinking();
    }
  }

  #announceApprovals() {
    for (const call of this.#awaiting.filter(({ id }) => !this.announced.has(id))) {
      this.announced.add(call.id);
      this.onAwaitingApproval(call);
    }
  }

  /**
   * A version that takes the place of another one takes its focus too.
   * @param {ReturnType<typeof focusNow>} focus
   */
  #restoreFocus({ position, action }) {
    if (position && document.activeElement === document.body) {
      focusOn(query(this.list, `[data-position="${position}"]`), action);
    }
  }

  /** @param {DrawnMessage} message */
  #put({ id, state, html }) {
    const old = document.getElementById(`message-${id}`);
    if (old && this.#drawnFrom.get(old) === html) {
      return;
    }
    const article = draw(html);
    this.#drawnFrom.set(article, html);
    if (!old) {
      this.#insert(article);
      return;
    }
    const selectAgain = this.#selectedText?.rememberSelection(old);
    if (state === "streaming" && this.#reply?.article === old) {
      this.#reply.adopt(article);
    } else {
      this.#replace(old, article);
    }
    selectAgain?.(article);
  }

  /** @param {HTMLElement} article */
  #insert(article) {
    const position = Number(article.dataset.position);
    const later = this.articles.find((other) => Number(other.dataset.position) > position);
    article.classList.add("is-new");
    later ? later.before(article) : this.list.append(article);
  }

  /**
   * @param {HTMLElement} old
   * @param {HTMLElement} article
   */
  #replace(old, article) {
    const action = focusedIn(old)?.dataset.action;
    const editor = query(old, ".editor", HTMLFormElement);
    const [sources, calls, thinking] = [rememberSources(old), rememberCalls(old), rememberThinking(old)];
    const columns = rememberColumns(old);
    const menu = query(old, "[data-menu]:popover-open")?.id;
    old.replaceWith(article);
    restoreColumns(columns, article);
    if (menu) {
      menuOf(article)?.showPopover(); // what is chosen from is not taken away
    }
    restoreSources(sources, article);
    restoreCalls(calls, article);
    restoreThinking(thinking, article);
    if (editor) {
      moveEditor(editor, article);
    } else if (action) {
      focusOn(article, action);
    }
    if (old.dataset.state === "streaming") {
      this.onEnded(article);
    }
  }

  #findStreamingReply() {
    const article = this.streamingArticle;
    if (this.#reply?.article !== article) {
      this.#reply = article ? new ReplyView(article, this.onThinking) : undefined;
    }
  }
}

/** Return the position of the message that has the focus, and the button in it. */
function focusNow() {
  const focused = focusedIn();
  const article = /** @type {HTMLElement | null} */ (focused?.closest("[data-message]") ?? null);
  return { position: article?.dataset.position, action: focused?.dataset.action };
}

/**
 * @param {HTMLElement | null} article
 * @param {string | undefined} action
 */
function focusOn(article, action) {
  const button = action && article && query(article, `[data-action="${action}"]:not(:disabled)`);
  if (button) {
    button.focus();
  }
  if (!button || document.activeElement !== button) {
    article?.focus(); // also where the button is in a menu that is closed again
  }
}

/**
 * Move an editor that is open, with what is typed in it, to the message that takes the place.
 * @param {HTMLFormElement} editor
 * @param {HTMLElement} article
 */
function moveEditor(editor, article) {
  article.classList.add("is-edited");
  article.append(editor);
  fieldOf(editor, "content", HTMLTextAreaElement).focus();
}

/**
 * Return the message that *html* is, its times as the viewer reads them and its links known to htmx.
 * @param {string} html
 */
function draw(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  const article = document.importNode(find(template.content, "[data-message]"), true);
  localiseTimes(article);
  labelCopyButtons(article);
  htmx()?.process(article);
  return article;
}
