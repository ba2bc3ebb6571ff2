/** The marks of emphasis and strikethrough in a text: which of them belong together, and the elements that they become. */

/** @import { Mark, Token } from "./inline_parser.js" */

/**
 * Find for each mark that may close the one that it closes, by the rules of CommonMark, in linear time.
 * @param {Mark[]} marks
 */
export function pairMarks(marks) {
  /** @type {Record<string, number[]>} */
  const bottoms = {};
  /** @type {number[]} */
  const jumps = [];
  let [head, lastToken] = [0, -2];
  marks.forEach((closer, index) => {
    jumps.push(0);
    if (marks[head].marker !== closer.marker || lastToken !== closer.token - 1) {
      head = index;
    }
    lastToken = closer.token;
    if (!closer.close) {
      return;
    }
    bottoms[closer.marker] ??= [-1, -1, -1, -1, -1, -1];
    const bottom = bottoms[closer.marker];
    const slot = (closer.open ? 3 : 0) + (closer.length % 3);
    let at = head - jumps[head] - 1;
    let lowest = at;
    for (; at > bottom[slot]; at -= jumps[at] + 1) {
      const opener = marks[at];
      if (opener.marker !== closer.marker || !opener.open || opener.end >= 0) {
        continue;
      }
      const isOdd =
        (opener.close || closer.open) &&
        (opener.length + closer.length) % 3 === 0 &&
        (opener.length % 3 !== 0 || closer.length % 3 !== 0);
      if (!isOdd) {
        const jump = at > 0 && !marks[at - 1].open ? jumps[at - 1] + 1 : 0;
        jumps[index] = index - at + jump;
        jumps[at] = jump;
        closer.open = false;
        opener.end = index;
        opener.close = false;
        lowest = -1;
        lastToken = -2;
        break;
      }
    }
    if (lowest !== -1) {
      bottom[(closer.open ? 3 : 0) + (closer.length % 3)] = lowest;
    }
  });
}

/**
 * @param {Mark[]} marks
 * @param {Token[]} tokens
 */
export function closeStrikes(marks, tokens) {
  const lone = [];
  for (const mark of marks) {
    if (mark.marker === "~" && mark.end >= 0) {
      const closing = marks[mark.end].token;
      tokens[mark.token] = { type: "open", tag: "s", text: "" };
      tokens[closing] = { type: "close", tag: "s", text: "" };
      const before = tokens[closing - 1];
      before.type === "text" && before.text === "~" && lone.push(closing - 1);
    }
  }
  for (let index = lone.pop(); index !== undefined; index = lone.pop()) {
    let last = index + 1;
    while (last < tokens.length && tokens[last].type === "close" && tokens[last].tag === "s") {
      last += 1;
    }
    last -= 1;
    [tokens[index], tokens[last]] = [tokens[last], tokens[index]];
  }
}

/**
 * @param {Mark[]} marks
 * @param {Token[]} tokens
 */
export function closeEmphasis(marks, tokens) {
  for (let index = marks.length - 1; index >= 0; index -= 1) {
    const opener = marks[index];
    if (opener.marker === "~" || opener.end < 0) {
      continue;
    }
    const closer = marks[opener.end];
    const before = marks[index - 1];
    const isStrong =
      index > 0 &&
      before.end === opener.end + 1 &&
      before.marker === opener.marker &&
      before.token === opener.token - 1 &&
      marks[opener.end + 1].token === closer.token + 1;
    const tag = isStrong ? "strong" : "em";
    tokens[opener.token] = { type: "open", tag, text: "" };
    tokens[closer.token] = { type: "close", tag, text: "" };
    if (isStrong) {
      tokens[before.token].text = "";
      tokens[marks[opener.end + 1].token].text = "";
      index -= 1;
    }
  }
}
