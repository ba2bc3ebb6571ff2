/**
 * The columns of a table that was drawn while it was written: they get their widths once, from the head and the first row,
 * and keep them while rows come and when the finished reply takes the place.
 */

import { queryAll } from "../shared/dom.js";

const FIXED = "has-columns";

/**
 * Give the columns of *table* the widths that they have now, and what room is left in equal parts.
 * @param {HTMLTableElement} table
 */
export function fixColumns(table) {
  const heads = queryAll(table, "th");
  const natural = heads.map((head) => head.getBoundingClientRect().width);
  const total = natural.reduce((sum, width) => sum + width, 0);
  const room = Math.max(total, table.parentElement?.clientWidth ?? 0);
  const share = (room - total) / heads.length;
  const widths = natural.map((width) => `${((100 * (width + share)) / room).toFixed(3)}%`);
  setColumns(table, { widths, least: room > total ? "" : `${Math.ceil(total)}px` });
}

/** @param {HTMLTableElement} table */
export function hasColumns(table) {
  return table.classList.contains(FIXED);
}

/**
 * @param {HTMLTableElement} table
 * @param {{widths: string[], least: string}} columns
 */
function setColumns(table, { widths, least }) {
  table.classList.add(FIXED);
  table.style.minWidth = least;
  queryAll(table, "th").forEach((head, index) => {
    head.style.width = widths[index] ?? "";
  });
}

/**
 * Return the widths of the tables in *element*, in order.
 * @param {ParentNode} element
 */
export function rememberColumns(element) {
  return tablesIn(element).map((table) =>
    hasColumns(table)
      ? { widths: queryAll(table, "th").map(({ style }) => style.width), least: table.style.minWidth }
      : undefined,
  );
}

/**
 * Give the tables in *element* the widths of those that they take the place of.
 * @param {ReturnType<typeof rememberColumns>} columns
 * @param {ParentNode} element
 */
export function restoreColumns(columns, element) {
  tablesIn(element).forEach((table, index) => {
    const kept = columns[index];
    if (kept && kept.widths.length === queryAll(table, "th").length) {
      setColumns(table, kept);
    }
  });
}

/**
 * @param {ParentNode} element
 * @returns {HTMLTableElement[]}
 */
function tablesIn(element) {
  return queryAll(element, ".table-scroll > table", HTMLTableElement);
}
