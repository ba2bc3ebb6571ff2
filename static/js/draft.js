/**
 * What a person has typed and not sent, per conversation, kept in this browser until it is stored by the server.
 *
 * An attempt to send remembers its client id with its very content: sent again unchanged it is the same message,
 * changed it is another one.
 */

import { randomUuid } from "./ids.js";

export class Draft {
  /** @param {string} conversation */
  constructor(conversation) {
    this.key = keyOf(conversation);
  }

  /** From now on this is the draft of *conversation*, with nothing in it yet. */
  moveTo(conversation) {
    this.clear();
    this.key = keyOf(conversation);
  }

  get content() {
    return this.#read().content ?? "";
  }

  set content(content) {
    this.#write({ ...this.#read(), content });
  }

  /** Return the client id under which *content* is to be sent. */
  clientIdFor(content) {
    const { attempt } = this.#read();
    const clientId = attempt?.content === content ? attempt.clientId : randomUuid();
    this.#write({ content, attempt: { content, clientId } });
    return clientId;
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
