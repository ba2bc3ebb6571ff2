/**
 * Which part of the thread is on the page. A conversation may be far longer than a page should hold: the page has the
 * newest messages, and those around the place that is read. Between the two there may be a gap; what is behind it is
 * hidden, and goes on living as messages come. More is loaded as it comes near, and what is far off leaves the page.
 */

import { getFragment } from "../server/http.js";
import { labelCopyButtons } from "../shared/copy_buttons.js";
import { dataOf, find, query } from "../shared/dom.js";
import { htmx } from "../shared/htmx.js";
import { localiseTimes } from "../shared/local_times.js";
import { sentence } from "../shared/sentences.js";
import { showProblem } from "../shared/toasts.js";

const NEAR_PIXELS = 800; // of an edge, from which on the messages beyond it are loaded
const FEWEST_KEPT = 60; // messages above or below what is read that stay on the page
const NEWEST_KEPT = 30;
const TRY_AGAIN_MS = 3_000;
const SCREENS = 2; // that a long thread is longer than
const AIR_PIXELS = 24; // above the message that was gone to

/**
 * @typedef {{before?: number, after?: number, at?: number, message?: string, on?: string}} Place as the server is asked
 */

export class ThreadRange {
  /** @type {Promise<void> | undefined} */
  #loading;
  #ask = 0; // counts what was asked for: an answer that is no longer wanted is left out
  #failedAt = -Infinity; // when messages could not be loaded
  /** Whether the end of the thread is kept in view. */
  isFollowed = () => false;

  /**
   * @param {HTMLElement} scroller
   * @param {HTMLElement} list holds the messages
   * @param {object} options
   * @param {string} options.url of the thread's pieces
   * @param {() => void} options.onChange called after messages have come or gone
   * @param {AbortSignal} options.signal ends it
   */
  constructor(scroller, list, { url, onChange, signal }) {
    this.scroller = scroller;
    this.list = list;
    this.url = url;
    this.onChange = onChange;
    this.signal = signal;
    scroller.addEventListener("scroll", () => this.#look(), { passive: true });
    // Not before the page has been scrolled to where it is read.
    requestAnimationFrame(() => requestAnimationFrame(() => this.#look()));
  }

  /** Whether messages between those at the place and the newest are not on the page. */
  get hasGap() {
    return Boolean(this.#gap);
  }

  /** Whether the thread is longer than two screens, as far as that is known. */
  get isLong() {
    const { scrollHeight, clientHeight } = this.scroller;
    return this.hasGap || Boolean(this.#top) || scrollHeight > SCREENS * clientHeight;
  }

  /** The messages that can be seen: without what is hidden behind a gap. */
  get shown() {
    const articles = articlesIn(this.list);
    const gap = this.#gap;
    return gap ? articles.filter((article) => isBefore(article, gap)) : articles;
  }

  /** The newest messages, which follow one another without a gap. */
  get newest() {
    const articles = articlesIn(this.list);
    const gap = this.#gap;
    return gap ? articles.filter((article) => !isBefore(article, gap)) : articles;
  }

  get #gap() {
    return query(this.list, "[data-newer]");
  }

  get #top() {
    return query(this.list, "[data-older]");
  }

  /**
   * Bring the message at *place* onto the page, if need be with those around it.
   * @param {Place} place
   * @returns {Promise<HTMLElement | undefined>} it, or the next one after it; nothing if there is none, or it does not come
   */
  async reach(place) {
    const there = this.#find(place);
    if (there) {
      this.#show(there);
      return there;
    }
    this.#ask += 1;
    const ask = this.#ask;
    const piece = await this.#fetch(place).catch(() => undefined);
    if (ask !== this.#ask || this.signal.aborted) {
      return undefined;
    }
    if (!piece) {
      showProblem(sentence("notOpened"));
      return undefined;
    }
    if (!piece.dataset.asked) {
      return undefined; // a message that the thread does not show
    }
    const position = Number(piece.dataset.asked);
    this.#replaceWith(piece);
    this.onChange();
    return this.#find({ at: position }) ?? this.shown.at(-1);
  }

  /**
   * Go to the message at *place*, and show it at the top, or what is so far *within* it in the middle; the focus goes
   * there too if it is to.
   * @param {Place} place
   * @param {{focus?: boolean, within?: number}} options
   */
  async goTo(place, { focus = false, within } = {}) {
    const article = await this.reach(place);
    if (article) {
      const view = this.scroller.getBoundingClientRect();
      const { top, height } = article.getBoundingClientRect();
      const air = within === undefined ? AIR_PIXELS : view.height / 2 - within * height;
      this.scroller.scrollTop += top - view.top - air;
      if (focus) {
        article.focus({ preventScroll: true });
      }
    }
    return article;
  }

  /** Leave the place: show the newest messages. */
  toNewest() {
    this.#ask += 1;
    const gap = this.#gap;
    if (gap) {
      const after = this.newest[0];
      for (const article of this.shown) {
        article.remove();
      }
      this.#setTop(after);
      gap.remove();
      this.onChange();
    }
  }

  /**
   * The messages from *position* on were brought up to date: where those at the place reach as far, there is no gap.
   * @param {number} position
   */
  closeGap(position) {
    const last = this.shown.at(-1);
    if (this.hasGap && last && Number(last.dataset.position) >= position - 1) {
      this.#gap?.remove();
    }
  }

  /**
   * Let *change* happen while what is read stays where it is.
   * @param {() => void} change
   */
  keepPlace(change) {
    if (this.isFollowed()) {
      change(); // the end is what is read, and stays in view by itself
      return;
    }
    const top = this.scroller.getBoundingClientRect().top;
    const anchor = this.shown.find((article) => article.getBoundingClientRect().bottom > top);
    const before = anchor?.getBoundingClientRect().top ?? 0;
    change();
    if (anchor?.isConnected) {
      const moved = anchor.getBoundingClientRect().top - before;
      if (moved) {
        this.scroller.scrollTop += moved;
      }
    }
  }

  /**
   * @param {Place} place
   * @returns {HTMLElement | undefined}
   */
  #find({ at, message }) {
    const articles = articlesIn(this.list);
    if (message) {
      return articles.find((article) => article.dataset.message === message);
    }
    if (at === undefined) {
      return undefined;
    }
    const segments = this.hasGap ? [this.shown, this.newest] : [articles];
    const segment = segments.find((each) => reaches(each, at, each === segments[0] && !this.#top));
    return segment?.find((article) => Number(article.dataset.position) >= at);
  }

  /**
   * What is behind the gap is shown by leaving the place.
   * @param {HTMLElement} article
   */
  #show(article) {
    if (this.#gap && !isBefore(article, this.#gap)) {
      this.toNewest();
    }
  }

  #look() {
    if (this.#loading || this.signal.aborted || performance.now() - this.#failedAt < TRY_AGAIN_MS) {
      return;
    }
    const view = this.scroller.getBoundingClientRect();
    const [top, gap] = [this.#top, this.#gap];
    if (top && top.getBoundingClientRect().bottom > view.top - NEAR_PIXELS) {
      this.#load({ before: Number(dataOf(top, "older")) });
    } else if (gap && gap.getBoundingClientRect().top < view.bottom + NEAR_PIXELS) {
      this.#load({ after: Number(dataOf(gap, "newer")) });
    }
  }

  /** @param {Place} place */
  #load(place) {
    const ask = this.#ask;
    this.#loading = this.#fetch(place)
      .then((piece) => {
        if (ask === this.#ask && !this.signal.aborted) {
          this.keepPlace(() => (place.before === undefined ? this.#append(piece) : this.#prepend(piece)));
          this.#trim(place.before === undefined ? "above" : "below");
          this.onChange();
        }
      })
      .catch(() => {
        this.#failedAt = performance.now();
        setTimeout(() => this.#look(), TRY_AGAIN_MS);
      })
      .then(() => {
        this.#loading = undefined;
        this.#look();
      });
  }

  /**
   * @param {Place} place
   * @returns {Promise<HTMLElement>}
   */
  async #fetch(place) {
    const fields = Object.entries(place).map(([name, value]) => [name, String(value)]);
    const fetched = await getFragment(`${this.url}?${new URLSearchParams(fields)}`, "[data-piece]");
    const piece = document.importNode(fetched, true);
    localiseTimes(piece);
    labelCopyButtons(piece);
    htmx()?.process(piece);
    return piece;
  }

  /** @param {HTMLElement} piece */
  #prepend(piece) {
    const first = this.shown[0];
    this.#top?.remove();
    first?.before(...this.#missing(piece));
    this.#setTop(this.shown[0], query(piece, "[data-older]"));
  }

  /** @param {HTMLElement} piece what follows the messages at the place */
  #append(piece) {
    const gap = this.#gap;
    if (!gap) {
      return;
    }
    const articles = articlesIn(piece);
    const reaches = articles.findIndex((article) => document.getElementById(article.id));
    gap.before(...(reaches < 0 ? articles : articles.slice(0, reaches)));
    const next = query(piece, "[data-newer]");
    if (reaches < 0 && next) {
      gap.replaceWith(next);
    } else {
      gap.remove();
    }
  }

  /**
   * Show the messages of *piece* in the place of those that are shown; the newest stay, behind the gap.
   * @param {HTMLElement} piece
   */
  #replaceWith(piece) {
    const newest = this.newest.slice(-NEWEST_KEPT);
    const kept = new Set(newest);
    for (const article of articlesIn(this.list)) {
      if (!kept.has(article)) {
        article.remove();
      }
    }
    this.#gap?.remove();
    this.#top?.remove();
    const articles = articlesIn(piece);
    const isWhole = articles.some((article) => document.getElementById(article.id)) || !query(piece, "[data-newer]");
    const missing = this.#missing(piece);
    newest[0] ? newest[0].before(...missing) : this.list.append(...missing);
    const gap = query(piece, "[data-newer]");
    if (!isWhole && gap) {
      missing.at(-1)?.after(gap);
    }
    this.#setTop(this.shown[0], query(piece, "[data-older]"));
  }

  /** @param {HTMLElement} piece */
  #missing(piece) {
    return articlesIn(piece).filter((article) => !document.getElementById(article.id));
  }

  /**
   * Put the link to what is above *first* before it, if there is something.
   * @param {HTMLElement | undefined} first
   * @param {HTMLElement | null} [link]
   */
  #setTop(first, link) {
    this.#top?.remove();
    const position = Number(first?.dataset.firstPosition ?? 0);
    if (first && (link || position > 0)) {
      first.before(link ?? this.#edge("older", position));
    }
  }

  /**
   * Return a link to the messages that have left the page.
   * @param {"older" | "newer"} side
   * @param {number} position
   */
  #edge(side, position) {
    const template = find(document, `#thread-${side}`, HTMLTemplateElement);
    const edge = /** @type {HTMLElement} */ (find(template.content, "p").cloneNode(true));
    edge.dataset[side] = String(position);
    const name = side === "older" ? "before" : "after";
    find(edge, "a", HTMLAnchorElement).href = `${this.url}?${name}=${position}`;
    return edge;
  }

  /**
   * Let what is far from what is read leave the page.
   * @param {"above" | "below"} side
   */
  #trim(side) {
    const { shown } = this;
    const view = this.scroller.getBoundingClientRect();
    if (side === "above") {
      const above = shown.filter((article) => article.getBoundingClientRect().bottom < view.top);
      const going = untilUsed(above.slice(0, Math.max(0, above.length - FEWEST_KEPT)));
      if (going.length) {
        this.keepPlace(() => {
          for (const article of going) {
            article.remove();
          }
          this.#setTop(this.shown[0]);
        });
      }
      return;
    }
    const below = shown.filter((article) => article.getBoundingClientRect().top > view.bottom);
    const end = this.hasGap ? below : below.slice(0, -NEWEST_KEPT);
    const going = untilUsed(end.slice(FEWEST_KEPT).reverse());
    const last = going.at(-1)?.previousElementSibling;
    if (!going.length || !(last instanceof HTMLElement)) {
      return;
    }
    const gap = this.#edge("newer", Number(dataOf(lastArticle(last), "position")));
    this.#gap?.remove();
    going[0].after(gap);
    for (const article of going) {
      article.remove();
    }
  }
}

/**
 * Return the messages in *root*, which holds them or is a piece of the thread.
 * @param {HTMLElement} root
 */
export function articlesIn(root) {
  const children = /** @type {HTMLElement[]} */ ([...root.children]);
  return children.filter(({ dataset }) => "message" in dataset);
}

/**
 * @param {HTMLElement} article
 * @param {Element} gap
 */
function isBefore(article, gap) {
  return Boolean(article.compareDocumentPosition(gap) & Node.DOCUMENT_POSITION_FOLLOWING);
}

/**
 * Whether what stands at *position* is among messages that follow one another.
 * @param {HTMLElement[]} articles
 * @param {number} position
 * @param {boolean} isBeginning of the conversation
 */
function reaches(articles, position, isBeginning) {
  const [first, last] = [articles[0], articles.at(-1)];
  if (!first || !last) {
    return false;
  }
  const from = isBeginning ? 0 : Number(first.dataset.firstPosition);
  return position >= from && position <= Number(last.dataset.position);
}

/**
 * Return those of *articles* before the first one in which something is being done.
 * @param {HTMLElement[]} articles
 */
function untilUsed(articles) {
  const used = articles.findIndex(
    (article) => article.contains(document.activeElement) || article.matches(":has(.editor), [data-state=streaming]"),
  );
  return used < 0 ? articles : articles.slice(0, used);
}

/** @param {HTMLElement} element a message, or the line after one */
function lastArticle(element) {
  const before = element.previousElementSibling;
  return "message" in element.dataset || !(before instanceof HTMLElement) ? element : before;
}
