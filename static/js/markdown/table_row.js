/** The rows of a table in Markdown: how its columns are aligned, and the cells of one row. */

import { trimMarkdown } from "./markdown_characters.js";

/**
 * Return how the columns are aligned by a table's second line, if it is one.
 * @param {string} line
 */
export function readAlignments(line) {
  const columns = line.split("|").map(trimMarkdown);
  const last = columns.length - 1;
  const alignments = [];
  for (const [index, column] of columns.entries()) {
    if (!column && index !== 0 && index !== last) {
      return undefined;
    }
    if (column && !/^:?-+:?$/.test(column)) {
      return undefined;
    }
    if (column) {
      const right = column.endsWith(":");
      alignments.push(
        right && column.startsWith(":") ? "center" : right ? "right" : column.startsWith(":") ? "left" : "",
      );
    }
  }
  return alignments;
}

/**
 * Split a row at its bars, unless they are escaped.
 * @param {string} row
 */
export function splitRow(row) {
  const cells = [];
  let [cell, last, isEscaped] = ["", 0, false];
  for (let position = 0; position < row.length; position += 1) {
    if (row[position] === "|") {
      if (isEscaped) {
        cell += row.slice(last, position - 1);
        last = position;
      } else {
        cells.push(cell + row.slice(last, position));
        cell = "";
        last = position + 1;
      }
    }
    isEscaped = row[position] === "\\";
  }
  cells.push(cell + row.slice(last));
  if (cells[0] === "") {
    cells.shift();
  }
  if (cells.at(-1) === "") {
    cells.pop();
  }
  return cells;
}
