/** A streaming reply on the page: its steps and calls, finished blocks as HTML, the tail behind them as text. */

import { labelCopyButtons } from "../shared/copy_buttons.js";
import { ReplyText } from "./reply_text.js";
import { callsIn, goOn, takeCalls } from "./tool_calls.js";

export class ReplyView {
  /** @param {HTMLElement} article as the server draws a message whose state is streaming */
  constructor(article) {
    this.article = article;
    this.text = new ReplyText(storedText(article));
    this.ahead = []; // pieces of steps that the page is not at yet
  }

  /** With each step the text begins anew. */
  get step() {
    return Number(this.article.dataset.step);
  }

  get hasGap() {
    return this.text.hasGap || this.ahead.length > 0;
  }

  /** Take a `reply.delta` or a `reply.html`. The texts of two steps never mix. */
  take(piece) {
    if (piece.step > this.step) {
      this.ahead.push(piece);
    } else if (piece.step === this.step && piece.type === "reply.delta") {
      this.#show(this.text.takeText(piece.at, piece.text));
    } else if (piece.step === this.step) {
      this.#show(this.text.takeBlock(piece.start, piece.end, piece.html));
    }
  }

  /** Show the stored state in *article*, unless everything in it is on the page already. */
  adopt(article) {
    const step = Number(article.dataset.step);
    if (step > this.step) {
      this.#begin(article);
    } else if (step === this.step) {
      this.#goOn(article);
    }
  }

  #begin(article) {
    const pieces = this.ahead;
    this.#replace(article);
    this.text = new ReplyText(storedText(article));
    this.ahead = [];
    for (const piece of pieces) {
      this.take(piece);
    }
  }

  #goOn(article) {
    const stored = storedText(article);
    if (!this.text.isBehind(new ReplyText(stored))) {
      takeCalls(this.article, article);
      return;
    }
    const { text, change } = this.text.mergedInto(stored);
    this.#replace(article);
    this.text = text;
    this.#show(change);
  }

  #replace(article) {
    const reading = callsIn(this.article);
    this.article.replaceWith(article);
    this.article = article;
    goOn(reading, article);
  }

  #show({ blocks, redraw, appended }) {
    const tail = this.article.querySelector("[data-tail]");
    if (blocks.length) {
      this.article.querySelector("[data-blocks]").insertAdjacentHTML("beforeend", blocks.join(""));
      labelCopyButtons(this.article);
    }
    if (redraw) {
      tail.textContent = this.text.tail;
    } else {
      appendText(tail, appended);
    }
    this.article.classList.toggle("is-waiting", this.text.length === 0);
  }
}

function storedText(article) {
  const tail = article.querySelector("[data-tail]");
  return { tailAt: Number(tail.dataset.at), tail: tail.textContent };
}

/** Text nodes are appended to, not rewritten: the work for a long block stays linear. */
function appendText(element, text) {
  if (text && element.lastChild) {
    element.lastChild.appendData(text);
  } else if (text) {
    element.textContent = text;
  }
}
