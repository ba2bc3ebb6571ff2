/**
 * The text of a block to what stands in it: marks, code, links, citations. The rules are those of the server's rendering
 * (`conversations/rendering/`), so that what a reply says while it is written is what it says when the block is finished.
 *
 * Pure: knows no page.
 */

import { closeEmphasis, closeStrikes, pairMarks } from "./emphasis_marks.js";
import { inlineFormulaEnd } from "./formula_marks.js";
import { isAllowedAddress, normaliseAddress, readDestination, titleEnd } from "./link_parser.js";
import { isPunctuation, isShowable, isWhiteSpace, namedCharacter, normaliseLabel } from "./markdown_characters.js";

const MAX_NESTING = 20;
const PLAIN = /[^\n!#$%&*+\-:<=>@[\\\]^_`{}~]+/y;
const OPENS_FORMULA = /^(?:\\[([]|\$\$?[^\s\d$])/;
const ESCAPED = /[!"#$%&'()*+,\-./:;<=>?@[\\\]^_`{|}~]/;
const REFERENCE = /&(?:#(?:[xX]([a-fA-F0-9]{1,6})|([0-9]{1,7}))|([a-zA-Z][a-zA-Z0-9]{1,31}));/y;
const ADDRESS_IN_BRACKETS = /<([a-zA-Z][a-zA-Z0-9+.-]{1,31}:[^<>\0-\x20]*)>/y;
const MAIL =
  /<([a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*)>/y;
const CITATION = /\[([1-9][0-9]{0,2}(?:[ \u00a0]?[,;，、；][ \u00a0]?[1-9][0-9]{0,2}){0,9})\](?!\()/y;

/**
 * @typedef {object} Token
 * @property {"text" | "open" | "close" | "code" | "break" | "space" | "formula" | "citation" | "image"} type
 * @property {string} tag
 * @property {string} text
 * @property {string} [href]
 *
 * @typedef {object} Mark a character, or two tildes, that may open or close
 * @property {string} marker
 * @property {number} length
 * @property {number} token
 * @property {number} end
 * @property {boolean} open
 * @property {boolean} close
 * @property {number} at where it stands in the text
 *
 * @typedef {object} Env
 * @property {Map<string, {href: string}>} references
 * @property {number} passages how many may be cited
 */

export class InlineParser {
  /**
   * @param {string} source
   * @param {Env} env
   */
  constructor(source, env) {
    this.source = source;
    this.env = env;
    this.position = 0;
    this.end = source.length;
    this.level = 0;
    this.linkLevel = 0;
    this.pending = "";
    /** @type {Token[]} */
    this.tokens = [];
    /** @type {Mark[]} */
    this.marks = [];
    /** @type {Mark[][]} */
    this.allMarks = [this.marks];
    /** @type {Map<number, number>} */
    this.skips = new Map();
    /** @type {Map<number, number> | undefined} */
    this.lastTicks = undefined;
    /** @type {{at: number, length: number}[]} backticks without a partner */
    this.openTicks = [];
    /** @type {number[]} where something begins like a formula that has no end */
    this.openFormulas = [];
    this.rules = [
      this.plain,
      this.lineEnd,
      this.formula,
      this.escape,
      this.code,
      this.strike,
      this.emphasis,
      this.link,
      this.image,
      this.citation,
      this.bracketed,
      this.reference,
    ];
  }

  /** @returns {Token[]} */
  parse() {
    this.read();
    for (const marks of this.allMarks) {
      pairMarks(marks);
    }
    for (const marks of this.allMarks) {
      closeStrikes(marks, this.tokens);
    }
    for (const marks of this.allMarks) {
      closeEmphasis(marks, this.tokens);
    }
    return this.tokens;
  }

  read() {
    while (this.position < this.end) {
      const found = this.level < MAX_NESTING && this.rules.some((rule) => rule.call(this, false));
      if (!found) {
        this.pending += this.source[this.position];
        this.position += 1;
      }
    }
    this.flush();
  }

  flush() {
    if (this.pending) {
      this.tokens.push({ type: "text", tag: "", text: this.pending });
      this.pending = "";
    }
  }

  /** Go behind what begins at the position, without keeping it. */
  skip() {
    const start = this.position;
    const known = this.skips.get(start);
    if (known !== undefined) {
      this.position = known;
      return;
    }
    if (this.level < MAX_NESTING) {
      this.level += 1;
      const found = this.rules.some((rule) => rule.call(this, true));
      this.level -= 1;
      this.position += found ? 0 : 1;
    } else {
      this.position = this.end;
    }
    this.skips.set(start, this.position);
  }

  /**
   * @param {Token["type"]} type
   * @param {string} text
   * @param {string} [tag]
   * @param {string} [href]
   */
  push(type, text, tag = "", href = undefined) {
    this.flush();
    this.tokens.push({ type, tag, text, href });
  }

  /** @param {boolean} silent */
  plain(silent) {
    PLAIN.lastIndex = this.position;
    const [found] = PLAIN.exec(this.source) ?? [""];
    const text = found.slice(0, this.end - this.position);
    if (!silent) {
      this.pending += text;
    }
    this.position += text.length;
    return text.length > 0;
  }

  /** @param {boolean} silent */
  lineEnd(silent) {
    if (this.source[this.position] !== "\n") {
      return false;
    }
    if (!silent) {
      const isHard = this.pending.endsWith("  ");
      this.pending = isHard ? this.pending.replace(/ +$/, "") : this.pending.replace(/ $/, "");
      isHard ? this.push("break", "") : this.push("space", "\n");
    }
    this.position += 1;
    this.#skipSpace();
    return true;
  }

  #skipSpace() {
    while (this.position < this.end && /[\t ]/.test(this.source[this.position])) {
      this.position += 1;
    }
  }

  /** @param {boolean} silent */
  formula(silent) {
    const character = this.source[this.position];
    if (character !== "$" && character !== "\\") {
      return false;
    }
    const end = inlineFormulaEnd(this.source, this.position, this.end);
    if (end < 0) {
      if (!silent && OPENS_FORMULA.test(this.source.slice(this.position, this.position + 3))) {
        this.openFormulas.push(this.position);
      }
      return false;
    }
    if (!silent) {
      this.push("formula", this.source.slice(this.position, end));
    }
    this.position = end;
    return true;
  }

  /** @param {boolean} silent */
  escape(silent) {
    const { source, position } = this;
    if (source[position] !== "\\" || position + 1 >= this.end) {
      return false;
    }
    const next = String.fromCodePoint(source.codePointAt(position + 1) ?? 0);
    if (next === "\n") {
      silent || this.push("break", "");
      this.position += 2;
      this.#skipSpace();
      return true;
    }
    if (!silent) {
      this.push("text", ESCAPED.test(next) ? next : `\\${next}`);
    }
    this.position += 1 + next.length;
    return true;
  }

  /** @param {boolean} silent */
  code(silent) {
    const { source, position: start } = this;
    if (source[start] !== "`") {
      return false;
    }
    let position = start;
    while (position < this.end && source[position] === "`") {
      position += 1;
    }
    const length = position - start;
    const closing = this.#closingTicks(position, length);
    if (closing < 0) {
      if (!silent) {
        this.pending += source.slice(start, position);
        this.openTicks.push({ at: start, length });
      }
      this.position = position;
      return true;
    }
    if (!silent) {
      const text = source.slice(position, closing).replaceAll("\n", " ");
      const isPadded = text.startsWith(" ") && text.endsWith(" ") && /[^ ]/.test(text);
      this.push("code", isPadded ? text.slice(1, -1) : text);
    }
    this.position = closing + length;
    return true;
  }

  /**
   * Return where the next run of so many backticks begins, or -1.
   * @param {number} from
   * @param {number} length
   */
  #closingTicks(from, length) {
    if (!this.lastTicks) {
      this.lastTicks = new Map();
      for (const run of this.source.matchAll(/`+/g)) {
        this.lastTicks.set(run[0].length, run.index);
      }
    }
    if ((this.lastTicks.get(length) ?? -1) < from) {
      return -1;
    }
    const runs = /`+/g;
    runs.lastIndex = from;
    for (let run = runs.exec(this.source); run && runs.lastIndex <= this.end; run = runs.exec(this.source)) {
      if (run[0].length === length) {
        return run.index;
      }
    }
    return -1;
  }

  /** @param {boolean} silent */
  strike(silent) {
    if (silent || this.source[this.position] !== "~") {
      return false;
    }
    const { length, open, close } = this.#scanMarks(true);
    if (length < 2) {
      return false;
    }
    if (length % 2) {
      this.push("text", "~");
    }
    for (let index = 0; index < length - 1; index += 2) {
      this.push("text", "~~");
      this.#addMark({ marker: "~", length: 0, open, close });
    }
    this.position += length;
    return true;
  }

  /** @param {boolean} silent */
  emphasis(silent) {
    const marker = this.source[this.position];
    if (silent || (marker !== "*" && marker !== "_")) {
      return false;
    }
    const { length, open, close } = this.#scanMarks(marker === "*");
    for (let index = 0; index < length; index += 1) {
      this.push("text", marker);
      this.#addMark({ marker, length, open, close });
    }
    this.position += length;
    return true;
  }

  /** @param {{marker: string, length: number, open: boolean, close: boolean}} mark */
  #addMark(mark) {
    this.marks.push({ ...mark, token: this.tokens.length - 1, end: -1, at: this.position });
  }

  /** @param {boolean} maySplitWord */
  #scanMarks(maySplitWord) {
    const { source, position: start, end } = this;
    let position = start;
    while (position < end && source[position] === source[start]) {
      position += 1;
    }
    const before = start > 0 ? characterBefore(source, start) : " ";
    const after = position < end ? String.fromCodePoint(source.codePointAt(position) ?? 32) : " ";
    const [spaceBefore, spaceAfter] = [isWhiteSpace(before), isWhiteSpace(after)];
    const [markBefore, markAfter] = [isPunctuation(before), isPunctuation(after)];
    const left = !(spaceAfter || (markAfter && !(spaceBefore || markBefore)));
    const right = !(spaceBefore || (markBefore && !(spaceAfter || markAfter)));
    return {
      length: position - start,
      open: left && (maySplitWord || !right || markBefore),
      close: right && (maySplitWord || !left || markAfter),
    };
  }

  /**
   * Return where the text of a link that begins at *start* ends, or -1.
   * @param {number} start
   * @param {boolean} [refusesNested]
   */
  #labelEnd(start, refusesNested = false) {
    const kept = this.position;
    this.position = start + 1;
    let [level, found] = [1, -1];
    while (this.position < this.end) {
      const character = this.source[this.position];
      if (character === "]") {
        level -= 1;
        if (!level) {
          found = this.position;
          break;
        }
      }
      const before = this.position;
      this.skip();
      if (character === "[") {
        if (before === this.position - 1) {
          level += 1;
        } else if (refusesNested) {
          break;
        }
      }
    }
    this.position = kept;
    return found;
  }

  /** @param {boolean} silent */
  link(silent) {
    if (this.source[this.position] !== "[") {
      return false;
    }
    const begin = this.position + 1;
    const labelEnd = this.#labelEnd(this.position, true);
    if (labelEnd < 0) {
      return false;
    }
    let target = this.#targetAt(labelEnd + 1, false);
    if (target === null) {
      return false;
    }
    target ??= this.#referenceAt(begin, labelEnd);
    if (!target) {
      return false;
    }
    if (!silent) {
      const { end, marks } = this;
      this.position = begin;
      this.end = labelEnd;
      this.push("open", "", "a", target.href);
      this.marks = [];
      this.allMarks.push(this.marks);
      this.level += 1;
      this.linkLevel += 1;
      this.read();
      this.linkLevel -= 1;
      this.level -= 1;
      this.push("close", "", "a");
      this.marks = marks;
      this.end = end;
    }
    this.position = target.end;
    return true;
  }

  /**
   * Read `(address "title")`: null if nothing can come of it, undefined if it may still be the name of a definition.
   * @param {number} start
   * @param {boolean} isImage
   * @returns {{href: string, end: number} | null | undefined}
   */
  #targetAt(start, isImage) {
    const { source, end } = this;
    const skipSpace = (/** @type {number} */ from) => {
      let position = from;
      while (position < end && /[\t\n ]/.test(source[position])) {
        position += 1;
      }
      return position;
    };
    if (source[start] !== "(" || start >= end) {
      return undefined;
    }
    let position = skipSpace(start + 1);
    if (position >= end) {
      return null;
    }
    let href = "";
    const destination = readDestination(source, position, end);
    if (destination) {
      const address = normaliseAddress(destination.address);
      if (isAllowedAddress(address)) {
        href = address;
        position = destination.end;
      }
      const before = position;
      position = skipSpace(position);
      const title = titleEnd(source, position, end);
      position = position < end && before !== position && title > 0 ? skipSpace(title) : position;
    }
    if (position >= end || source[position] !== ")") {
      return isImage ? null : undefined;
    }
    return { href, end: position + 1 };
  }

  /**
   * Read `[name]` behind a label, or take the label for the name.
   * @param {number} begin
   * @param {number} labelEnd
   */
  #referenceAt(begin, labelEnd) {
    if (!this.env.references.size) {
      return undefined;
    }
    let [label, end] = ["", labelEnd + 1];
    if (this.source[end] === "[" && end < this.end) {
      const closed = this.#labelEnd(end);
      if (closed >= 0) {
        label = this.source.slice(end + 1, closed);
        end = closed + 1;
      }
    }
    const definition = this.env.references.get(normaliseLabel(label || this.source.slice(begin, labelEnd)));
    return definition && { href: definition.href, end };
  }

  /** @param {boolean} silent */
  image(silent) {
    const { source, position } = this;
    if (source[position] !== "!" || source[position + 1] !== "[" || position + 1 >= this.end) {
      return false;
    }
    const labelEnd = this.#labelEnd(position + 1);
    if (labelEnd < 0) {
      return false;
    }
    let target = this.#targetAt(labelEnd + 1, true);
    if (target === null) {
      return false;
    }
    target ??= this.#referenceAt(position + 2, labelEnd);
    if (!target) {
      return false;
    }
    if (!silent) {
      const inner = new InlineParser(source.slice(position + 2, labelEnd), this.env).parse();
      const description = inner.map(({ type, text }) => (type === "space" || type === "break" ? "" : text)).join("");
      this.push("image", description.trim() || "image", "", target.href);
    }
    this.position = target.end;
    return true;
  }

  /** @param {boolean} silent */
  citation(silent) {
    const { passages } = this.env;
    if (silent || this.linkLevel || !passages || this.source[this.position] !== "[") {
      return false;
    }
    CITATION.lastIndex = this.position;
    const match = CITATION.exec(this.source);
    const numbers = match?.[1].match(/[0-9]+/g)?.map(Number) ?? [];
    if (!match || CITATION.lastIndex > this.end || !numbers.some((number) => number <= passages)) {
      return false;
    }
    for (const number of numbers) {
      if (number <= passages) {
        this.push("citation", String(number));
      } else {
        this.pending += `[${number}]`;
      }
    }
    this.position += match[0].length;
    return true;
  }

  /** @param {boolean} silent */
  bracketed(silent) {
    if (this.source[this.position] !== "<") {
      return false;
    }
    for (const [pattern, scheme] of /** @type {[RegExp, string][]} */ ([
      [ADDRESS_IN_BRACKETS, ""],
      [MAIL, "mailto:"],
    ])) {
      pattern.lastIndex = this.position;
      const match = pattern.exec(this.source);
      if (match && pattern.lastIndex <= this.end) {
        const href = normaliseAddress(scheme + match[1]);
        if (!isAllowedAddress(href)) {
          return false;
        }
        if (!silent) {
          this.push("open", "", "a", href);
          this.push("text", match[1]);
          this.push("close", "", "a");
        }
        this.position += match[0].length;
        return true;
      }
    }
    return false;
  }

  /** @param {boolean} silent */
  reference(silent) {
    if (this.source[this.position] !== "&") {
      return false;
    }
    REFERENCE.lastIndex = this.position;
    const [written, hexadecimal, decimal, name] = REFERENCE.exec(this.source) ?? [];
    if (!written) {
      return false;
    }
    let character = name && namedCharacter(name);
    if (!name) {
      const code = hexadecimal ? Number.parseInt(hexadecimal, 16) : Number(decimal);
      character = isShowable(code) ? String.fromCodePoint(code) : "\ufffd";
    }
    if (!character) {
      return false;
    }
    silent || this.push("text", character);
    this.position += written.length;
    return true;
  }
}

/**
 * @param {string} text
 * @param {number} position
 */
function characterBefore(text, position) {
  const isPair = /[\udc00-\udfff]/.test(text[position - 1]) && position > 1;
  return isPair ? text.slice(position - 2, position) : text[position - 1];
}
