/** Names that people give, in sentences: one that runs from right to left changes the order of no word around it. */

const FIRST_STRONG_ISOLATE = "\u2068";
const POP_DIRECTIONAL_ISOLATE = "\u2069";
// Embeddings, overrides and isolates, which may begin in a name and not end in it; and what ends all isolates.
const CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;
const ENDS_ISOLATES = /[\p{Cc}\u2029]/gu;
// Hebrew, Arabic and the other scripts from right to left, with their marks: blocks that Unicode keeps for them.
const RIGHT_TO_LEFT = /[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * Return *name* as it stands in a sentence of plain text, as `isolate_name` of the server does.
 * @param {string} name
 * @returns {string}
 */
export function isolateName(name) {
  const text = name.replace(ENDS_ISOLATES, " ").replace(CONTROLS, "");
  const isIsolated = text && (document.documentElement.dir === "rtl" || RIGHT_TO_LEFT.test(text));
  return isIsolated ? FIRST_STRONG_ISOLATE + text + POP_DIRECTIONAL_ISOLATE : text;
}
