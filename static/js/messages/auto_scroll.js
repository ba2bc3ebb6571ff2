/** Stay at the newest text while a person is there; where they have scrolled up, offer the way back instead. */

const NEAR_PIXELS = 64;

export class Follow {
  /**
   * @param {HTMLElement} scroller
   * @param {HTMLElement} content
   * @param {HTMLButtonElement} jump
   */
  constructor(scroller, content, jump) {
    Object.assign(this, { scroller, jump });
    this.isFollowing = Boolean(content.querySelector("[data-message]")); // a page that is empty is read from its top
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
