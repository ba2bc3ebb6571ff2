/** The field in which a message is written, and what happens when it is sent. */

const FOLLOWS_CONTENT = CSS.supports("field-sizing", "content");

export class Composer {
  /**
   * @param {HTMLFormElement} form
   * @param {object} options
   * @param {import("./draft.js").Draft} options.draft
   * @param {(content: string, attempt: {clientId: string, conversation: string}) => Promise<void>} options.send
   * @param {(content: string) => void} options.onChange
   */
  constructor(form, { draft, send, onChange }) {
    Object.assign(this, { form, draft, send, onChange });
    this.field = form.elements.content;
    this.error = form.querySelector("[data-error]");
    this.hint = form.querySelector("[data-hint]");
    this.field.value ||= draft.content;
    this.field.addEventListener("input", () => this.#typed());
    this.field.addEventListener("keydown", (event) => this.#keyPressed(event));
    form.addEventListener("submit", (event) => this.#submitted(event));
    this.#changed();
  }

  focus() {
    this.field.focus();
  }

  /** Put *question* before what is typed, to be asked more narrowly, and say how that is done. */
  narrow(question) {
    const typed = this.field.value.trim();
    this.field.value = typed && typed !== question ? `${question}\n\n${typed}` : question;
    this.hint.hidden = false;
    this.#typed();
    this.focus();
  }

  /** Put *question* in place of what is typed, to be sent or changed. */
  propose(question) {
    this.field.value = question;
    this.#typed();
    this.focus();
  }

  /** What was wrong with the last attempt is being mended. */
  #typed() {
    this.showError("");
    this.#changed();
  }

  #changed() {
    this.draft.content = this.field.value;
    this.#resize();
    this.onChange(this.field.value);
  }

  /** Enter sends, unless it makes a new line or belongs to an input method that is choosing a word. */
  #keyPressed(event) {
    const isComposing = event.isComposing || event.keyCode === 229;
    if (event.key === "Enter" && !event.shiftKey && !isComposing) {
      event.preventDefault();
      this.form.requestSubmit();
    }
  }

  async #submitted(event) {
    if (event.submitter?.hasAttribute("formaction")) {
      return; // a preview, on a page of its own when htmx is not there
    }
    event.preventDefault();
    const content = this.field.value;
    if (!content.trim() || this.form.ariaBusy === "true") {
      return;
    }
    this.form.ariaBusy = "true";
    this.showError("");
    try {
      await this.send(content, this.draft.attemptFor(content));
      this.#sent(content);
    } catch (error) {
      this.showFailure(error);
    } finally {
      this.form.ariaBusy = "false";
    }
  }

  /** What was typed while the message was on its way is the next draft. */
  #sent(content) {
    const typedSince = this.field.value.startsWith(content) ? this.field.value.slice(content.length) : this.field.value;
    this.field.value = typedSince.trimStart();
    this.hint.hidden = true;
    this.#changed();
  }

  /** @param {import("../server/http.js").Refusal | import("../server/http.js").Unreachable} error */
  showFailure(error) {
    this.showError(
      error.code ? error.message : this.form.dataset[isTooLarge(error) ? "textTooLarge" : "textUnreachable"],
    );
  }

  showError(sentence) {
    this.error.textContent = sentence;
    this.error.hidden = !sentence;
  }

  /** The server is back: that it could not be reached is no longer so. */
  clearUnreachable() {
    if (this.error.textContent === this.form.dataset.textUnreachable) {
      this.showError("");
    }
  }

  #resize() {
    if (!FOLLOWS_CONTENT) {
      this.field.style.height = "auto";
      this.field.style.height = `${this.field.scrollHeight}px`;
    }
  }
}

/** A proxy before the server may have a lower limit of its own, and answers in its own words. */
function isTooLarge({ status }) {
  return status === 413;
}
