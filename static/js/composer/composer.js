/** The field in which a message is written, and what happens when it is sent. */

import { sentenceFor } from "../server/http.js";
import { fieldOf, find, query } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";
import { putBefore, typedAfter } from "./draft.js";

/**
 * @import { AttachedPictures } from "./attached_pictures.js"
 * @import { Attempt, Draft, Sent } from "./draft.js"
 */

const SLOW_MS = 2_000;
const FOLLOWS_CONTENT = CSS.supports("field-sizing", "content");
const ONE_LINE = 1.5; // lines of the field; more than that is more than one

export class Composer {
  /**
   * @param {HTMLFormElement} form
   * @param {object} options
   * @param {Draft} options.draft
   * @param {(content: string, attempt: Attempt) => Promise<void>} options.send
   * @param {(content: string) => void} options.onChange
   * @param {() => void} [options.onSendNow] told of Ctrl or Cmd with Enter, in place of sending
   * @param {() => boolean} [options.onUp] told of Arrow up in an empty field; returns whether it meant something
   */
  constructor(form, { draft, send, onChange, onSendNow, onUp }) {
    /** @type {AttachedPictures | undefined} a message that is edited has none of its own */
    this.pictures = undefined;
    this.waitsForPictures = false; // to be sent once they are here
    this.tooLong = ""; // by how much, as far as that is known of what is typed now
    this.form = form;
    this.draft = draft;
    this.send = send;
    this.onChange = onChange;
    this.onSendNow = onSendNow;
    this.onUp = onUp;
    this.field = fieldOf(form, "content", HTMLTextAreaElement);
    this.error = find(form, "[data-error]");
    this.sendButton = query(form, ".send"); // a message that is edited has another
    this.hint = query(form, "[data-hint]"); // a message that is edited has none
    const [given, kept] = [this.field.value, draft.content];
    this.field.value ||= kept;
    if (form.hasAttribute("data-shared") && kept) {
      this.field.value = kept.includes(given) ? kept : putBefore(kept, given); // what was typed before is not lost
    }
    form.noValidate = true; // an empty message is not sent, and no bubble says so over the thread
    this.field.addEventListener("input", () => {
      this.#waitForPictures(false); // it is being changed: it is not sent in the middle of a word
      this.#typed();
    });
    this.field.addEventListener("keydown", (event) => this.#keyPressed(event));
    form.addEventListener("submit", (event) => this.#submitted(event));
    new ResizeObserver(() => this.#noteLines()).observe(this.field);
    this.#changed();
    /** Whether what the page before has sent was stored. */
    this.storedBefore = draft.sentBefore?.answer.catch((error) => error).then((error) => this.#takeAnswer(error));
  }

  /**
   * Put what the page before has sent into the field again if it was not stored; if it was, that page cleared the draft.
   * @param {unknown} error
   */
  #takeAnswer(error) {
    const sent = /** @type {Sent} */ (this.draft.sentBefore);
    this.draft.sentBefore = undefined;
    if (error) {
      this.field.value = putBefore(sent.content, this.field.value);
      this.pictures?.putBack(sent.pictures);
    }
    this.draft.pictures = this.pictures?.stored ?? [];
    this.#changed();
    error && this.showFailure(error);
    return !error;
  }

  /** @param {AttachedPictures} pictures that are sent with the message */
  attach(pictures) {
    this.pictures = pictures;
    this.picturesChanged();
  }

  /** A message of pictures alone needs no words. */
  picturesChanged() {
    this.field.required = !this.#hasPictures;
    this.#typed();
    if (this.waitsForPictures && this.pictures?.problem) {
      this.#waitForPictures(false);
      this.showError(this.pictures.problem);
    } else if (this.waitsForPictures && !this.pictures?.areUploading) {
      this.#waitForPictures(false);
      this.form.requestSubmit();
    }
  }

  get #hasPictures() {
    return Boolean(this.pictures?.ids.length || this.pictures?.areUploading);
  }

  /** Whether there is something that could be sent. */
  get hasContent() {
    return Boolean(this.field.value.trim()) || this.#hasPictures;
  }

  /**
   * What is too long for the window can't be sent, and Send says why.
   * @param {string} problem by how much it is too long; "" if it is not
   */
  showTooLong(problem) {
    this.tooLong = problem;
    this.sendButton?.setAttribute("aria-disabled", String(Boolean(problem)));
    this.sendButton?.setAttribute("aria-describedby", problem ? "meter-problem" : "");
  }

  /** @param {boolean} waits */
  #waitForPictures(waits) {
    if (waits !== this.waitsForPictures) {
      this.waitsForPictures = waits;
      this.pictures?.note(waits ? sentence("pictureWait") : "");
    }
  }

  focus() {
    this.field.focus();
  }

  /**
   * Put *question* before what is typed, to be asked more narrowly, and say how that is done.
   * @param {string} question
   */
  narrow(question) {
    const typed = this.field.value.trim();
    this.field.value = typed && typed !== question ? `${question}\n\n${typed}` : question;
    this.#showHint(true);
    this.#typed();
    this.focus();
  }

  /**
   * Put *question* in place of what is typed, to be sent or changed.
   * @param {string} question
   */
  propose(question) {
    this.field.value = question;
    this.#typed();
    this.focus();
  }

  /**
   * Put a message that was sent to wait back before what is typed.
   * @param {string} content
   */
  putBack(content) {
    this.field.value = putBefore(content, this.field.value.trim());
    this.#typed();
    this.focus();
    this.field.setSelectionRange(content.length, content.length);
  }

  /**
   * Put *text* in place of what stands between *start* and the caret, as if it had been typed.
   * @param {number} start
   * @param {string} text
   */
  replaceBeforeCaret(start, text) {
    const rest = this.field.value.slice(this.field.selectionStart);
    this.field.setRangeText(text, start, this.field.selectionStart, "end");
    if (!text && start === 0) {
      this.field.value = rest.trimStart();
      this.field.setSelectionRange(0, 0);
    }
    this.#typed();
    this.focus();
  }

  /**
   * Write *text* where the caret stands, with a blank before it where it follows a word.
   * @param {string} text
   */
  insert(text) {
    const { value, selectionStart } = this.field;
    const blank = /\S$/.test(value.slice(0, selectionStart)) ? " " : "";
    this.field.setRangeText(`${blank}${text}`, selectionStart, this.field.selectionEnd, "end");
    this.#typed();
  }

  /**
   * Send *content*; what is typed stays where it is.
   * @param {string} content
   * @returns {boolean} whether it is on its way; not while something else is
   */
  sendBeside(content) {
    if (this.form.ariaBusy === "true") {
      return false;
    }
    const typed = this.field.value;
    this.field.value = content;
    this.tooLong = ""; // that is about what is typed
    this.form.requestSubmit();
    this.field.value = typed;
    this.#changed();
    return this.form.ariaBusy === "true";
  }

  /** What was wrong with the last attempt is being mended. */
  #typed() {
    this.showError("");
    this.#changed();
  }

  #changed() {
    this.tooLong = ""; // until the meter says so again
    this.draft.content = this.field.value;
    this.form.classList.toggle("has-content", this.hasContent);
    if (!this.field.value) {
      this.form.classList.remove("is-tall");
    }
    this.#resize();
    this.onChange(this.field.value);
  }

  /**
   * Enter sends, unless it makes a new line or belongs to an input method that is choosing a word.
   * @param {KeyboardEvent} event
   */
  #keyPressed(event) {
    const isComposing = event.isComposing || event.keyCode === 229;
    if (event.key === "Enter" && !event.shiftKey && !isComposing) {
      event.preventDefault();
      const isNow = this.onSendNow && (event.ctrlKey || event.metaKey);
      isNow ? this.onSendNow?.() : this.form.requestSubmit();
    }
    const isPlain = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (event.key === "ArrowUp" && isPlain && !isComposing && !this.field.value && this.onUp?.()) {
      event.preventDefault();
    }
  }

  /** @param {SubmitEvent} event */
  async #submitted(event) {
    if (event.submitter?.hasAttribute("formaction")) {
      return; // a preview, on a page of its own when htmx is not there
    }
    event.preventDefault();
    const content = this.field.value;
    const pictures = this.pictures?.ids ?? [];
    const areUploading = this.pictures?.areUploading;
    if (!this.hasContent || this.form.ariaBusy === "true") {
      return;
    }
    const problem = this.pictures?.problem || this.tooLong;
    if (problem) {
      this.showError(problem);
      this.onChange(content); // what made it too long may have changed elsewhere
      return;
    }
    if (areUploading) {
      this.#waitForPictures(true);
      return;
    }
    this.form.ariaBusy = "true";
    this.showError("");
    const slow = setTimeout(() => this.showError(sentence("stillSending")), SLOW_MS);
    try {
      if (this.draft.sentBefore && !((await this.storedBefore) && this.form.isConnected)) {
        return; // both messages stand in the field now, this one in that of the next page
      }
      const attempt = this.draft.attemptFor(content, pictures);
      const sent = this.draft.follow(attempt, this.send(content, attempt));
      await sent.answer;
      if (!sent.isTaken) {
        this.pictures?.remove(pictures);
        this.#sent(content);
      }
    } catch (error) {
      this.showFailure(error);
    } finally {
      clearTimeout(slow);
      this.#clearIf("stillSending"); // it may wait in the queue now
      this.form.ariaBusy = "false";
    }
  }

  /**
   * What was typed while the message was on its way is the next draft.
   * @param {string} content
   */
  #sent(content) {
    this.field.value = typedAfter(content, this.field.value);
    this.field.required = !this.pictures?.ids.length;
    this.#showHint(false);
    this.#changed();
  }

  /** @param {unknown} error a `Refusal` or `Unreachable` */
  showFailure(error) {
    this.showError(sentenceFor(error));
  }

  /** @param {string} sentence */
  showError(sentence) {
    this.error.textContent = sentence;
    this.error.hidden = !sentence;
  }

  /** The server is back: that it could not be reached is no longer so. */
  clearUnreachable() {
    this.#clearIf("unreachable");
  }

  /** @param {import("../shared/sentences.js").SentenceName} name of what is said no longer, if it is what is shown */
  #clearIf(name) {
    if (this.error.textContent === sentence(name)) {
      this.showError("");
    }
  }

  /** @param {boolean} isShown */
  #showHint(isShown) {
    if (this.hint) {
      this.hint.hidden = !isShown;
      const described = ["composer-error", isShown ? "composer-hint" : "", "meter-text meter-problem"];
      this.field.setAttribute("aria-describedby", described.filter(Boolean).join(" "));
    }
  }

  /** More than a line of text gets the whole width of a phone, and keeps it until the field is empty. */
  #noteLines() {
    const { paddingBlockStart, paddingBlockEnd, lineHeight } = getComputedStyle(this.field);
    const height = this.field.clientHeight - parseFloat(paddingBlockStart) - parseFloat(paddingBlockEnd);
    if (this.field.value && height > ONE_LINE * parseFloat(lineHeight)) {
      this.form.classList.add("is-tall");
    }
  }

  #resize() {
    if (!FOLLOWS_CONTENT) {
      this.field.style.height = "auto";
      this.field.style.height = `${this.field.scrollHeight}px`;
    }
  }
}
