/** A streaming reply on the page: its steps and calls, finished blocks as HTML, and the open block behind them. */

import { labelCopyButtons } from "../shared/copy_buttons.js";
import { find, query } from "../shared/dom.js";
import { OpenBlock } from "./open_block.js";
import { ReplyText } from "./reply_text.js";
import { rememberColumns, restoreColumns } from "./table_columns.js";
import { rememberThinking, restoreThinking, Thinking } from "./thinking.js";
import { rememberCalls, restoreCalls, updateCalls } from "./tool_calls.js";

/**
 * @import { ReplyPiece, ReplyRestarted } from "../server/frames.js"
 * @import { Change } from "./reply_text.js"
 */

export class ReplyView {
  /**
   * @param {HTMLElement} article as the server draws a message whose state is streaming
   * @param {() => void} [onThinking] told when the language model begins to think
   */
  constructor(article, onThinking) {
    this.article = article;
    this.thinking = new Thinking(article, onThinking);
    this.text = new ReplyText(storedText(article));
    this.open = this.#openBlock();
    this.open.redraw();
    /** @type {ReplyPiece[]} */
    this.ahead = []; // pieces of steps that the page is not at yet
  }

  /** The step that is shown: with each, the text begins from nothing. */
  get step() {
    return Number(this.article.dataset.step);
  }

  get hasGap() {
    return this.text.hasGap || this.thinking.hasGap || this.ahead.length > 0;
  }

  /**
   * Show a piece of the reply's text. The texts of two steps never mix.
   * @param {ReplyPiece} piece
   */
  take(piece) {
    if (piece.step > this.step) {
      this.ahead.push(piece);
    } else if (piece.step === this.step && piece.type === "reply.reasoning") {
      this.thinking.take(piece.at, piece.text);
      this.showWebSearch(false);
    } else if (piece.step === this.step && piece.type === "reply.delta") {
      this.thinking.pause();
      this.#show(this.text.takeText(piece.at, piece.text));
    } else if (piece.step === this.step && piece.type === "reply.html") {
      this.#show(this.text.takeBlock(piece.start, piece.end, piece.html));
    }
  }

  /**
   * Say that the web is searched, until something comes of the reply.
   * @param {boolean} lasts
   */
  showWebSearch(lasts) {
    const line = query(this.article, "[data-web-search]");
    if (line) {
      line.hidden = !lasts || this.text.length > 0 || this.thinking.text.length > 0 || this.step > 1;
    }
  }

  /**
   * Begin the text again from nothing. A restart of a step that is not shown yet comes with that step's stored state.
   * @param {ReplyRestarted} restarted
   */
  restart({ step }) {
    if (step !== this.step) {
      return;
    }
    this.text = new ReplyText({ tailAt: 0, tail: "" });
    find(this.article, "[data-blocks]").replaceChildren();
    this.#show({ blocks: [], redraw: true, appended: "" });
  }

  /**
   * Show the stored state in *article*, unless everything in it is on the page already.
   * @param {HTMLElement} article
   */
  adopt(article) {
    const step = Number(article.dataset.step);
    if (step > this.step) {
      this.#beginStep(article);
    } else if (step === this.step) {
      this.#catchUp(article);
    }
  }

  /** @param {HTMLElement} article */
  #beginStep(article) {
    const pieces = this.ahead;
    this.#replace(article);
    this.text = new ReplyText(storedText(article));
    this.open.redraw();
    this.thinking = new Thinking(article, this.thinking.onBegun);
    this.ahead = [];
    for (const piece of pieces) {
      this.take(piece);
    }
  }

  /** @param {HTMLElement} article */
  #catchUp(article) {
    const stored = storedText(article);
    if (!this.text.isBehind(new ReplyText(stored)) && !this.thinking.isBehind(article)) {
      updateCalls(this.article, article);
      this.showWebSearch(query(article, "[data-web-search]")?.hidden === false);
      this.thinking.follow(article);
      this.#updateNote(article);
      return;
    }
    const { text, change } = this.text.mergedInto(stored);
    const { thinking } = this;
    const columns = rememberColumns(this.article);
    this.#replace(article);
    this.text = text;
    this.open.redraw();
    restoreColumns(columns, article);
    this.thinking = thinking.movedTo(article);
    this.#show(change);
    if (text.length > 0) {
      this.thinking.pause();
    }
  }

  /**
   * Show the note of a stored reply that waits, and no other.
   * @param {HTMLElement} article
   */
  #updateNote(article) {
    const stored = article.querySelector("[data-state-note]");
    this.article.querySelector("[data-state-note]")?.remove();
    if (stored) {
      find(this.article, ".message-foot").before(stored);
    }
  }

  /** @param {HTMLElement} article */
  #replace(article) {
    const [calls, thinking] = [rememberCalls(this.article), rememberThinking(this.article)];
    this.article.replaceWith(article);
    this.article = article;
    this.open.stop();
    restoreCalls(calls, article);
    restoreThinking(thinking, article);
    this.open = this.#openBlock();
  }

  #openBlock() {
    const passages = Number(this.article.dataset.passages ?? 0);
    return new OpenBlock(find(this.article, "[data-tail]"), () => this.text.tail, passages);
  }

  /**
   * So many passages may be cited from here on.
   * @param {number} passages
   */
  showPassages(passages) {
    this.article.dataset.passages = String(passages);
    this.open.stop();
    this.open = this.#openBlock();
    this.open.redraw();
  }

  /** @param {Change} change */
  #show({ blocks, redraw, appended }) {
    const columns = blocks.length ? rememberColumns(this.article) : [];
    if (blocks.length) {
      find(this.article, "[data-blocks]").insertAdjacentHTML("beforeend", blocks.join(""));
      labelCopyButtons(this.article);
    }
    if (redraw) {
      this.open.redraw();
    } else if (appended) {
      this.open.append(appended);
    }
    restoreColumns(columns, this.article);
    this.article.classList.toggle("is-waiting", this.text.length === 0);
    if (this.text.length > 0 || this.thinking.text.length > 0) {
      this.showWebSearch(false);
    }
  }
}

/** @param {HTMLElement} article */
function storedText(article) {
  const tail = find(article, "[data-tail]");
  return { tailAt: Number(tail.dataset.at), tail: tail.textContent };
}
