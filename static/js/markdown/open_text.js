/**
 * The text that a block ends with while it is written: marks that are still open are closed, those that stand alone at the
 * end are held back, a link is its text until its address is whole, and a formula is text until it ends.
 */

import { InlineParser } from "./inline_parser.js";

/** @import { Env, Mark, Token } from "./inline_parser.js" */

const MAX_OPEN_FORMULA = 400; // further back a dollar is money
const PARTIAL_TASK = /^\[[ xX]?\]?$/;
const PARTIAL_CITATION = /\[(?:\d{1,3}(?:[ \u00a0]?[,;，、；][ \u00a0]?\d{0,3})*)?$/;
const PARTIAL_LINK = /!?\[([^[\]`]*)\](?:\((?:[^()\s`]|\([^()`]*\))*(?:\s[^)`]*)?|\[[^\]`]*)$/;
const PARTIAL_LABEL = /!?\[([^[\]`]*)$/;

/**
 * @param {string} source
 * @param {Env} env
 * @returns {Token[]}
 */
export function readOpenText(source, env) {
  if (PARTIAL_TASK.test(source)) {
    return [];
  }
  const text = withoutPartialLink(withoutLoneMarks(source), env);
  const first = new InlineParser(text, env);
  const tokens = first.parse();
  const formula = first.openFormulas.find((at) => text.length - at <= MAX_OPEN_FORMULA);
  if (formula !== undefined && !first.openTicks.some(({ at }) => at < formula)) {
    const closed = closeMarks(text.slice(0, formula), env);
    return [...closed, { type: "text", tag: "", text: text.slice(formula) }];
  }
  return first.openTicks.length || first.marks.some(isOpen) ? closeMarks(text, env) : tokens;
}

/**
 * @param {string} source
 * @param {Env} env
 */
function closeMarks(source, env) {
  let text = source;
  let parser = new InlineParser(text, env);
  let tokens = parser.parse();
  const [tick] = parser.openTicks.filter(({ at }) => beginsWord(text, at));
  if (tick && /\S/.test(text.slice(tick.at + tick.length))) {
    text += "`".repeat(tick.length);
    parser = new InlineParser(text, env);
    tokens = parser.parse();
  }
  const space = /\s*$/.exec(text)?.[0] ?? "";
  const open = parser.marks.filter((mark) => isOpen(mark) && beginsWord(text, mark.at));
  if (open.length) {
    const closers = open.reverse().map(({ marker }) => (marker === "~" ? "~~" : marker));
    text = text.slice(0, text.length - space.length) + closers.join("") + space;
    tokens = new InlineParser(text, env).parse();
  }
  return tokens;
}

/** @param {Mark} mark */
function isOpen({ open, end }) {
  return open && end < 0;
}

/**
 * Whether a mark at *position* stands before a word and not in it: "5*3" opens nothing.
 * @param {string} text
 * @param {number} position
 */
function beginsWord(text, position) {
  return position === 0 || !/[\p{L}\p{N}]/u.test(text[position - 1]);
}

/** @param {string} source */
function withoutLoneMarks(source) {
  const text = source.replace(/[ \t\n]+$/, "");
  const [marks] = /[*_~`]+$/.exec(text) ?? [""];
  const before = text.slice(0, text.length - marks.length);
  const isEscaped = marks && (/\\+$/.exec(before)?.[0].length ?? 0) % 2 === 1;
  if (marks && !isEscaped) {
    return before;
  }
  const slashes = /\\+$/.exec(text)?.[0].length ?? 0;
  return slashes % 2 ? text.slice(0, -1) : text;
}

/**
 * @param {string} text
 * @param {Env} env
 */
function withoutPartialLink(text, env) {
  if (env.passages && PARTIAL_CITATION.test(text)) {
    return text.replace(PARTIAL_CITATION, "");
  }
  const link = PARTIAL_LINK.exec(text);
  if (link) {
    return isCode(text, link.index, env) ? text : text.slice(0, link.index) + link[1];
  }
  const label = PARTIAL_LABEL.exec(text);
  return label && !isCode(text, label.index, env) && text[label.index - 1] !== "\\"
    ? text.slice(0, label.index) + label[1]
    : text;
}

/**
 * Whether *position* is in code that is still open.
 * @param {string} text
 * @param {number} position
 * @param {Env} env
 */
function isCode(text, position, env) {
  if (!text.includes("`")) {
    return false;
  }
  const parser = new InlineParser(text, env);
  parser.parse();
  return parser.openTicks.some(({ at }) => at < position);
}
