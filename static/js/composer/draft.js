/**
 * What a person has typed and not sent, per conversation, kept in this browser until it is stored by the server.
 *
 * An attempt to send remembers its client id and its conversation with its very content: sent again unchanged it is
 * the same message, even from the page of another new conversation; changed it is another one.
 */

import { randomUuid } from "../shared/ids.js";

export class Draft {
  /**
   * @param {string} conversation
   * @param {{isStored: boolean}} options new conversations share one draft, whatever id the server has chosen for each
   */
  constructor(conversation, { isStored }) {
    this.conversation = conversation;
    this.key = isStored ? keyOf(conversation) : keyOf("new");
  }

  /** The conversation is stored: what is typed from now on belongs to it. */
  moveIn() {
    this.clear();
    this.key = keyOf(this.conversation);
  }

  get content() {
    return this.#read().content ?? "";
  }

  set content(content) {
    const { attempt } = this.#read();
    content || attempt ? this.#write({ content, attempt }) : this.clear();
  }

  /**
   * Return the client id under which *content* is to be sent, and the conversation.
   * @returns {{clientId: string, conversation: string}}
   */
  attemptFor(content) {
    const { attempt } = this.#read();
    if (attempt?.content === content) {
      return attempt;
    }
    const first = { content, clientId: randomUuid(), conversation: this.conversation };
    this.#write({ content, attempt: first });
    return first;
  }

  clear() {
    localStorage.removeItem(this.key);
  }

  #read() {
    try {
      return JSON.parse(localStorage.getItem(this.key)) ?? {};
    } catch {
      return {};
    }
  }

  /** A full or forbidden storage costs the draft's safety, not the typing. */
  #write(draft) {
    try {
      localStorage.setItem(this.key, JSON.stringify(draft));
    } catch (error) {
      console.warn("The draft is not kept:", error.message);
    }
  }
}

function keyOf(conversation) {
  return `draft:${conversation}`;
}
