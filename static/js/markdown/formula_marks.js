/** Where formulas begin and end; they are drawn by the server, as the pattern in `conversations/rendering/formulas.py`. */

const MAX_FORMULA_CHARACTERS = 2_000;

/** @type {[string, RegExp][]} */
const INLINE = [
  ["$$", /\$\$([^$]+)\$\$/y],
  ["$", /\$(?![\s$])((?:\\.|[^\\$])+)(?<!\s)\$(?!\d)/sy],
  ["\\(", /\\\((.{1,2000}?)\\\)/suy],
  ["\\[", /\\\[(.{1,2000}?)\\\]/suy],
];

/**
 * Return the end of the formula that begins at *position*, if one does.
 * @param {string} source
 * @param {number} position
 * @param {number} end
 */
export function inlineFormulaEnd(source, position, end) {
  for (const [opener, pattern] of INLINE) {
    if (source.startsWith(opener, position)) {
      pattern.lastIndex = position;
      const match = pattern.exec(end === source.length ? source : source.slice(0, end));
      if (match?.[1].trim()) {
        return position + match[0].length;
      }
    }
  }
  return -1;
}

/**
 * Return where the closer of a formula set apart stands, or -1.
 * @param {string} source
 * @param {number} start
 * @param {string} opener
 */
export function formulaEnd(source, start, opener) {
  const found = source.slice(start, start + MAX_FORMULA_CHARACTERS).indexOf(opener === "$$" ? "$$" : "\\]");
  return found < 0 ? -1 : start + found;
}
