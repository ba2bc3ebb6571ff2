/** A streaming reply on the page: finished blocks as HTML, the tail behind them as text. */

import { labelCopyButtons } from "./copy.js";
import { ReplyText } from "./reply_text.js";

export class ReplyView {
  /** @param {HTMLElement} article as the server draws a message whose state is streaming */
  constructor(article) {
    this.article = article;
    this.text = new ReplyText(storedText(article));
  }

  get hasGap() {
    return this.text.hasGap;
  }

  takeText(at, text) {
    this.#show(this.text.takeText(at, text));
  }

  takeBlock(start, end, html) {
    this.#show(this.text.takeBlock(start, end, html));
  }

  /** Show the stored state in *article*, unless everything in it is on the page already. */
  adopt(article) {
    const stored = storedText(article);
    if (!this.text.isBehind(new ReplyText(stored))) {
      return;
    }
    const { text, change } = this.text.mergedInto(stored);
    this.article.replaceWith(article);
    this.article = article;
    this.text = text;
    this.#show(change);
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
