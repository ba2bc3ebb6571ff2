/**
 * What was typed and not sent, per conversation, kept in this browser until it is stored by the server.
 *
 * An attempt to send remembers its client id and its conversation with its very content: sent again unchanged it is
 * the same message, even from the page of another new conversation; changed it is another one.
 */

/**
 * @typedef {{content: string, clientId: string, conversation: string}} Attempt
 * @typedef {{content?: string, attempt?: Attempt}} StoredDraft
 */

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
  markStored() {
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
   * @param {string} content
   * @returns {Attempt}
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

  /** @returns {StoredDraft} */
  #read() {
    try {
      return JSON.parse(localStorage.getItem(this.key) ?? "null") ?? {};
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
      localStorage.setItem(this.key, JSON.stringify(draft));
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
