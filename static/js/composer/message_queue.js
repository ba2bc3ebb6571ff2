/**
 * The queued message: written while a reply streams, kept in this browser, and sent once that reply has ended.
 *
 * It is kept with its client id, so that two tabs which send it store one message. It waits, and says why, where the
 * reply did not end as it was to: then the user may want to say something else.
 */

import { Refusal, sentenceFor } from "../server/http.js";
import { find } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";

/**
 * @import { AttachedPicture } from "./attached_pictures.js"
 * @import { Attempt } from "./draft.js"
 *
 * @typedef {object} QueuedMessage
 * @property {string} content
 * @property {AttachedPicture[]} pictures
 * @property {string} clientId
 * @property {number} at when it was queued, in milliseconds
 * @property {boolean} isUrgent to be sent however the reply ends: the user has stopped it for that
 *
 * @typedef {"writing" | "awaiting" | "failed" | "interrupted" | "stopped" | "complete"} ReplyState of the last reply
 */

const LEFT_AFTER_MS = 10 * 60_000;

export class MessageQueue {
  /** Why it was not sent though it could have been, in a sentence. */
  #problem = "";
  #isSending = false;
  #isLeft = false;
  /** @type {QueuedMessage | null} what the storage does not take, as in some private windows */
  #notStored = null;

  /**
   * @param {HTMLElement} element the line above the composer
   * @param {object} options
   * @param {string} options.conversation
   * @param {Storage} options.storage
   * @param {() => ReplyState} options.replyState
   * @param {(content: string, attempt: Attempt) => Promise<void>} options.send
   * @param {(message: QueuedMessage) => void} options.onEdit told when it goes back into the field
   * @param {() => void} options.stop the reply
   * @param {(sentence: string) => void} options.say
   * @param {AbortSignal} options.signal ends it
   */
  constructor(element, { conversation, storage, replyState, send, onEdit, stop, say, signal }) {
    this.element = element;
    this.conversation = conversation;
    this.storage = storage;
    this.key = `queued:${conversation}`;
    this.replyState = replyState;
    this.send = send;
    this.onEdit = onEdit;
    this.stop = stop;
    this.say = say;
    this.signal = signal;
    const { message } = this;
    this.#isLeft = Boolean(message && !this.isNeeded && Date.now() - message.at > LEFT_AFTER_MS);
    find(element, '[data-action="send-queued"]').addEventListener("click", () => this.sendNow());
    find(element, '[data-action="edit-queued"]').addEventListener("click", () => this.edit());
    find(element, '[data-action="remove-queued"]').addEventListener("click", () => this.#remove());
    addEventListener("storage", ({ key }) => key === this.key && this.consider(), { signal });
  }

  /** Whether a message has to be queued, because a reply is being made. */
  get isNeeded() {
    return ["writing", "awaiting"].includes(this.replyState());
  }

  /** @returns {QueuedMessage | null} what this or another tab has queued */
  get message() {
    try {
      return JSON.parse(this.storage.getItem(this.key) ?? "null") ?? this.#notStored;
    } catch {
      return null;
    }
  }

  /**
   * Queue a message; behind one that is queued already, it becomes the end of that.
   * @param {{content: string, pictures: AttachedPicture[], clientId: string}} message
   */
  put({ content, pictures, clientId }) {
    const before = this.message;
    const ids = new Set(before?.pictures.map(({ id }) => id));
    this.#keep({
      content: [before?.content, content].filter(Boolean).join("\n\n"),
      pictures: [...(before?.pictures ?? []), ...pictures.filter(({ id }) => !ids.has(id))],
      clientId,
      at: Date.now(),
      isUrgent: before?.isUrgent ?? false,
    });
    this.#problem = "";
    this.#isLeft = false;
    this.say(sentence("queued"));
    this.consider();
  }

  /** Send it without waiting any longer; a reply that is being made is stopped for that. */
  sendNow() {
    const { message } = this;
    if (!message) {
      return;
    }
    this.#keep({ ...message, isUrgent: true });
    this.#problem = "";
    this.#isLeft = false;
    if (this.isNeeded) {
      this.stop();
    }
    this.consider();
  }

  /**
   * Take it back into the field.
   * @returns {boolean} whether there was one
   */
  edit() {
    const { message } = this;
    if (!message || this.#isSending) {
      return false;
    }
    this.#forget(message);
    this.onEdit(message);
    return true;
  }

  /** Something may have changed on which it depends: send it if nothing keeps it back any more. */
  consider() {
    const { message } = this;
    const why = message ? this.#whyItWaits(message) : "";
    this.#draw(message, why);
    if (message && !why && !this.#isSending && !this.signal.aborted) {
      this.#send(message);
    }
  }

  /** The server can be reached again. */
  tryAgain() {
    if (this.#problem === sentence("unreachable")) {
      this.#problem = "";
      this.consider();
    }
  }

  /** @param {QueuedMessage} message */
  async #send({ content, pictures, clientId }) {
    this.#isSending = true;
    const ids = pictures.map(({ id }) => id);
    try {
      await this.send(content, { content, pictures: ids, clientId, conversation: this.conversation });
      this.#forget({ clientId });
    } catch (error) {
      const isTooEarly = error instanceof Refusal && error.code === "reply_in_progress"; // begun in another tab
      this.#problem = isTooEarly ? "" : sentenceFor(error);
      if (error instanceof Refusal && !isTooEarly) {
        this.#keep({ content, pictures, clientId, at: Date.now(), isUrgent: false });
      }
    } finally {
      this.#isSending = false;
      this.#draw(this.message, this.#problem);
    }
  }

  /**
   * @param {QueuedMessage} message
   * @returns {string} a sentence; empty if nothing keeps it back
   */
  #whyItWaits({ isUrgent }) {
    const state = this.replyState();
    if (state === "writing") {
      return sentence("queuedUntilEnd");
    }
    if (state === "awaiting") {
      return sentence("queuedUntilApproval");
    }
    if (this.#problem || isUrgent || (state === "complete" && !this.#isLeft)) {
      return this.#problem;
    }
    if (this.#isLeft) {
      return sentence("queuedAndLeft");
    }
    return sentence(state === "stopped" ? "queuedAndStopped" : "queuedAndFailed");
  }

  /**
   * @param {QueuedMessage | null} message
   * @param {string} why
   */
  #draw(message, why) {
    this.element.hidden = !message;
    const pictures = message?.pictures.length
      ? sentence("queuedPictures", { count: String(message.pictures.length) })
      : "";
    find(this.element, "[data-text]").textContent = [message?.content.replace(/\s+/g, " "), pictures]
      .filter(Boolean)
      .join(" · ");
    const line = find(this.element, "[data-why]");
    if (line.textContent !== why) {
      line.textContent = why;
    }
    this.element.classList.toggle("is-held", Boolean(message) && !this.isNeeded && Boolean(why));
    this.element.classList.toggle("has-problem", Boolean(this.#problem));
  }

  #remove() {
    const { message } = this;
    if (message) {
      this.#forget(message);
      this.say(sentence("queuedRemoved"));
    }
  }

  /** @param {QueuedMessage} message */
  #keep(message) {
    try {
      this.#notStored = null;
      this.storage.setItem(this.key, JSON.stringify(message));
    } catch (error) {
      this.#notStored = message;
      console.warn("The queued message is not kept:", error);
    }
  }

  /**
   * Forget it, unless another one has been queued meanwhile.
   * @param {{clientId: string}} message
   */
  #forget({ clientId }) {
    if (this.message?.clientId === clientId) {
      this.storage.removeItem(this.key);
      this.#notStored = null;
    }
    this.#problem = "";
    this.#isLeft = false;
    this.#draw(this.message, "");
  }
}
