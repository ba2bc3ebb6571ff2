/**
 * The text that is selected in a message that is drawn again: a block of its reply is finished, all of it is, or more of it
 * was stored than the page had. Fetched when the first text is selected in the thread.
 */

import { find } from "../shared/dom.js";

const CONTENT = "[data-content]";

/**
 * Return a function that selects in the content of an element what is selected in that of *old*. It leaves the selection if
 * that is there still, if the element has another text in the place, or if it was not taken into the page. Which of its ends
 * the user goes on to move, by pointer or keyboard, stays as well.
 * @param {HTMLElement} old
 * @returns {((fresh: HTMLElement) => void) | undefined}
 */
export function rememberSelection(old) {
  const selection = getSelection();
  if (!selection?.rangeCount) {
    return undefined;
  }
  const content = find(old, CONTENT);
  const range = selection.getRangeAt(0);
  if (range.collapsed || !content.contains(range.commonAncestorContainer)) {
    return undefined;
  }
  const above = new Range();
  above.setStart(content, 0);
  above.setEnd(range.startContainer, range.startOffset);
  const start = withoutBlanks(above).length;
  const text = withoutBlanks(range);
  const isForward = selection.anchorNode === range.startContainer && selection.anchorOffset === range.startOffset;
  return (fresh) => {
    if (!text || !fresh.isConnected || withoutBlanks(range) === text) {
      return;
    }
    const again = rangeOf(find(fresh, CONTENT), start, start + text.length);
    if (withoutBlanks(again) === text) {
      const { startContainer, startOffset, endContainer, endOffset } = again;
      if (isForward) {
        selection.setBaseAndExtent(startContainer, startOffset, endContainer, endOffset);
      } else {
        selection.setBaseAndExtent(endContainer, endOffset, startContainer, startOffset);
      }
    }
  };
}

/**
 * Return the text in *range* without blanks: those between blocks differ where the page and where the server has drawn.
 * @param {Range} range
 */
function withoutBlanks(range) {
  return String(range).replace(/\s/g, "");
}

/**
 * Return what stands in *element* from the character *start* until the character *end*; blanks are not counted.
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
    for (const { index } of node.data.matchAll(/\S/g)) {
      if (at === start) {
        range.setStart(node, index);
      }
      at += 1;
      if (at === end) {
        range.setEnd(node, index + 1);
        break;
      }
    }
  }
  return range;
}
