/**
 * The card with the passage that a reply cites: shown while its number is pointed at or has the focus, and until it
 * is closed once it was pressed. Then the card has the focus, so that a long passage can be read by keyboard.
 */

import { closest, find, query } from "../shared/dom.js";
import { sentence } from "../shared/sentences.js";
import { passagesOf } from "./sources.js";

const DWELL_MS = 150;
const LINGER_MS = 250; // on the way from the number to the card
const MARGIN = 16;
const GAP = 6;

/**
 * @param {HTMLElement} page
 * @param {HTMLElement} card a popover
 * @param {AbortSignal} signal ends it
 * @param {{citation: HTMLElement, type: string}} met the number that was met first, and by which event
 */
export function startCitations(page, card, signal, met) {
  const shown = new PassageCard(card);
  signal.addEventListener("abort", () => clearTimeout(shown.timer));
  page.addEventListener("click", (event) => shown.open(citationAt(event)));
  page.addEventListener("pointerover", (event) => event.pointerType === "mouse" && shown.dwell(citationAt(event)));
  page.addEventListener("pointerout", (event) => citationAt(event) && shown.leave());
  page.addEventListener("focusin", (event) => shown.meetFocus(citationAt(event), hasVisibleFocus(event)));
  page.addEventListener("focusout", (event) => citationAt(event) && shown.leave());
  page.addEventListener("scroll", (event) => isScroller(event) && shown.follow(), true);
  if (met.type === "click") {
    shown.open(met.citation);
  } else if (met.citation.matches(":focus-visible")) {
    shown.meetFocus(met.citation, true);
  } else if (met.citation.matches(":hover")) {
    shown.dwell(met.citation);
  }
}

/** @param {Event} event */
function citationAt(event) {
  return closest(event, "[data-citation]");
}

/** @param {Event} event */
function hasVisibleFocus({ target }) {
  return target instanceof Element && target.matches(":focus-visible");
}

/** @param {Event} event */
function isScroller({ target }) {
  return target instanceof Element && target.matches('[data-part="scroller"]');
}

/**
 * Return the selector of the number that stands where *citation* stood: a reply may have been drawn again since.
 * @param {HTMLElement} citation
 */
function placeOf(citation) {
  const message = citation.closest("[data-message]");
  return `#${message?.id} [data-citation="${citation.dataset.citation}"]`;
}

/**
 * @param {HTMLElement} citation
 * @returns {HTMLElement | null}
 */
function inItsPlace(citation) {
  return query(document, placeOf(citation));
}

class PassageCard {
  /** @type {HTMLElement | undefined} the number whose passage is shown */
  citation;
  /** @type {HTMLElement | undefined} the number that gets the focus back */
  returnTo;
  /** The place of the number that had the focus when its card was closed, until the focus is elsewhere. */
  closedAt = "";
  timer = 0;

  /** @param {HTMLElement} card */
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

  /**
   * Show it once the pointer has been there for a moment: passing by opens nothing.
   * @param {HTMLElement | null} citation
   */
  dwell(citation) {
    if (citation && !this.isPressed) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.peek(citation), DWELL_MS);
    }
  }

  /**
   * Show it for the number that got the focus, if it can be seen that it has it. A reply that is drawn again gives the
   * focus back to its number, which does not open a card that was closed there. What gets the focus while the card
   * closes is no choice of the reader's: the browser takes the number at which the card was first shown.
   * @param {HTMLElement | null} citation
   * @param {boolean} isVisible
   */
  meetFocus(citation, isVisible) {
    if (!this.isClosing && (!citation || placeOf(citation) !== this.closedAt)) {
      this.closedAt = "";
      if (isVisible) {
        this.peek(citation);
      }
    }
  }

  /**
   * Show it while the pointer or the focus is at the number. Closing the card gives the focus back, which opens nothing.
   * @param {HTMLElement | null} citation
   */
  peek(citation) {
    clearTimeout(this.timer);
    if (!citation || citation === this.citation || this.isClosing) {
      return;
    }
    if (this.isPressed && !this.citation?.isConnected) {
      this.open(citation); // its reply was drawn again while the passage was on its way
    } else {
      this.isPressed = false;
      this.#show(citation);
    }
  }

  /** @param {HTMLElement | null} citation */
  async open(citation) {
    if (citation) {
      clearTimeout(this.timer);
      this.isPressed = true;
      await this.#show(citation);
      query(this.card, ".passage-text")?.focus();
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

  /**
   * The card stands at the end of the page, and what comes after it there is not what comes after the number. The link
   * to a page of the web, if the passage has one, comes first.
   * @param {KeyboardEvent} event
   */
  #leaveByTab(event) {
    event.preventDefault();
    const link = query(this.card, "a[href]");
    if (link && link !== document.activeElement) {
      link.focus();
    } else {
      this.close();
    }
  }

  #forget() {
    const focused = document.activeElement;
    this.returnTo = this.card.contains(focused) ? this.citation : undefined;
    this.closedAt = this.citation && (this.returnTo || this.citation === focused) ? placeOf(this.citation) : "";
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

  /** @param {HTMLElement} citation */
  async #show(citation) {
    this.citation?.classList.remove("is-shown");
    this.citation = citation;
    citation.classList.add("is-shown");
    this.card.replaceChildren(note(sentence("passageLoading")));
    this.card.showPopover();
    this.#fill(citation, await this.#passage(citation));
  }

  /**
   * @param {HTMLElement} citation
   * @param {Element[]} content
   */
  #fill(citation, content) {
    if (this.citation === citation) {
      this.card.replaceChildren(...content);
      this.#place(citation.getBoundingClientRect());
    }
  }

  /**
   * @param {HTMLElement} citation
   * @returns {Promise<Element[]>}
   */
  async #passage(citation) {
    try {
      const passages = await passagesOf(/** @type {HTMLElement} */ (citation.closest("[data-sources]")));
      const passage = find(passages, `[data-passage="${citation.dataset.citation}"]`);
      return [...document.importNode(passage, true).children];
    } catch {
      return [note(sentence("passageFailed"))];
    }
  }

  /**
   * Below the number, or above it where there is more room; never upon it.
   * @param {DOMRect} at
   */
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

/** @param {string} sentence */
function note(sentence) {
  return Object.assign(document.createElement("p"), { className: "passage-note", textContent: sentence });
}
