/**
 * The card that shows the passage which a reply cites: while its number is pointed at or has the focus, and until it
 * is closed once it was pressed. Then the card has the focus, so that a long passage can be read by keyboard.
 */

import { passagesOf } from "./sources.js";

const DWELL_MS = 150;
const LINGER_MS = 250; // on the way from the number to the card
const MARGIN = 16;
const GAP = 6;

/** @param {HTMLElement} card a popover */
export function startCitations(page, card) {
  const shown = new PassageCard(card);
  page.addEventListener("click", ({ target }) => shown.open(citationAt(target)));
  page.addEventListener(
    "pointerover",
    ({ target, pointerType }) => pointerType === "mouse" && shown.dwell(citationAt(target)),
  );
  page.addEventListener("pointerout", ({ target }) => citationAt(target) && shown.leave());
  page.addEventListener("focusin", ({ target }) => target.matches(":focus-visible") && shown.peek(citationAt(target)));
  page.addEventListener("focusout", ({ target }) => citationAt(target) && shown.leave());
  page.addEventListener("scroll", ({ target }) => target.matches?.('[data-part="scroller"]') && shown.follow(), true);
}

function citationAt(element) {
  return element.closest("[data-citation]");
}

/** Return the number that stands where *citation* stood: a reply may have been drawn anew since. */
function inItsPlace(citation) {
  const { id } = citation.closest("[data-message]");
  return document.querySelector(`#${id} [data-citation="${citation.dataset.citation}"]`);
}

class PassageCard {
  constructor(card) {
    this.card = card;
    this.isPressed = false;
    this.isClosing = false;
    card.addEventListener("pointerenter", () => clearTimeout(this.timer));
    card.addEventListener("pointerleave", () => this.leave());
    card.addEventListener("keydown", (event) => event.key === "Tab" && this.#leaveByTab(event));
    card.addEventListener("beforetoggle", ({ newState }) => newState === "closed" && this.#forget());
    card.addEventListener("toggle", () => this.#goBack());
  }

  /** Show it once the pointer has been there for a moment: who only passes by is not held up. */
  dwell(citation) {
    if (citation && !this.isPressed) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.peek(citation), DWELL_MS);
    }
  }

  /** Show it for as long as somebody is at the number. Closing the card gives the focus back, which opens nothing. */
  peek(citation) {
    clearTimeout(this.timer);
    if (!citation || citation === this.citation || this.isClosing) {
      return;
    }
    if (this.isPressed && !this.citation.isConnected) {
      this.open(citation); // its reply was drawn anew while the passage was on its way
    } else {
      this.isPressed = false;
      this.#show(citation);
    }
  }

  async open(citation) {
    if (citation) {
      clearTimeout(this.timer);
      this.isPressed = true;
      await this.#show(citation);
      this.card.querySelector(".passage-text")?.focus();
    }
  }

  leave() {
    if (!this.isPressed) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.close(), LINGER_MS);
    }
  }

  close() {
    clearTimeout(this.timer);
    this.card.hidePopover();
  }

  /** Stay beside the number while the page scrolls, as it does to a number that gets the focus out of view. */
  follow() {
    const at = this.citation && inItsPlace(this.citation)?.getBoundingClientRect();
    if (at && (at.bottom < 0 || at.top > innerHeight)) {
      this.close();
    } else if (at) {
      this.#place(at);
    }
  }

  /** The card stands at the end of the page, and what comes after it there is not what comes after the number. */
  #leaveByTab(event) {
    event.preventDefault();
    this.close();
  }

  #forget() {
    this.returnTo = this.card.contains(document.activeElement) ? this.citation : undefined;
    this.citation?.classList.remove("is-shown");
    this.citation = undefined;
    this.isPressed = false;
    this.isClosing = true;
  }

  /** The number has the focus again that the card took it from, or the one in its place. */
  #goBack() {
    if (this.isClosing && this.returnTo) {
      inItsPlace(this.returnTo)?.focus();
    }
    this.isClosing = false;
  }

  async #show(citation) {
    this.citation?.classList.remove("is-shown");
    this.citation = citation;
    citation.classList.add("is-shown");
    this.card.replaceChildren(noted(this.card.dataset.textLoading));
    this.card.showPopover();
    this.#fill(citation, await this.#passage(citation));
  }

  #fill(citation, content) {
    if (this.citation === citation) {
      this.card.replaceChildren(...content);
      this.#place(citation.getBoundingClientRect());
    }
  }

  async #passage(citation) {
    try {
      const passages = await passagesOf(citation.closest("[data-sources]"));
      const passage = passages.querySelector(`[data-passage="${citation.dataset.citation}"]`);
      return passage.cloneNode(true).children;
    } catch {
      return [noted(this.card.dataset.textFailed)];
    }
  }

  /** Below the number, or above it where there is more room; never upon it. */
  #place(at) {
    const {
      card,
      card: { style },
    } = this;
    style.removeProperty("--card-room");
    const [above, below] = [at.top - GAP - MARGIN, innerHeight - at.bottom - GAP - MARGIN];
    const isBelow = card.offsetHeight <= below || below >= above;
    style.setProperty("--card-room", `${isBelow ? below : above}px`);
    style.setProperty("--card-top", `${isBelow ? at.bottom + GAP : at.top - GAP - card.offsetHeight}px`);
    style.setProperty(
      "--card-left",
      `${Math.max(MARGIN, Math.min(at.left, innerWidth - card.offsetWidth - MARGIN))}px`,
    );
  }
}

function noted(sentence) {
  return Object.assign(document.createElement("p"), { className: "passage-note", textContent: sentence });
}
