/** Tables: with a caption, sorted where that is cheap, and as cards on a small screen. */
import { computed, el, list, signal } from "../dom.js";
import { icon } from "./basics.js";

/**
 * @template T
 * @typedef {object} Column
 * @property {string} name
 * @property {(row: () => T) => import("../dom.js").Child} cell
 * @property {(row: T) => string | number} [sort] the key to sort by
 * @property {"number" | "end" | "about"} [kind] figures; what can be done with a row; what the row is about
 * @property {boolean} [unseen] the name of the column is only read out
 */

/**
 * table shows rows. Roles are given in words, because the cards of small screens would
 * take them away in some browsers.
 * @template T
 * @param {object} options
 * @param {string} options.caption what the table lists, for those who hear it
 * @param {Column<T>[]} options.columns
 * @param {() => readonly T[]} options.rows
 * @param {(row: T) => string} options.key
 */
export function table({ caption, columns, rows, key }) {
  const order = signal({ column: -1, down: false });
  const sorted = computed(() => {
    const { column, down } = order();
    const by = columns[column]?.sort;
    if (!by) return rows();
    const sign = down ? -1 : 1;
    return [...rows()].sort((a, b) => sign * compare(by(a), by(b)));
  });

  const head = columns.map((column, index) => el("th" + (column.kind ? "." + column.kind : ""), {
    role: "columnheader",
    scope: "col",
    "aria-sort": column.sort ? () => (order().column !== index ? "none" : order().down ? "descending" : "ascending") : null,
  }, headName(column, () => order.set({ column: index, down: order().column === index && !order().down }))));

  return el("table.table", { role: "table", "aria-label": caption },
    el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, head)),
    el("tbody", { role: "rowgroup" }, list(sorted, key, (row) => el("tr", { role: "row" }, columns.map((column) =>
      el(
        "td" + (column.kind ? "." + column.kind : ""),
        { role: "cell", "data-name": column.unseen ? null : column.name },
        column.cell(row),
      ))))));
}

/**
 * @template T
 * @param {Column<T>} column
 * @param {() => void} sort
 */
function headName(column, sort) {
  if (column.unseen) return el("span.unseen", null, column.name);
  if (!column.sort) return column.name;
  return el("button.sort", { type: "button", onclick: sort }, column.name, icon("sort"));
}

/**
 * @param {string | number} a
 * @param {string | number} b
 */
function compare(a, b) {
  return typeof a === "string" ? a.localeCompare(String(b)) : a - Number(b);
}
