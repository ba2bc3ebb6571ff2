/**
 * Markdown to blocks, by the rules of `conversations/rendering/markdown.py`: CommonMark with tables, task lists and
 * formulas, and without HTML. The text in the blocks is left for `inline_parser.js`.
 *
 * It exists so that the block of a reply which is still being written can be drawn; a property test holds it to what the
 * server draws. Pure: knows no page.
 */

import { formulaEnd } from "./formula_marks.js";
import { readDefinition } from "./link_parser.js";
import { trimMarkdown } from "./markdown_characters.js";
import { readAlignments, splitRow } from "./table_row.js";

export const MAX_PARTS = 10_000;
export const MAX_PARAGRAPH_CHARACTERS = 20_000;
const MAX_PADDED_CELLS = 2_000;
const MAX_NESTING = 20;

/** The block is above a limit: it is shown as plain text. */
export class BlockTooComplex extends Error {}

/**
 * @typedef {object} Block
 * @property {string} tag
 * @property {string} [kind] for code and formulas: what is in `text`
 * @property {Record<string, string>} [attributes]
 * @property {Block[]} [children]
 * @property {string} [inline] text with marks that is still to be parsed
 * @property {string} [text] text as it is
 * @property {string} [language] of code
 * @property {boolean} [hidden] a paragraph of a tight list, drawn without its element
 * @property {boolean | undefined} [checked] of a task
 * @property {boolean} [isOpen] whether more text may become part of it
 */

/** @typedef {(line: number, end: number, silent: boolean) => boolean} Rule */

export class BlockParser {
  /**
   * @param {string} source with line feeds only
   * @param {Map<string, {href: string}>} references link definitions; those found are added
   */
  constructor(source, references) {
    this.source = source;
    this.references = references;
    /** @type {number[]} where each line begins; containers move it */
    this.begins = [];
    /** @type {number[]} */
    this.ends = [];
    /** @type {number[]} how many characters of white space a line begins with */
    this.shifts = [];
    /** @type {number[]} how many columns that is */
    this.indents = [];
    /** @type {number[]} */
    this.columns = [];
    this.blockIndent = 0;
    this.listIndent = -1;
    this.line = 0;
    this.isTight = false;
    this.parent = "root";
    this.level = 0;
    this.parts = 0;
    /** @type {Block[]} */
    this.out = [];
    /** @type {Record<string, Rule>} */
    const rule = {};
    for (const name of /** @type {const} */ ([
      "table",
      "code",
      "formula",
      "fence",
      "quote",
      "rule",
      "list",
      "reference",
      "heading",
      "underlined",
      "paragraph",
    ])) {
      rule[name] = this[`${name}Rule`].bind(this);
    }
    this.rules = Object.values(rule);
    const { table, formula, fence, quote, rule: line, list, heading } = rule;
    this.endsList = [formula, fence, quote, line];
    this.endsQuote = [formula, fence, quote, line, list, heading];
    this.endsParagraph = [table, ...this.endsQuote];
    this.#readLines();
    this.lineCount = this.begins.length - 1;
  }

  /** @returns {Block[]} */
  parse() {
    this.#readBlocks(0, this.lineCount);
    return this.out;
  }

  #readLines() {
    const { source } = this;
    const { length } = source;
    let start = 0;
    while (start < length) {
      let end = source.indexOf("\n", start);
      end = end < 0 ? length : end;
      let [position, column] = [start, 0];
      while (position < end && isSpace(source[position])) {
        column += source[position] === "\t" ? 4 - (column % 4) : 1;
        position += 1;
      }
      if (position === end && end === length) {
        break;
      }
      this.#addLine(start, end, position - start, column);
      start = end < length ? end + 1 : length;
    }
    this.#addLine(length, length, 0, 0);
  }

  /**
   * @param {number} begin
   * @param {number} end
   * @param {number} shift
   * @param {number} indent
   */
  #addLine(begin, end, shift, indent) {
    this.begins.push(begin);
    this.ends.push(end);
    this.shifts.push(shift);
    this.indents.push(indent);
    this.columns.push(0);
  }

  /**
   * @param {number} first
   * @param {number} end
   */
  #readBlocks(first, end) {
    let line = first;
    let hasBlank = false;
    while (line < end) {
      while (line < this.lineCount && this.isBlank(line)) {
        line += 1;
      }
      this.line = line;
      if (line >= end || this.indents[line] < this.blockIndent) {
        break;
      }
      if (this.level >= MAX_NESTING) {
        this.line = end;
        break;
      }
      this.rules.some((rule) => rule(line, end, false));
      this.isTight = !hasBlank;
      ({ line } = this);
      if (line - 1 < end && this.isBlank(line - 1)) {
        hasBlank = true;
      }
      if (line < end && this.isBlank(line)) {
        hasBlank = true;
        line += 1;
        this.line = line;
      }
    }
  }

  /** @param {number} line */
  isBlank(line) {
    return this.begins[line] + this.shifts[line] >= this.ends[line];
  }

  /** @param {number} line */
  isCode(line) {
    return this.indents[line] - this.blockIndent >= 4;
  }

  /** @param {number} line */
  textStart(line) {
    return this.begins[line] + this.shifts[line];
  }

  /** @param {number} line */
  textOf(line) {
    return this.source.slice(this.textStart(line), this.ends[line]);
  }

  /**
   * Return lines without so many columns of indentation.
   * @param {number} first
   * @param {number} end
   * @param {number} indent
   * @param {boolean} keepsLastEnd
   */
  linesOf(first, end, indent, keepsLastEnd) {
    const lines = [];
    for (let line = first; line < end; line += 1) {
      const begin = this.begins[line];
      const last = this.ends[line] + (line + 1 < end || keepsLastEnd ? 1 : 0);
      let [position, column] = [begin, 0];
      while (position < last && column < indent) {
        const character = this.source[position];
        if (character === "\t") {
          column += 4 - ((column + this.columns[line]) % 4);
        } else if (character === " " || position - begin < this.shifts[line]) {
          column += 1;
        } else {
          break;
        }
        position += 1;
      }
      lines.push(" ".repeat(Math.max(0, column - indent)) + this.source.slice(position, last));
    }
    return lines.join("");
  }

  /**
   * @param {Block} block
   * @param {number} parts as the server counts what is opened, closed and between
   */
  #push(block, parts) {
    this.parts += parts;
    if (this.parts > MAX_PARTS || (block.inline?.length ?? 0) > MAX_PARAGRAPH_CHARACTERS) {
      throw new BlockTooComplex();
    }
    this.out.push(block);
  }

  /**
   * @param {Block} block
   * @param {() => void} fill
   */
  #pushContainer(block, fill) {
    const outer = this.out;
    this.#push(block, 2);
    this.out = block.children = [];
    this.level += 1;
    fill();
    this.level -= 1;
    this.out = outer;
  }

  /**
   * @param {Rule[]} rules
   * @param {number} line
   * @param {number} end
   */
  #isEndedBy(rules, line, end) {
    return rules.some((rule) => rule(line, end, true));
  }

  /** @type {Rule} */
  tableRule(line, end, silent) {
    if (line + 2 > end || this.indents[line + 1] < this.blockIndent || this.isCode(line + 1)) {
      return false;
    }
    const below = this.textOf(line + 1);
    if (!/^(?:[|:][-|:\t ]|-[-|:])[-|:\t ]*$/.test(below)) {
      return false;
    }
    const alignments = readAlignments(below);
    const head = trimMarkdown(this.textOf(line));
    if (!alignments || !head.includes("|") || this.isCode(line)) {
      return false;
    }
    const cells = splitRow(head);
    if (!cells.length || cells.length !== alignments.length) {
      return false;
    }
    if (!silent) {
      this.#readTable(line, end, cells, alignments);
    }
    return true;
  }

  /**
   * @param {number} line
   * @param {number} end
   * @param {string[]} head
   * @param {string[]} alignments
   */
  #readTable(line, end, head, alignments) {
    const outer = this.parent;
    this.parent = "table";
    this.parts += 8;
    /** @type {Block} */
    const table = { tag: "table", children: [{ tag: "thead", children: [this.#rowOf("th", head, alignments)] }] };
    this.#push({ tag: "div", attributes: { class: "table-scroll" }, children: [table] }, 0);
    /** @type {Block[]} */
    const rows = [];
    let padded = 0;
    let next = line + 2;
    for (; next < end; next += 1) {
      if (this.indents[next] < this.blockIndent || this.#isEndedBy(this.endsQuote, next, end)) {
        break;
      }
      const text = trimMarkdown(this.textOf(next));
      if (!text || this.isCode(next)) {
        break;
      }
      const cells = splitRow(text);
      padded += head.length - cells.length;
      if (padded > MAX_PADDED_CELLS) {
        break;
      }
      this.parts += 2;
      rows.push(this.#rowOf("td", cells, alignments));
    }
    if (rows.length) {
      table.children?.push({ tag: "tbody", children: rows });
    }
    table.isOpen = next >= this.lineCount;
    this.parent = outer;
    this.line = next;
  }

  /**
   * @param {string} tag
   * @param {string[]} cells
   * @param {string[]} alignments
   * @returns {Block}
   */
  #rowOf(tag, cells, alignments) {
    this.parts += 3 * alignments.length;
    if (this.parts > MAX_PARTS) {
      throw new BlockTooComplex();
    }
    /** @type {Block[]} */
    const drawn = alignments.map((alignment, index) => ({
      tag,
      attributes: alignment ? { class: `align-${alignment}` } : undefined,
      inline: trimMarkdown(cells[index] ?? ""),
    }));
    return { tag: "tr", children: drawn };
  }

  /** @type {Rule} */
  codeRule(line, end) {
    if (!this.isCode(line)) {
      return false;
    }
    let last = line + 1;
    for (let next = line + 1; next < end && (this.isBlank(next) || this.isCode(next)); next += 1) {
      last = this.isBlank(next) ? last : next + 1;
    }
    this.line = last;
    const text = `${this.linesOf(line, last, 4 + this.blockIndent, false)}\n`;
    this.#push({ tag: "pre", kind: "code", text, language: "", isOpen: last >= this.lineCount }, 1);
    return true;
  }

  /** @type {Rule} */
  formulaRule(line, end, silent) {
    const start = this.textStart(line);
    const opener = this.source.slice(start, start + 2);
    if ((opener !== "$$" && opener !== "\\[") || this.isCode(line)) {
      return false;
    }
    const closedAt = formulaEnd(this.source, start + 2, opener);
    const after = closedAt < 0 ? 0 : this.#lineClosedAt(closedAt, line, end);
    if (!after || !this.source.slice(start + 2, closedAt).trim()) {
      return false;
    }
    if (!silent) {
      const text = this.linesOf(line, after, this.indents[line], false).trim();
      this.#push({ tag: "div", kind: "formula", attributes: { class: "math-display" }, text }, 1);
      this.line = after;
    }
    return true;
  }

  /**
   * Return the line after the one that ends with the closer, if a block of lines leads there; or 0.
   * @param {number} closedAt
   * @param {number} first
   * @param {number} end
   */
  #lineClosedAt(closedAt, first, end) {
    for (let line = first; line < end && !this.isBlank(line) && this.indents[line] >= this.blockIndent; line += 1) {
      if (closedAt < this.ends[line]) {
        return this.source.slice(closedAt + 2, this.ends[line]).trim() ? 0 : line + 1;
      }
    }
    return 0;
  }

  /** @type {Rule} */
  fenceRule(line, end, silent) {
    const [, marks, info] = /^(`{3,}|~{3,})(.*)$/su.exec(this.textOf(line)) ?? [];
    if (!marks || this.isCode(line) || (marks[0] === "`" && info.includes("`"))) {
      return false;
    }
    if (silent) {
      return true;
    }
    const closing = new RegExp(`^[${marks[0]}]{${marks.length},}[\\t ]*$`);
    let isClosed = false;
    let next = line + 1;
    for (; next < end; next += 1) {
      if (!this.isBlank(next) && this.indents[next] < this.blockIndent) {
        break;
      }
      if (this.source[this.textStart(next)] === marks[0] && !this.isCode(next) && closing.test(this.textOf(next))) {
        isClosed = true;
        break;
      }
    }
    this.line = next + (isClosed ? 1 : 0);
    const text = this.linesOf(line + 1, next, this.indents[line], true);
    const [language] = info.trim().split(" ");
    this.#push({ tag: "pre", kind: "code", text, language, isOpen: !isClosed && next >= this.lineCount }, 1);
    return true;
  }

  /** @type {Rule} */
  quoteRule(first, end, silent) {
    if (this.isCode(first) || this.source[this.textStart(first)] !== ">" || this.isBlank(first)) {
      return false;
    }
    if (silent) {
      return true;
    }
    const [count, parent] = [this.lineCount, this.parent];
    /** @type {number[][]} */
    const kept = [];
    /** @param {number} line */
    const keep = (line) => kept.push([this.begins[line], this.columns[line], this.shifts[line], this.indents[line]]);
    keep(first);
    let isLastBlank = this.#stripQuoteMark(first);
    this.parent = "blockquote";
    let next = first + 1;
    for (; next < end; next += 1) {
      const isOutdented = this.indents[next] < this.blockIndent;
      if (this.isBlank(next)) {
        break;
      }
      if (this.source[this.textStart(next)] === ">" && !isOutdented) {
        keep(next);
        isLastBlank = this.#stripQuoteMark(next);
        continue;
      }
      if (isLastBlank) {
        break;
      }
      if (this.#isEndedBy(this.endsQuote, next, end)) {
        this.lineCount = next;
        if (this.blockIndent) {
          keep(next);
          this.indents[next] -= this.blockIndent;
        }
        break;
      }
      keep(next);
      this.indents[next] = -1; // goes on with the paragraph
    }
    const indent = this.blockIndent;
    this.blockIndent = 0;
    this.#pushContainer({ tag: "blockquote" }, () => this.#readBlocks(first, next));
    this.lineCount = count;
    this.parent = parent;
    kept.forEach(([begin, column, shift, columns], index) => {
      const line = first + index;
      this.begins[line] = begin;
      this.columns[line] = column;
      this.shifts[line] = shift;
      this.indents[line] = columns;
    });
    this.blockIndent = indent;
    return true;
  }

  /**
   * Let *line* begin after its mark of a quote; return whether nothing follows it.
   * @param {number} line
   */
  #stripQuoteMark(line) {
    const { source } = this;
    let position = this.textStart(line) + 1;
    let initial = this.indents[line] + 1;
    const hasSpace = isSpace(source[position]);
    let extra = 0;
    if (source[position] === " " || (source[position] === "\t" && (this.columns[line] + initial) % 4 === 3)) {
      position += 1;
      initial += 1;
    } else if (source[position] === "\t") {
      extra = 1;
    }
    let offset = initial;
    this.begins[line] = position;
    while (position < this.ends[line] && isSpace(source[position])) {
      offset += source[position] === "\t" ? 4 - ((offset + this.columns[line] + extra) % 4) : 1;
      position += 1;
    }
    this.columns[line] = this.indents[line] + 1 + (hasSpace ? 1 : 0);
    this.indents[line] = offset - initial;
    this.shifts[line] = position - this.begins[line];
    return position >= this.ends[line];
  }

  /** @type {Rule} */
  ruleRule(line, _end, silent) {
    if (this.isCode(line) || !/^(?:(?:\*[\t ]*){3,}|(?:-[\t ]*){3,}|(?:_[\t ]*){3,})$/.test(this.textOf(line))) {
      return false;
    }
    if (!silent) {
      this.line = line + 1;
      this.#push({ tag: "hr" }, 1);
    }
    return true;
  }

  /**
   * Return the mark of a list's item and the position after it.
   * @param {number} line
   */
  #itemMark(line) {
    const [mark] = /^(?:[-+*]|\d{1,9}[.)])(?![^\t ])/u.exec(this.textOf(line)) ?? [];
    return mark ? { mark, after: this.textStart(line) + mark.length } : undefined;
  }

  /** @type {Rule} */
  listRule(first, end, silent) {
    const isFarIn = this.listIndent >= 0 && this.indents[first] - this.listIndent >= 4;
    if (this.isCode(first) || (isFarIn && this.indents[first] < this.blockIndent)) {
      return false;
    }
    let found = this.#itemMark(first);
    if (!found) {
      return false;
    }
    const endsParagraph = silent && this.parent === "paragraph" && this.indents[first] >= this.blockIndent;
    const isOrdered = found.mark.length > 1;
    const number = Number.parseInt(found.mark, 10);
    const isEmpty = !this.source.slice(found.after, this.ends[first]).replace(/[\t ]+/g, "");
    if (endsParagraph && (isEmpty || (isOrdered && number !== 1))) {
      return false;
    }
    if (silent) {
      return true;
    }
    /** @type {Record<string, string>} */
    const attributes = isOrdered && number !== 1 ? { start: String(number) } : {};
    /** @type {Block} */
    const list = { tag: isOrdered ? "ol" : "ul", attributes };
    const kind = found.mark.at(-1);
    const parent = this.parent;
    this.parent = "list";
    let [isTight, endedBlank, line] = [true, false, first];
    this.#pushContainer(list, () => {
      while (line < end && found) {
        const start = line;
        const itemTight = this.#readItem(line, end, found);
        isTight = isTight && itemTight && !endedBlank;
        ({ line } = this);
        endedBlank = line - start > 1 && this.isBlank(line - 1);
        if (
          line >= end ||
          this.indents[line] < this.blockIndent ||
          this.isCode(line) ||
          this.#isEndedBy(this.endsList, line, end)
        ) {
          break;
        }
        found = this.#itemMark(line);
        const isSame = found && found.mark.at(-1) === kind && found.mark.length > 1 === isOrdered;
        found = isSame ? found : undefined;
      }
    });
    this.line = line;
    this.parent = parent;
    const items = list.children ?? [];
    if (items.some(({ checked }) => checked !== undefined)) {
      attributes.class = "contains-task-list";
    }
    if (isTight) {
      for (const item of items) {
        for (const block of item.children ?? []) {
          block.hidden = block.tag === "p";
        }
      }
    }
    return true;
  }

  /**
   * @param {number} line
   * @param {number} end
   * @param {{mark: string, after: number}} found
   * @returns {boolean} whether it is tight
   */
  #readItem(line, end, { mark, after }) {
    const { source } = this;
    const initial = this.indents[line] + mark.length;
    let [position, offset] = [after, initial];
    while (position < this.ends[line] && isSpace(source[position])) {
      offset += source[position] === "\t" ? 4 - ((offset + this.columns[line]) % 4) : 1;
      position += 1;
    }
    const isEmpty = position >= this.ends[line];
    const space = isEmpty || offset - initial > 4 ? 1 : offset - initial;
    const kept = [this.isTight, this.begins[line], this.shifts[line], this.indents[line], this.listIndent];
    this.listIndent = this.blockIndent;
    this.blockIndent = initial + space;
    this.isTight = true;
    this.shifts[line] = position - this.begins[line];
    this.indents[line] = offset;
    /** @type {Block} */
    const item = { tag: "li" };
    const task =
      isEmpty || this.isCode(line) ? null : /^\[([ xX])\][\t ]/.exec(source.slice(position, this.ends[line]));
    if (task) {
      item.checked = task[1] !== " ";
      item.attributes = { class: "task-list-item" };
      this.begins[line] = position + 4;
      this.shifts[line] = 0;
    }
    this.#pushContainer(item, () => {
      if (isEmpty && this.isBlank(line + 1)) {
        this.line = Math.min(line + 2, end); // nothing comes into an item after an empty line
      } else {
        this.#readBlocks(line, end);
      }
    });
    const { isTight } = this;
    this.blockIndent = this.listIndent;
    [this.isTight, this.begins[line], this.shifts[line], this.indents[line], this.listIndent] =
      /** @type {[boolean, number, number, number, number]} */ (kept);
    return isTight;
  }

  /** @type {Rule} */
  referenceRule(line, _end, silent) {
    if (this.isCode(line) || this.source[this.textStart(line)] !== "[") {
      return false;
    }
    const begin = this.textStart(line);
    const definition = readDefinition(this.source.slice(begin, this.ends[line] + 1), (at) => this.#nextLine(line + at));
    if (!definition) {
      return false;
    }
    if (!silent) {
      this.line = line + definition.lines;
      if (!this.references.has(definition.label)) {
        this.references.set(definition.label, { href: definition.href });
      }
    }
    return true;
  }

  /**
   * Return a line that goes on with a definition.
   * @param {number} line
   */
  #nextLine(line) {
    if (line >= this.lineCount || this.isBlank(line)) {
      return undefined;
    }
    if (!this.isCode(line) && this.indents[line] >= 0) {
      const { parent } = this;
      this.parent = "reference";
      const isEnded = this.#isEndedBy(this.endsParagraph, line, this.lineCount);
      this.parent = parent;
      if (isEnded) {
        return undefined;
      }
    }
    return this.source.slice(this.textStart(line), this.ends[line] + 1);
  }

  /** @type {Rule} */
  headingRule(line, _end, silent) {
    const [, marks, rest] = /^(#{1,6})([\t ].*)?$/su.exec(this.textOf(line)) ?? [];
    if (!marks || this.isCode(line)) {
      return false;
    }
    if (!silent) {
      this.line = line + 1;
      const text = (rest ?? "").replace(/[\t ]+$/, "").replace(/[\t ]#+$/, "");
      this.#pushText({ tag: headingTag(marks.length), inline: trimMarkdown(text) });
    }
    return true;
  }

  /** @type {Rule} */
  underlinedRule(line, end) {
    if (this.isCode(line)) {
      return false;
    }
    const { parent } = this;
    this.parent = "paragraph";
    let level = 0;
    let next = line + 1;
    for (; next < end && !this.isBlank(next); next += 1) {
      if (this.indents[next] - this.blockIndent > 3) {
        continue;
      }
      if (this.indents[next] >= this.blockIndent) {
        const [mark] = /^(?:-+|=+)(?=[\t ]*$)/.exec(this.textOf(next)) ?? [];
        if (mark) {
          level = mark[0] === "=" ? 1 : 2;
          break;
        }
      }
      if (this.indents[next] >= 0 && this.#isEndedBy(this.endsParagraph, next, end)) {
        break;
      }
    }
    if (!level) {
      return false; // and what follows is read as in a paragraph, as the server's parser does
    }
    this.parent = parent;
    this.line = next + 1;
    const inline = trimMarkdown(this.linesOf(line, next, this.blockIndent, false));
    this.#pushText({ tag: headingTag(level), inline });
    return true;
  }

  /** @type {Rule} */
  paragraphRule(line) {
    const end = this.lineCount;
    const { parent } = this;
    this.parent = "paragraph";
    let next = line + 1;
    for (; next < end && !this.isBlank(next); next += 1) {
      const goesOn = this.indents[next] - this.blockIndent > 3 || this.indents[next] < 0;
      if (!goesOn && this.#isEndedBy(this.endsParagraph, next, end)) {
        break;
      }
    }
    this.parent = parent;
    this.line = next;
    const inline = trimMarkdown(this.linesOf(line, next, this.blockIndent, false));
    this.#pushText({ tag: "p", inline, isOpen: next >= end });
    return true;
  }

  /** @param {Block} block */
  #pushText(block) {
    this.#push(block, 3);
  }
}

/** @param {string | undefined} character */
function isSpace(character) {
  return character === " " || character === "\t";
}

/** @param {number} level */
function headingTag(level) {
  return `h${Math.min(level + 2, level > 3 ? 6 : 5)}`;
}
