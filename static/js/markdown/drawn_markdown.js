/**
 * Elements of Markdown on the page, kept the same as a tree of them that grows. Nodes are made of names and texts, never of
 * HTML; what has not changed is not touched, and text that grows gets only what is new, which fades in.
 */

/** @import { Piece } from "./inline_pieces.js" */

const ELEMENTS = new Set(
  "a blockquote br button code div em h3 h4 h5 h6 hr input li ol p pre s span strong table tbody td th thead tr ul".split(
    " ",
  ),
);
const FADE_MS = 160; // a little longer than the animation in static/css/messages.css

/**
 * @typedef {object} Drawn
 * @property {Piece} piece
 * @property {Node} node
 * @property {Drawn[]} children
 * @property {HTMLElement[]} fresh pieces of text that fade in behind the node, and become part of it
 */

export class DrawnMarkdown {
  /** @type {Drawn[]} */
  #drawn = [];
  /** @type {{drawn: Drawn, span: HTMLElement, at: number}[]} */
  #fading = [];
  #timer = 0;

  /**
   * @param {HTMLElement} root
   * @param {{fades?: boolean}} [options]
   */
  constructor(root, { fades = true } = {}) {
    this.root = root;
    this.fades = fades && !matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  /**
   * Show *pieces*, and nothing else.
   * @param {Piece[]} pieces
   * @param {{isNew?: boolean}} [options] whether what appears was written just now
   */
  show(pieces, { isNew = true } = {}) {
    this.#joinFaded(performance.now() - FADE_MS);
    this.isNew = isNew && this.fades;
    this.#showIn(this.root, this.#drawn, pieces);
  }

  /**
   * Add *text* to what stands at the very end.
   * @param {string} text
   */
  appendToLast(text) {
    this.#joinFaded(performance.now() - FADE_MS);
    this.isNew = this.fades;
    let last = this.#drawn.at(-1);
    while (last?.children.length) {
      last = last.children.at(-1);
    }
    if (last?.node instanceof Text && text) {
      last.piece = { ...last.piece, text: last.piece.text + text };
      this.#grow(last, text);
    }
  }

  /** Let nothing fade any longer. */
  settle() {
    clearTimeout(this.#timer);
    this.#joinFaded(Number.POSITIVE_INFINITY);
  }

  /**
   * @param {Node} parent
   * @param {Drawn[]} drawn what is in it, which becomes what *pieces* say
   * @param {Piece[]} pieces
   */
  #showIn(parent, drawn, pieces) {
    pieces.forEach((piece, index) => {
      const old = drawn[index];
      if (!old) {
        drawn.push(this.#create(parent, piece));
      } else if (old.piece !== piece && !this.#update(old, piece)) {
        this.#remove(old);
        const created = this.#create(parent, piece);
        const next = drawn[index + 1]?.node ?? null;
        for (const node of [created.node, ...created.fresh]) {
          parent.insertBefore(node, next);
        }
        drawn[index] = created;
      }
    });
    for (const old of drawn.splice(pieces.length)) {
      this.#remove(old);
    }
  }

  /**
   * @param {Drawn} drawn
   * @param {Piece} piece
   * @returns {boolean} whether it could become the piece
   */
  #update(drawn, piece) {
    const old = drawn.piece;
    if (old.tag !== piece.tag || !isSame(old.attributes, piece.attributes)) {
      return false;
    }
    drawn.piece = piece;
    if (piece.tag) {
      this.#showIn(drawn.node, drawn.children, piece.children ?? []);
    } else if (piece.text.startsWith(old.text)) {
      piece.text.length > old.text.length && this.#grow(drawn, piece.text.slice(old.text.length));
    } else {
      this.#drop(drawn);
      /** @type {Text} */ (drawn.node).data = piece.text;
    }
    return true;
  }

  /**
   * @param {Node} parent
   * @param {Piece} piece
   * @returns {Drawn}
   */
  #create(parent, piece) {
    if (!piece.tag) {
      const node = document.createTextNode("");
      parent.appendChild(node);
      /** @type {Drawn} */
      const drawn = { piece, node, children: [], fresh: [] };
      this.#grow(drawn, piece.text);
      return drawn;
    }
    if (!ELEMENTS.has(piece.tag)) {
      throw new Error(`no element of Markdown: ${piece.tag}`);
    }
    const node = document.createElement(piece.tag);
    for (const [name, value] of Object.entries(piece.attributes ?? {})) {
      node.setAttribute(name, value);
    }
    parent.appendChild(node);
    /** @type {Drawn} */
    const drawn = { piece, node, children: [], fresh: [] };
    this.#showIn(node, drawn.children, piece.children ?? []);
    return drawn;
  }

  /**
   * @param {Drawn} drawn
   * @param {string} text
   */
  #grow(drawn, text) {
    const node = /** @type {Text} */ (drawn.node);
    if (!this.isNew || !text.trim()) {
      const end = drawn.fresh.at(-1)?.firstChild ?? node;
      /** @type {Text} */ (end).appendData(text);
      return;
    }
    const span = document.createElement("span");
    span.className = "fresh";
    span.textContent = text;
    (drawn.fresh.at(-1) ?? node).after(span);
    drawn.fresh.push(span);
    this.#fading.push({ drawn, span, at: performance.now() });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.settle(), FADE_MS);
  }

  /** @param {number} until what began to fade before */
  #joinFaded(until) {
    while (this.#fading.length && this.#fading[0].at <= until) {
      const { drawn, span } = /** @type {{drawn: Drawn, span: HTMLElement}} */ (this.#fading.shift());
      if (drawn.fresh[0] === span) {
        drawn.fresh.shift();
        /** @type {Text} */ (drawn.node).appendData(span.textContent ?? "");
        span.remove();
      }
    }
  }

  /** @param {Drawn} drawn */
  #drop(drawn) {
    for (const span of drawn.fresh.splice(0)) {
      span.remove();
    }
  }

  /** @param {Drawn} drawn */
  #remove(drawn) {
    this.#drop(drawn);
    /** @type {ChildNode} */ (drawn.node).remove();
  }
}

/**
 * @param {Record<string, string>} [one]
 * @param {Record<string, string>} [other]
 */
function isSame(one = {}, other = {}) {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}
