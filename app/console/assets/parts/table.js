/** Tables: with a caption, sorted where that is cheap, and as cards on a small screen. */
import { computed, el, list, signal } from "../dom.js";
import { icon } from "./basics.js";
import { table as text } from "texts/parts.js";

/**
 * @typedef {object} Column
 * @property {string} name
 * @property {string} [sort] the property to sort by
 * @property {string} kind "number": figures; "end": what can be done with a row; "picks": choosing it; "about": what the row is about, as the first is
 * @property {boolean} [unseen] the name of the column is only read out
 */

/**
 * table shows rows. Roles are given in words, because the cards of small screens would
 * take them away in some browsers.
 * @template T
 * @param {object} options
 * @param {string} options.caption what the table lists, for those who hear it
 * @param {string[]} options.columns their names
 * @param {Record<number, string>} [options.kinds] of columns, by their places
 * @param {Record<number, string>} [options.sorts] what columns are sorted by, by their places
 * @param {(false | null | undefined | ((row: () => T) => import("../dom.js").Child))[]} options.cells of each column; it is left out where there is none
 * @param {() => readonly T[]} options.rows
 * @param {(row: any) => string} [options.key]
 */
export function table({ caption, columns, kinds = {}, sorts = {}, cells, rows, key = (row) => row.id }) {
  const shown = columns.map((name, i) => /** @type {Column & { cell: any }} */ ({
    name,
    kind: kinds[i] ?? (i ? "" : "about"),
    sort: sorts[i],
    unseen: ["end", "picks"].includes(kinds[i]),
    cell: cells[i],
  })).filter((column) => column.cell);
  const order = signal({ column: -1, down: false });
  const sorted = computed(() => {
    const { column, down } = order();
    const by = shown[column]?.sort;
    if (!by) return rows();
    const sign = down ? -1 : 1;
    return [...rows()].sort((/** @type {any} */ a, /** @type {any} */ b) => sign * compare(a[by] ?? "", b[by] ?? ""));
  });

  const head = shown.map((column, index) => el("th." + column.kind, {
    role: "columnheader",
    scope: "col",
    "aria-sort": column.sort ? () => (order().column !== index ? "none" : order().down ? "descending" : "ascending") : null,
  }, headName(column, () => order.set({ column: index, down: order().column === index && !order().down }))));

  return el("table.table", { role: "table", "aria-label": caption },
    el("thead", { role: "rowgroup" }, el("tr", { role: "row", "data-sort": text.sortBy }, head)),
    el("tbody", { role: "rowgroup" }, list(sorted, key, (row) => el("tr", { role: "row" }, shown.map((column) =>
      el("td." + column.kind, { role: "cell", "data-name": column.unseen ? null : column.name }, column.cell(row)))))));
}

/**
 * fact is a line of a list of facts; nothing without a value.
 * @param {string} name
 * @param {import("../dom.js").Child} value
 */
export const fact = (name, value) => value && el("div", null, el("dt", null, name), el("dd", { dir: "auto" }, value));

/**
 * @param {Column} column
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
