/**
 * What was typed and not sent, per conversation, kept in this browser until it is stored by the server.
 *
 * An attempt to send remembers its client id and its conversation with its very content: sent again unchanged it is
 * the same message, even from the page of another new conversation; changed it is another one.
 */

/**
 * @import { AttachedPicture } from "./attached_pictures.js"
 *
 * @typedef {{content: string, pictures: number[], clientId: string, conversation: string}} Attempt
 * @typedef {{content?: string, attempt?: Attempt, pictures?: AttachedPicture[]}} StoredDraft
 */

export class Draft {
  /**
   * @param {string} conversation
   * @param {object} options
   * @param {boolean} options.isStored new conversations share one draft, whatever id the server has chosen for each
   * @param {Storage} [options.storage] that of the tab for a temporary conversation
   */
  constructor(conversation, { isStored, storage = localStorage }) {
    this.conversation = conversation;
    this.storage = storage;
    this.key = isStored ? keyOf(conversation) : keyOf("new");
  }

  /** The conversation is stored: what is typed from now on belongs to it. */
  markStored() {
    this.clear();
    this.key = keyOf(this.conversation);
  }

  get content() {
    return this.#read().content ?? "";
  }

  set content(content) {
    this.#keep({ ...this.#read(), content });
  }

  get pictures() {
    return this.#read().pictures ?? [];
  }

  set pictures(pictures) {
    this.#keep({ ...this.#read(), pictures });
  }

  /** @param {StoredDraft} draft */
  #keep(draft) {
    draft.content || draft.attempt || draft.pictures?.length ? this.#write(draft) : this.clear();
  }

  /**
   * Return the client id under which *content* is to be sent with *pictures*, and the conversation.
   * @param {string} content
   * @param {number[]} [pictures] their ids
   * @returns {Attempt}
   */
  attemptFor(content, pictures = []) {
    const { attempt, ...draft } = this.#read();
    if (attempt?.content === content && String(attempt.pictures ?? []) === String(pictures)) {
      return { ...attempt, pictures };
    }
    const first = { content, pictures, clientId: randomUuid(), conversation: this.conversation };
    this.#write({ ...draft, content, attempt: first });
    return first;
  }

  clear() {
    this.storage.removeItem(this.key);
  }

  /** @returns {StoredDraft} */
  #read() {
    try {
      return JSON.parse(this.storage.getItem(this.key) ?? "null") ?? {};
    } catch {
      return {};
    }
  }

  /**
   * A full or forbidden storage costs the draft's safety, not the typing.
   * @param {StoredDraft} draft
   */
  #write(draft) {
    try {
      this.storage.setItem(this.key, JSON.stringify(draft));
    } catch (error) {
      console.warn("The draft is not kept:", error);
    }
  }
}

/** @param {string} conversation */
function keyOf(conversation) {
  return `draft:${conversation}`;
}

/** A random UUID, also on plain http in a local network, where `crypto.randomUUID` is missing. */
function randomUuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
