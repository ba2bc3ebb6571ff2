/** Sending a message: to the conversation of the page, which is stored by its first message or document. */

import { postForm, Refusal } from "../server/http.js";
import { fieldOf, find } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";

/**
 * @import { Attempt, Draft } from "../composer/draft.js"
 * @import { Connection } from "../server/connection.js"
 */

export class Sending {
  /**
   * @param {HTMLElement} page
   * @param {object} options
   * @param {Connection} options.connection
   * @param {Draft} options.draft
   * @param {string} options.url the address of the conversation
   * @param {import("../shell/navigation.js").Navigation} options.navigation
   * @param {() => void} options.onLeft told that it is stored when the page has been left meanwhile
   * @param {AbortSignal} options.signal of the page, which may be left while a message is on its way
   */
  constructor(page, { connection, draft, url, navigation, onLeft, signal }) {
    this.navigation = navigation;
    this.onLeft = onLeft;
    this.signal = signal;
    this.page = page;
    this.connection = connection;
    this.draft = draft;
    this.url = url;
  }

  /**
   * @param {string} content
   * @param {Attempt} attempt
   * @returns {Promise<string | undefined>} a note for the user about what was sent; nothing when the page is left
   */
  async send(content, attempt) {
    if (attempt.conversation !== this.connection.conversation) {
      await this.#sendAgainElsewhere(content, attempt);
      return undefined;
    }
    const { cleaned } = await this.connection.post(content, attempt.clientId, attempt.pictures);
    this.markStored();
    return cleaned ? sentence("cleaned") : "";
  }

  /** The conversation is stored: from now on the page is its own. */
  markStored() {
    fieldOf(find(this.page, '[data-part="composer"]', HTMLFormElement), "conversation").value =
      this.connection.conversation;
    this.draft.markStored();
    this.page.setAttribute("data-stored", "");
    find(this.page, ".title-open", HTMLButtonElement).disabled = false;
    if (this.signal.aborted) {
      this.onLeft();
    } else {
      this.navigation.nameAddress(this.url);
    }
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
