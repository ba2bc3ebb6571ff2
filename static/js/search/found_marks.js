/**
 * Marks of what was found in the messages on the page. The browser paints them over the text (CSS highlights), so that nothing of a
 * message changes: its words, links and what a screen reader says of them.
 */

import { queryAll } from "../shared/dom.js";

const [ALL, HERE] = ["found", "found-here"]; // names of the highlights in search.css
const CONTENT = "[data-content]";
const UNSPACED = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Bopomofo}\\p{Script=Hangul}";
const MOST_MARKS = 5_000;

export class FoundMarks {
  /** @type {RegExp | undefined} */
  #pattern;
  /** @type {HTMLElement | undefined} the message that was gone to */
  #here;
  #isDrawing = false;

  /** @param {HTMLElement} list holds the messages */
  constructor(list) {
    this.list = list;
    this.observer = new MutationObserver(() => this.#draw());
  }

  /** @param {string[]} words as they stand in the messages */
  mark(words) {
    this.#pattern = words.length ? patternOf(words) : undefined;
    this.observer.observe(this.list, { childList: true, subtree: true, characterData: true });
    this.#draw();
  }

  clear() {
    this.#pattern = undefined;
    this.#here = undefined;
    this.observer.disconnect();
    CSS.highlights?.delete(ALL);
    CSS.highlights?.delete(HERE);
  }

  /**
   * Mark those in *article* as those that were gone to, and bring the first into view.
   * @param {HTMLElement | undefined} article
   * @param {HTMLElement} scroller
   */
  show(article, scroller) {
    this.#here = article;
    const [first] = article ? this.#rangesIn(article) : [];
    if (first) {
      const view = scroller.getBoundingClientRect();
      const { top, bottom } = first.getBoundingClientRect();
      if (top < view.top + view.height / 6 || bottom > view.bottom - view.height / 4) {
        scroller.scrollTop += top - view.top - view.height / 3;
      }
    }
    this.#draw();
  }

  #draw() {
    if (!this.#isDrawing) {
      this.#isDrawing = true;
      requestAnimationFrame(() => {
        this.#isDrawing = false;
        this.#paint();
      });
    }
  }

  #paint() {
    if (!CSS.highlights) {
      return; // an old browser: the message that is gone to is at its place all the same
    }
    const here = this.#here?.isConnected ? this.#rangesIn(this.#here) : [];
    CSS.highlights.set(ALL, new Highlight(...this.#rangesIn(this.list)));
    CSS.highlights.set(HERE, Object.assign(new Highlight(...here), { priority: 1 }));
  }

  /**
   * @param {HTMLElement} root
   * @returns {Range[]}
   */
  #rangesIn(root) {
    /** @type {Range[]} */
    const ranges = [];
    if (!this.#pattern) {
      return ranges;
    }
    for (const content of queryAll(root, CONTENT)) {
      const walker = document.createTreeWalker(content, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node && ranges.length < MOST_MARKS; node = walker.nextNode()) {
        for (const match of (node.nodeValue ?? "").matchAll(this.#pattern)) {
          const range = new Range();
          range.setStart(node, match.index);
          range.setEnd(node, match.index + match[0].length);
          ranges.push(range);
        }
      }
    }
    return ranges;
  }
}

/**
 * Return the pattern of *words*, each as a whole where its script has spaces.
 * @param {string[]} words
 */
function patternOf(words) {
  const longestFirst = [...words].sort((one, other) => other.length - one.length);
  const spaced = new RegExp(`^[${UNSPACED}]|[${UNSPACED}]$`, "u");
  const parts = longestFirst.map((word) => {
    const part = word
      .trim()
      .replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")
      .replace(/\s+/g, "\\s+");
    return spaced.test(word) ? part : `(?<![\\p{L}\\p{N}])${part}(?![\\p{L}\\p{N}])`;
  });
  return new RegExp(parts.join("|"), "giu");
}
