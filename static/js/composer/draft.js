/**
 * What was typed and not sent, per conversation, kept in this browser until it is stored by the server.
 *
 * An attempt to send remembers its client id and its conversation with its very content: sent again unchanged it is
 * the same message, even from the page of another new conversation; changed it is another one.
 *
 * A page may be left before what it sent is answered. One that shows the same draft next keeps it, out of its field: it
 * stands there again only if it was not stored.
 */

/**
 * @import { AttachedPicture } from "./attached_pictures.js"
 *
 * @typedef {{content: string, pictures: number[], clientId: string, conversation: string}} Attempt
 * @typedef {{content?: string, attempt?: Attempt, pictures?: AttachedPicture[]}} StoredDraft
 *
 * @typedef {object} Sent an attempt that is on its way
 * @property {string} content
 * @property {number[]} ids of its pictures
 * @property {AttachedPicture[]} pictures
 * @property {boolean} isTaken whether another page has taken over the draft, so that this one leaves its field alone
 * @property {Promise<void>} answer
 */

/** What is on its way, by client ids. @type {Map<string | undefined, Sent>} */
const underway = new Map();

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
    /** What another page has sent from the draft and has no answer to yet. */
    this.sentBefore = underway.get(this.#read().attempt?.clientId);
    if (this.sentBefore) {
      this.sentBefore.isTaken = true;
    }
  }

  /**
   * Note that an attempt is on its way until it is *answered*.
   * @param {Attempt} attempt
   * @param {Promise<void>} answered
   * @returns {Sent}
   */
  follow({ content, pictures: ids, clientId }, answered) {
    const pictures = this.pictures.filter(({ id }) => ids.includes(id));
    const answer = answered.finally(() => underway.delete(clientId));
    const sent = { content, ids, pictures, isTaken: false, answer };
    underway.set(clientId, sent);
    return sent;
  }

  /** The conversation is stored: what is typed from now on belongs to it. */
  markStored() {
    this.clear();
    this.key = keyOf(this.conversation);
  }

  get content() {
    const { content = "" } = this.#read();
    return this.sentBefore ? typedAfter(this.sentBefore.content, content) : content;
  }

  set content(content) {
    this.#keep({ ...this.#read(), content: putBefore(this.sentBefore?.content, content) });
  }

  get pictures() {
    return this.#read().pictures?.filter(({ id }) => !this.sentBefore?.ids.includes(id)) ?? [];
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

/**
 * @param {string | undefined} sent
 * @param {string} typed
 */
export function putBefore(sent, typed) {
  return [sent, typed].filter(Boolean).join("\n\n");
}

/**
 * Return what of *typed* was typed after *sent*.
 * @param {string} sent
 * @param {string} typed
 */
export function typedAfter(sent, typed) {
  return (typed.startsWith(sent) ? typed.slice(sent.length) : typed).trimStart();
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
