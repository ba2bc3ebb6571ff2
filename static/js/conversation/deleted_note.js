/** Says that the conversation was deleted, in another tab or because its time was over, and offers to undo that. */

import { Refusal } from "../server/http.js";
import { find } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";

/** @import { ConversationDeleted } from "../server/frames.js" */

const NOT_FOUND = "conversation_not_found";
const GONE = 404; // what was deleted has been swept meanwhile

export class DeletedNote {
  /** Whether this page deletes the conversation itself: then it is left for another one. */
  #isDeleting = false;

  /**
   * @param {HTMLElement} element
   * @param {object} options
   * @param {string} options.url to which a deletion is posted
   * @param {() => Promise<unknown>} options.ask the server for the conversation; it may refuse
   * @param {boolean} options.isTemporary then no deletion can be undone
   * @param {(sentence: string) => void} options.say
   * @param {() => void} options.onRestored
   * @param {AbortSignal} options.signal ends it
   */
  constructor(element, { url, ask, isTemporary, say, onRestored, signal }) {
    this.element = element;
    this.undo = find(element, "[data-undo]");
    this.ask = ask;
    this.isTemporary = isTemporary;
    this.say = say;
    this.onRestored = onRestored;
    const note = (/** @type {boolean} */ isDeleting, /** @type {Event} */ event) => {
      if (event instanceof CustomEvent && event.detail.requestConfig.path === url) {
        this.#isDeleting = isDeleting;
      }
    };
    this.undo.addEventListener("htmx:responseError", (event) => {
      if (event instanceof CustomEvent && event.detail.xhr.status === GONE) {
        this.#show(true, false);
      }
    });
    document.addEventListener("htmx:beforeRequest", (event) => note(true, event), { signal });
    for (const failed of ["htmx:sendError", "htmx:timeout", "htmx:responseError"]) {
      document.addEventListener(failed, (event) => note(false, event), { signal });
    }
  }

  /** @param {Pick<ConversationDeleted, "deleted" | "can_be_undone">} news */
  take({ deleted, can_be_undone: canBeUndone }) {
    if (this.#isDeleting || (!deleted && this.element.hidden)) {
      return;
    }
    const isNews = this.element.hidden === deleted;
    this.#show(deleted, canBeUndone);
    if (isNews) {
      this.say(deleted ? find(this.element, "p").textContent : sentence("deletionUndone"));
    }
    if (!deleted) {
      this.onRestored();
    }
  }

  /**
   * Ask whether the conversation was deleted, which this page may have missed; if so, show it.
   * @returns {Promise<boolean>} whether it was
   */
  async look() {
    const error = await this.ask().catch((thrown) => thrown);
    if (!isNotFound(error)) {
      return false;
    }
    this.take({ deleted: true, can_be_undone: !this.isTemporary });
    return true;
  }

  /**
   * @param {boolean} deleted
   * @param {boolean} canBeUndone
   */
  #show(deleted, canBeUndone) {
    this.element.hidden = !deleted;
    this.undo.hidden = !canBeUndone;
  }

  /** Throw what a server says of a message to a conversation that is not there: what is typed stays. */
  refuseIfDeleted() {
    if (!this.element.hidden) {
      const message = sentence(this.undo.hidden ? "deletedForEver" : "deletedHere");
      throw new Refusal({ code: NOT_FOUND, message });
    }
  }
}

/** @param {unknown} error */
export function isNotFound(error) {
  return error instanceof Refusal && error.code === NOT_FOUND;
}
