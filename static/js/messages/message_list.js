/** The messages on the page, kept the same as what is stored. */

import { labelCopyButtons } from "../shared/copy_buttons.js";
import { localiseTimes } from "../shared/local_times.js";
import { ReplyView } from "./reply_view.js";
import { readingIn, readOn } from "./sources.js";
import { callsIn, goOn } from "./tool_calls.js";

export class Thread {
  /**
   * @param {HTMLElement} list holds the messages
   * @param {object} handlers
   * @param {(article: HTMLElement) => void} handlers.onEnded
   * @param {(call: HTMLElement) => void} handlers.onAsks told of each tool call that begins to ask the person
   */
  constructor(list, { onEnded, onAsks }) {
    Object.assign(this, { list, onEnded, onAsks });
    this.shown = new WeakMap();
    this.asked = new Set(this.#asking.map(({ id }) => id));
    this.#follow();
  }

  get articles() {
    return [...this.list.children].filter(({ dataset }) => "message" in dataset);
  }

  get streamingArticle() {
    return this.articles.findLast(({ dataset }) => dataset.state === "streaming") ?? null;
  }

  get lastReply() {
    return this.articles.findLast((article) => article.dataset.role === "assistant");
  }

  /** The position from which on the page may differ from what is stored. */
  get position() {
    const unsettled = this.streamingArticle ?? this.articles.at(-1);
    return unsettled ? Number(unsettled.dataset.position) : 0;
  }

  /** The position of the oldest message on the page. */
  get firstPosition() {
    return Number(this.articles[0]?.dataset.position ?? 0);
  }

  /** Whether a snapshot follows what stands above it here; if not, a new version further up has been missed. */
  continues({ from_position: position, parent }) {
    const above = this.articles.findLast((article) => Number(article.dataset.position) < position);
    return !above || above.dataset.message === String(parent);
  }

  /** Take a piece of a streaming reply; return whether something before it is missing. */
  takePiece(frame) {
    if (this.reply?.article.dataset.message !== String(frame.reply)) {
      return !document.getElementById(`message-${frame.reply}`);
    }
    this.reply.take(frame);
    return this.reply.hasGap;
  }

  /** Make the page show *messages* from *position* on, and nothing else there. */
  takeSnapshot({ from_position: position, messages }) {
    const stored = new Set(messages.map(({ id }) => String(id)));
    const focus = this.#focus();
    for (const article of this.articles) {
      if (Number(article.dataset.position) >= position && !stored.has(article.dataset.message)) {
        article.remove();
      }
    }
    for (const message of messages) {
      this.#put(message);
    }
    this.#follow();
    this.#restore(focus);
    this.#tellWhatAsks();
  }

  /**
   * Move the focus to the message before (-1) or after (+1) the one that has it; without one, to the last.
   * @returns {boolean} whether there was one to go to
   */
  moveFocus(step) {
    const { articles } = this;
    const index = articles.indexOf(document.activeElement.closest("[data-message]"));
    const next = index < 0 ? articles.at(step < 0 ? -1 : articles.length) : articles[index + step];
    next?.focus();
    return Boolean(next);
  }

  /** Whether a tool call waits for the person's answer. */
  get asks() {
    return this.#asking.length > 0;
  }

  get #asking() {
    return [...this.list.querySelectorAll("[data-asks]")];
  }

  #tellWhatAsks() {
    for (const call of this.#asking.filter(({ id }) => !this.asked.has(id))) {
      this.asked.add(call.id);
      this.onAsks(call);
    }
  }

  #focus() {
    const article = document.activeElement.closest("[data-message]");
    return { position: article?.dataset.position, action: document.activeElement.dataset.action };
  }

  /** A version that takes the place of another one takes its focus too. */
  #restore({ position, action }) {
    if (position && document.activeElement === document.body) {
      focusOn(this.list.querySelector(`[data-position="${position}"]`), action);
    }
  }

  #put({ id, state, html }) {
    const old = document.getElementById(`message-${id}`);
    if (old && this.shown.get(old) === html) {
      return;
    }
    const article = drawn(html);
    this.shown.set(article, html);
    if (!old) {
      this.#insert(article);
    } else if (state === "streaming" && this.reply?.article === old) {
      this.reply.adopt(article);
    } else {
      this.#replace(old, article);
    }
  }

  #insert(article) {
    const position = Number(article.dataset.position);
    const later = this.articles.find((other) => Number(other.dataset.position) > position);
    article.classList.add("is-new");
    later ? later.before(article) : this.list.append(article);
  }

  #replace(old, article) {
    const action = old.contains(document.activeElement) && document.activeElement.dataset.action;
    const editor = old.querySelector(".editor");
    const [reading, calls] = [readingIn(old), callsIn(old)];
    old.replaceWith(article);
    readOn(reading, article);
    goOn(calls, article);
    if (editor) {
      moveEditor(editor, article);
    } else if (action) {
      focusOn(article, action);
    }
    if (old.dataset.state === "streaming") {
      this.onEnded(article);
    }
  }

  #follow() {
    const article = this.streamingArticle;
    if (this.reply?.article !== article) {
      this.reply = article ? new ReplyView(article) : undefined;
    }
  }
}

function focusOn(article, action) {
  const button = action && article?.querySelector(`[data-action="${action}"]:not(:disabled)`);
  (button || article)?.focus();
}

/** What somebody is writing goes on in the message that takes the place. */
function moveEditor(editor, article) {
  article.classList.add("is-edited");
  article.append(editor);
  editor.elements.content.focus();
}

/** Return the message that *html* is, its times in the viewer's words and its links known to htmx. */
function drawn(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  const article = document.importNode(template.content.querySelector("[data-message]"), true);
  localiseTimes(article);
  labelCopyButtons(article);
  window.htmx?.process(article);
  return article;
}
