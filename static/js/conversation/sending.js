/**
 * Sending a message to the conversation of the page, which is stored by its first message or document: at once, or once
 * the reply that is being made has ended.
 */

import { postForm, Refusal } from "../server/http.js";
import { fieldOf, find } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";
import { isNotFound } from "./deleted_note.js";

/**
 * @import { AttachedPictures } from "../composer/attached_pictures.js"
 * @import { Attempt, Draft } from "../composer/draft.js"
 * @import { MessageQueue } from "../composer/message_queue.js"
 * @import { Connection } from "../server/connection.js"
 * @import { DeletedNote } from "./deleted_note.js"
 */

export class Sending {
  #skipsQueue = false; // whether the message that is sent next stops the reply, and is not to wait for its end

  /**
   * @param {HTMLElement} page
   * @param {object} options
   * @param {Connection} options.connection
   * @param {Draft} options.draft
   * @param {string} options.url the address of the conversation
   * @param {import("../shell/navigation.js").Navigation} options.navigation
   * @param {() => DeletedNote} options.deletedNote
   * @param {() => MessageQueue} options.queue
   * @param {() => AttachedPictures} options.pictures
   * @param {(note: string) => void} options.onSent told what there is to say about it, if anything
   * @param {() => void} options.onLeft told that it is stored when the page has been left meanwhile
   * @param {AbortSignal} options.signal of the page, which may be left while a message is on its way
   */
  constructor(page, { connection, deletedNote, queue, pictures, draft, url, navigation, onSent, onLeft, signal }) {
    this.deletedNote = deletedNote;
    this.queue = queue;
    this.pictures = pictures;
    this.onSent = onSent;
    this.navigation = navigation;
    this.onLeft = onLeft;
    this.signal = signal;
    this.page = page;
    this.connection = connection;
    this.draft = draft;
    this.url = url;
  }

  /**
   * Send a message, or queue it while a reply is being made, also where that began in another tab.
   * @param {string} content
   * @param {Attempt} attempt
   */
  async sendOrQueue(content, attempt) {
    this.deletedNote().refuseIfDeleted();
    const queue = this.queue();
    if (!queue.isNeeded) {
      try {
        await this.send(content, attempt);
        return;
      } catch (error) {
        if (!(error instanceof Refusal) || error.code !== "reply_in_progress") {
          throw error;
        }
        this.connection.sync();
      }
    }
    const pictures = this.pictures().stored.filter(({ id }) => attempt.pictures.includes(id));
    queue.put({ content, pictures, clientId: attempt.clientId });
    this.draft.clear();
    if (this.#skipsQueue) {
      this.#skipsQueue = false;
      queue.sendNow();
    }
  }

  /**
   * Stop the reply and send what is typed; if nothing is, what is queued.
   * @param {boolean} isTyped whether something is
   */
  stopAndSend(isTyped) {
    const queue = this.queue();
    if (queue.isNeeded && !isTyped) {
      queue.sendNow();
      return;
    }
    this.#skipsQueue = queue.isNeeded;
    this.#form.requestSubmit();
  }

  /**
   * Send a message at once. Throws a `Refusal`, which says so where the conversation was deleted.
   * @param {string} content
   * @param {Attempt} attempt
   */
  async send(content, attempt) {
    const deletedNote = this.deletedNote();
    deletedNote.refuseIfDeleted();
    try {
      await this.#post(content, attempt);
    } catch (error) {
      if (isNotFound(error) && (await deletedNote.look())) {
        deletedNote.refuseIfDeleted();
      }
      throw error;
    }
  }

  /**
   * @param {string} content
   * @param {Attempt} attempt
   */
  async #post(content, attempt) {
    if (attempt.conversation !== this.connection.conversation) {
      await this.#sendAgainElsewhere(content, attempt);
      return;
    }
    const { cleaned } = await this.connection.post(content, attempt.clientId, attempt.pictures);
    this.markStored();
    this.onSent(cleaned ? sentence("cleaned") : "");
  }

  /** The conversation is stored: from now on the page is its own. */
  markStored() {
    fieldOf(this.#form, "conversation").value = this.connection.conversation;
    this.draft.markStored();
    this.page.setAttribute("data-stored", "");
    find(this.page, ".title-open", HTMLButtonElement).disabled = false;
    if (this.signal.aborted) {
      this.onLeft();
    } else {
      this.navigation.nameAddress(this.url);
    }
  }

  get #form() {
    return find(this.page, '[data-part="composer"]', HTMLFormElement);
  }

  /**
   * The first message of another new conversation, whose answer was lost before the page was reloaded: go there.
   * @param {string} content
   * @param {Attempt} attempt
   */
  async #sendAgainElsewhere(content, { clientId, pictures, conversation: other }) {
    const { beginning, conversation, urls } = this.connection;
    const messagesThere = urls.messages.replace(conversation, other);
    try {
      await postForm(messagesThere, { ...beginning, client_id: clientId, content, pictures: pictures.map(String) });
    } catch (error) {
      if (error instanceof Refusal && error.code === "conversation_not_found") {
        this.draft.clear(); // it was stored and has been deleted: the next attempt is a new message
      }
      throw error;
    }
    this.draft.clear();
    this.signal.aborted || this.navigation.replace(this.url.replace(conversation, other));
  }
}
