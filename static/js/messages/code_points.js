/** Positions in text as the server counts them: in code points, of which an emoji is one and not two. */

const HIGH_SURROGATE = /[\ud800-\udbff]/;

/** @param {string} text */
export function countCodePoints(text) {
  if (!HIGH_SURROGATE.test(text)) {
    return text.length;
  }
  let count = 0;
  for (const _ of text) {
    count += 1;
  }
  return count;
}

/**
 * Return *text* without its first *count* code points.
 * @param {string} text
 * @param {number} count
 */
export function skipCodePoints(text, count) {
  if (!HIGH_SURROGATE.test(text)) {
    return text.slice(count);
  }
  let units = 0;
  for (let skipped = 0; skipped < count && units < text.length; skipped += 1) {
    units += Number(text.codePointAt(units)) > 0xffff ? 2 : 1;
  }
  return text.slice(units);
}
