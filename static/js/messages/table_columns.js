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
function fixColumns(table) {
  const heads = queryAll(table, "th");
  const natural = heads.map((head) => head.getBoundingClientRect().width);
  const total = natural.reduce((sum, width) => sum + width, 0);
  const room = Math.max(total, table.parentElement?.clientWidth ?? 0);
  const share = (room - total) / heads.length;
  const widths = natural.map((width) => `${((100 * (width + share)) / room).toFixed(3)}%`);
  setColumns(table, { widths, least: room > total ? "" : `${Math.ceil(total)}px` });
  table.style.visibility = "";
}

/**
 * Keep the tables in *element* that have no columns yet out of sight until `fixColumnsOf`, in the next frame: what they
 * measure is known by then. Asked for at once, all of the page would be laid out twice in one frame.
 * @param {ParentNode} element
 * @returns {boolean} whether there are any
 */
export function hideWithoutColumns(element) {
  const tables = tablesWithoutColumns(element);
  for (const table of tables) {
    table.style.visibility = "hidden";
  }
  return tables.length > 0;
}

/** @param {ParentNode} element */
export function fixColumnsOf(element) {
  tablesWithoutColumns(element).forEach(fixColumns);
}

/** @param {HTMLTableElement} table */
function hasColumns(table) {
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
  fixColumnsOf(element);
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

/** @param {ParentNode} element */
function tablesWithoutColumns(element) {
  const drawn = queryAll(element, "[data-tail] .table-scroll:not(.is-waiting-for-row) > table", HTMLTableElement);
  return drawn.filter((table) => !hasColumns(table));
}

/**
 * @param {ParentNode} element
 * @returns {HTMLTableElement[]}
 */
function tablesIn(element) {
  return queryAll(element, ".table-scroll > table", HTMLTableElement);
}
