/** Auto-scroll: stay at the newest text while it is in view; where the user has scrolled up, offer the way back. */

const NEAR_PIXELS = 64;

export class AutoScroll {
  /**
   * @param {HTMLElement} scroller
   * @param {HTMLElement} content
   * @param {HTMLButtonElement} jump
   */
  constructor(scroller, content, jump) {
    this.scroller = scroller;
    this.jump = jump;
    const opened = messageInAddress(content);
    // A page that is empty is read from its top, one that leads to a message from there.
    this.isFollowing = !opened && Boolean(content.querySelector("[data-message]"));
    opened?.scrollIntoView({ block: "center" });
    scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    jump.addEventListener("click", () => this.toNewest());
    new ResizeObserver(() => this.#resized()).observe(content);
    new ResizeObserver(() => this.#resized()).observe(scroller);
  }

  toNewest() {
    this.isFollowing = true;
    this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    this.isFollowing = scrollHeight - scrollTop - clientHeight < NEAR_PIXELS;
    this.jump.hidden = this.isFollowing;
  }

  #resized() {
    if (this.isFollowing) {
      this.toNewest();
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
