/** The plain text of rendered Markdown: what stands on the page, without its marks. */

const BLOCKS = new Set([
  "P",
  "H1",
  "H2",
  "H3",
  "H4",
  "H5",
  "H6",
  "UL",
  "OL",
  "BLOCKQUOTE",
  "TABLE",
  "PRE",
  "HR",
  "DIV",
]);
const LEFT_OUT = ".code-block-bar, button:not(.citation), svg, script";
const BETWEEN_BLOCKS = "\n\n";

/**
 * Return the text of *element*: blocks with an empty line between them, items with their marks, cells between tabs.
 * @param {Element} element
 * @returns {string}
 */
export function plainText(element) {
  return blocksIn(element).join(BETWEEN_BLOCKS).trim();
}

/**
 * Return the texts of the blocks in *element*; words beside blocks are a block of their own.
 * @param {Element} element
 */
function blocksIn(element) {
  /** @type {string[]} */
  const blocks = [];
  let inline = "";
  const end = () => {
    if (inline.trim()) {
      blocks.push(inline.trim());
    }
    inline = "";
  };
  for (const node of element.childNodes) {
    if (node instanceof Element && BLOCKS.has(node.tagName)) {
      end();
      const text = textOfBlock(node);
      if (text) {
        blocks.push(text);
      }
    } else {
      inline += inlineText(node);
    }
  }
  end();
  return blocks;
}

/** @param {Element} block */
function textOfBlock(block) {
  switch (block.tagName) {
    case "PRE":
      return (block.textContent ?? "").replace(/\n+$/, "");
    case "UL":
    case "OL":
      return textOfList(block);
    case "TABLE":
      return textOfTable(/** @type {HTMLTableElement} */ (block));
    case "HR":
      return "";
    default:
      return block.matches(LEFT_OUT) ? "" : blocksIn(block).join(BETWEEN_BLOCKS);
  }
}

/** @param {Element} list */
function textOfList(list) {
  const isOrdered = list instanceof HTMLOListElement;
  const first = isOrdered ? list.start : 0;
  const items = [...list.children].map((item, index) => {
    const mark = isOrdered ? `${first + index}. ` : "- ";
    return (
      mark +
      blocksIn(item)
        .join("\n")
        .replaceAll("\n", `\n${" ".repeat(mark.length)}`)
    );
  });
  return items.join("\n");
}

/** @param {HTMLTableElement} table */
function textOfTable(table) {
  const rows = [...table.rows].map((row) => [...row.cells].map((cell) => blocksIn(cell).join(" ")).join("\t"));
  return rows.join("\n");
}

/** @param {Node} node */
function inlineText(node) {
  if (node instanceof Text) {
    return node.data.replace(/\s+/g, " ");
  }
  if (!(node instanceof Element) || node.matches(LEFT_OUT)) {
    return "";
  }
  if (node.tagName === "BR") {
    return "\n";
  }
  if (node.tagName === "math") {
    return node.querySelector("annotation")?.textContent ?? node.textContent ?? "";
  }
  /** @type {string} */
  let text = "";
  for (const child of node.childNodes) {
    text += inlineText(child);
  }
  return text;
}
