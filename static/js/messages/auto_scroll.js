/** Auto-scroll: stay at the newest text while it is in view; where the user has scrolled up, offer the way back. */

import { closest, queryAll } from "../shared/dom.js";

/**
 * @typedef {object} ScrollPlace what of a thread is in view
 * @property {string} [message] the id of the first message in view
 * @property {number} below how far below the upper edge it begins
 * @property {number} fromEnd how far the upper edge is from the end of the thread
 */

const NEAR_PIXELS = 80;

export class AutoScroll {
  /**
   * @param {HTMLElement} scroller
   * @param {HTMLElement} content
   * @param {HTMLButtonElement} jump
   * @param {import("./thread_range.js").ThreadRange} range
   * @param {AbortSignal} signal ends it
   */
  constructor(scroller, content, jump, range, signal) {
    this.scroller = scroller;
    this.range = range;
    this.jump = jump;
    const opened = messageInAddress(content);
    // A page that is empty is read from its top, one that leads to a place from there.
    this.isFollowing = !opened && !range.hasGap && Boolean(content.querySelector("[data-message]"));
    opened?.scrollIntoView({ block: "center" });
    this.isHeld = false; // what the user has opened grows at its place, also when more of it comes later
    range.isFollowed = () => this.isFollowing && !range.hasGap;
    scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    content.addEventListener("click", (event) => this.#opened(event), { capture: true });
    jump.addEventListener("click", () => this.toNewest());
    const observer = new ResizeObserver(() => this.#resized());
    observer.observe(content);
    observer.observe(scroller);
    signal.addEventListener("abort", () => observer.disconnect());
  }

  /**
   * Show again what was in view when the page was left.
   * @param {ScrollPlace} place
   */
  restore({ message, below, fromEnd }) {
    const article = message ? document.getElementById(message) : null;
    const { scroller } = this;
    this.isFollowing = false;
    scroller.scrollTop = scroller.scrollHeight - fromEnd;
    if (article) {
      scroller.scrollTop += article.getBoundingClientRect().top - scroller.getBoundingClientRect().top - below;
    }
  }

  /**
   * Return what is in view, if it is not the end, which a page shows anyway.
   * @returns {ScrollPlace | undefined}
   */
  get place() {
    if (this.isFollowing) {
      return undefined;
    }
    const { scroller } = this;
    const { top } = scroller.getBoundingClientRect();
    const articles = queryAll(scroller, "[data-message]");
    const seen = articles.find((article) => article.getBoundingClientRect().bottom > top);
    return {
      message: seen?.id,
      below: seen ? seen.getBoundingClientRect().top - top : 0,
      fromEnd: scroller.scrollHeight - scroller.scrollTop,
    };
  }

  toNewest() {
    this.isHeld = false;
    this.isFollowing = true;
    this.range.toNewest();
    this.#follow();
  }

  #follow() {
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.followedTo = this.scroller.scrollTop;
    this.jump.hidden = true;
  }

  /**
   * Keep the place of the user, who opens something to read it. What a reply thinks now is followed if it is short.
   * @param {Event} event
   */
  #opened(event) {
    const details = closest(event, "summary")?.parentElement;
    if (details instanceof HTMLDetailsElement && !details.open) {
      this.isFollowing = false;
      this.isHeld = !("live" in details.dataset);
    }
  }

  get #isNear() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    return !this.range.hasGap && scrollHeight - scrollTop - clientHeight < NEAR_PIXELS;
  }

  #scrolled() {
    if (this.isFollowing && !this.range.hasGap && this.scroller.scrollTop === this.followedTo) {
      return; // that was us: more may have come before the browser tells of it
    }
    this.isHeld = false;
    this.isFollowing = this.#isNear;
    this.jump.hidden = this.isFollowing;
  }

  #resized() {
    if (this.isFollowing && !this.range.hasGap) {
      this.#follow();
    } else if (this.isHeld) {
      this.jump.hidden = this.#isNear;
    } else {
      this.#scrolled();
    }
  }
}

/**
 * Return the message that the page's address leads to, if it is among its messages.
 * @param {HTMLElement} content
 */
function messageInAddress(content) {
  const named = document.getElementById(location.hash.slice(1));
  return named && content.contains(named) ? named : null;
}
