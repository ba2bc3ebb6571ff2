/**
 * The text that is selected in a message, which is drawn again when its reply has ended. Fetched when the first text is
 * selected in the thread.
 */

import { find } from "../shared/dom.js";

const CONTENT = "[data-content]";

/**
 * Return a function that selects in another element what is selected in the content of *old*, if it has the same text there.
 * @param {HTMLElement} old
 * @returns {((fresh: HTMLElement) => void) | undefined}
 */
export function rememberSelection(old) {
  const selection = getSelection();
  const content = find(old, CONTENT);
  const range = selection?.rangeCount ? selection.getRangeAt(0) : undefined;
  if (!range || range.collapsed || !content.contains(range.commonAncestorContainer)) {
    return undefined;
  }
  const above = new Range();
  above.setStart(content, 0);
  above.setEnd(range.startContainer, range.startOffset);
  const start = String(above).length;
  const text = String(range);
  return (fresh) => {
    const again = rangeOf(find(fresh, CONTENT), start, start + text.length);
    if (String(again) === text) {
      selection?.removeAllRanges();
      selection?.addRange(again);
    }
  };
}

/**
 * Return what stands in *element* from the character *start* until the character *end*.
 * @param {HTMLElement} element
 * @param {number} start
 * @param {number} end
 */
function rangeOf(element, start, end) {
  const range = new Range();
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let at = 0;
  while (texts.nextNode() && at < end) {
    const node = /** @type {Text} */ (texts.currentNode);
    const after = at + node.length;
    if (at <= start && start < after) {
      range.setStart(node, start - at);
    }
    range.setEnd(node, Math.min(end, after) - at);
    at = after;
  }
  return range;
}
