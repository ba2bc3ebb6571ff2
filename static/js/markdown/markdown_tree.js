/** Blocks of Markdown as the elements that the server draws of them, still without a page. */

import { BlockParser, BlockTooComplex, MAX_PARAGRAPH_CHARACTERS } from "./block_parser.js";
import { InlineParser } from "./inline_parser.js";
import { toPieces } from "./inline_pieces.js";
import { readOpenText } from "./open_text.js";

/**
 * @import { Block } from "./block_parser.js"
 * @import { Piece } from "./inline_pieces.js"
 */

const MAX_NESTED_ELEMENTS = 100;
const MAX_LABEL_CHARACTERS = 30;
const UNSHOWABLE = /\0|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
// What the last line may still become anything with: marks alone, a number, the beginning of a fence.
const UNDECIDED = /^[\t >]*(?:(?:[-+*]|\d{1,9}[.)])[\t ]+)*(?:[-=*_+#>|`~:$\\ \t]+|\d{1,9}[.)]?|`{3,}[^`]*|~{3,}.*)$/s;
const CLOSES_FENCE = /^[\t >]*(?:`+|~+)[\t ]*$/;

export class MarkdownTree {
  /** @type {Map<string, Piece[]>} what the texts of blocks were read as */
  #read = new Map();

  /** @param {number} passages how many may be cited */
  constructor(passages = 0) {
    this.passages = passages;
    /** @type {Block | undefined} the code that *source* ends with, at the outermost level */
    this.openCode = undefined;
  }

  /**
   * Return the elements of a finished text.
   * @param {string} source
   */
  read(source) {
    const { blocks, env } = this.#blocksOf(source);
    return this.#draw(blocks, env, new Set());
  }

  /**
   * Return the elements of a text that is still being written, with what it ends with closed.
   * @param {string} source
   */
  readOpen(source) {
    const last = source.slice(source.lastIndexOf("\n") + 1);
    const isHeld = last !== "" && UNDECIDED.test(last);
    let { blocks, env } = this.#blocksOf(isHeld ? source.slice(0, source.length - last.length) : source);
    if (isHeld && isOpenCode(leafOf(blocks)) && !CLOSES_FENCE.test(last)) {
      ({ blocks, env } = this.#blocksOf(source));
    }
    holdTable(blocks, source);
    const code = blocks.at(-1);
    this.openCode = isOpenCode(code) ? code : undefined;
    const leaf = leafOf(blocks);
    const isOpen = leaf?.inline && (leaf.isOpen || !source.endsWith("\n"));
    return this.#draw(blocks, env, new Set(isOpen && !isHeld ? [leaf] : []));
  }

  /** @param {string} source */
  #blocksOf(source) {
    const text = source.replace(/\r\n?/g, "\n").replace(UNSHOWABLE, "\ufffd");
    const env = { references: new Map(), passages: this.passages };
    return { blocks: new BlockParser(text, env.references).parse(), env };
  }

  /**
   * @param {Block[]} blocks
   * @param {import("./inline_parser.js").Env} env
   * @param {Set<Block | undefined>} open
   */
  #draw(blocks, env, open) {
    /** @type {Map<string, Piece[]>} */
    const read = new Map();
    const prefix = `${env.passages} ${[...env.references].map(([name, { href }]) => `${name} ${href}`).join(" ")}\n`;
    const textOf = (/** @type {Block} */ block) => {
      const source = block.inline ?? "";
      if (open.has(block)) {
        return toPieces(readOpenText(source, env));
      }
      const key = prefix + source;
      const known = read.get(key) ?? this.#read.get(key);
      const pieces = known ?? toPieces(new InlineParser(source, env).parse());
      read.set(key, pieces);
      return pieces;
    };
    const pieces = blocks.flatMap((block) => toElements(block, textOf, 1));
    this.#read = read;
    return pieces;
  }
}

export { BlockTooComplex, MAX_PARAGRAPH_CHARACTERS };

/** @param {Block | undefined} block */
function isOpenCode(block) {
  return block?.kind === "code" && block.isOpen === true;
}

/**
 * Return the block that the text ends with: of a row the last cell that has begun.
 * @param {Block[]} blocks
 * @returns {Block | undefined}
 */
function leafOf(blocks) {
  const last = blocks.findLast(({ tag, inline }) => inline !== "" || (tag !== "td" && tag !== "th"));
  return last?.children?.length ? leafOf(last.children) : last;
}

/**
 * Hold back what may become a table until its columns are known: by its second line, and then by its first row.
 * @param {Block[]} blocks
 * @param {string} source
 */
function holdTable(blocks, source) {
  const last = blocks.at(-1);
  const inner = last && (last.tag === "blockquote" || last.tag === "ul" || last.tag === "ol" || last.tag === "li");
  if (inner) {
    holdTable(last.children ?? [], source);
  } else if (last?.tag === "p" && last.isOpen && /^\|[^\n]*$/.test(last.inline ?? "")) {
    blocks.pop();
  } else if (last?.attributes?.class === "table-scroll") {
    const [table] = last.children ?? [];
    const rows = table.children?.[1]?.children ?? [];
    if (table.isOpen && (!rows.length || (rows.length === 1 && !source.endsWith("\n")))) {
      table.children?.splice(1);
      last.attributes = { class: "table-scroll is-waiting-for-row" };
    }
  }
}

/**
 * @param {Block} block
 * @param {(block: Block) => Piece[]} textOf
 * @param {number} depth
 * @returns {Piece[]}
 */
function toElements(block, textOf, depth) {
  if (block.kind === "code") {
    return [codeBlock(block)];
  }
  if (block.kind === "formula") {
    return [{ tag: "div", text: "", attributes: block.attributes, children: [{ tag: "", text: block.text ?? "" }] }];
  }
  const children =
    block.inline === undefined
      ? (block.children ?? []).flatMap((child) => toElements(child, textOf, depth + 1))
      : textOf(block);
  if (depth + (block.inline === undefined ? 0 : depthOf(children)) > MAX_NESTED_ELEMENTS) {
    throw new BlockTooComplex();
  }
  if (block.hidden) {
    return [...children, { tag: "", text: "\n" }];
  }
  if (block.checked !== undefined) {
    const attributes = { class: "task-list-item-checkbox", type: "checkbox", disabled: "" };
    const box = { tag: "input", text: "", attributes: block.checked ? { ...attributes, checked: "" } : attributes };
    children.unshift(box, { tag: "", text: " " });
  }
  return [{ tag: block.tag, text: "", attributes: block.attributes, children }];
}

/** @param {Piece[]} pieces */
function depthOf(pieces) {
  /** @type {number} */
  let deepest = 0;
  for (const { children } of pieces) {
    deepest = Math.max(deepest, children ? 1 + depthOf(children) : 0);
  }
  return deepest;
}

/**
 * @param {Block} block
 * @returns {Piece}
 */
function codeBlock({ text = "", language = "" }) {
  const label = [...language].slice(0, MAX_LABEL_CHARACTERS).join("") || "text";
  const bar = [
    element("span", { class: "code-block-language" }, [{ tag: "", text: label }]),
    element("button", { type: "button", class: "code-block-copy", "data-copy": "" }, []),
  ];
  const code = element("pre", {}, [element("code", {}, [{ tag: "", text }])]);
  return element("div", { class: "code-block" }, [element("div", { class: "code-block-bar" }, bar), code]);
}

/**
 * @param {string} tag
 * @param {Record<string, string>} attributes
 * @param {Piece[]} children
 * @returns {Piece}
 */
function element(tag, attributes, children) {
  return { tag, text: "", attributes, children };
}
