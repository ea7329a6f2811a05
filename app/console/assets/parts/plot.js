/** Plots, drawn by us: a line beside a figure, and columns and bars with a table below them. */
import { el, signal, svg } from "../dom.js";
import { count } from "../format.js";
import { plot as text } from "texts/parts.js";

/**
 * sparkline draws values as a line. It is never alone: figures are beside it.
 * @param {number[]} values
 * @param {string} tone
 */
export function sparkline(values, tone) {
  if (!values.some(Boolean)) return null;
  const most = Math.max(1, ...values);
  const points = values.map((value, i) => `${(100 * i) / Math.max(1, values.length - 1)},${26 - (24 * value) / most}`).join(" ");
  return svg("svg.spark." + tone, { viewBox: "0 0 100 28", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("polyline", { points }));
}

/** roundUp is the next number that an axis can end with: 1, 2 or 5 and zeros. @param {number} value */
function roundUp(value) {
  const size = 10 ** Math.floor(Math.log10(value || 1));
  return [1, 2, 5, 10].map((step) => step * size).find((step) => step >= value) ?? value;
}

/**
 * columns draws values over days, with a table below them. Pointing at one shows it. Values may be
 * compared with those of the time before, which are drawn behind them.
 * @param {string} name
 * @param {{ at: Node, value: number | null, before?: number | null }[]} rows
 * @param {string} tone
 * @param {(value: number) => string} [write]
 * @param {string} [figure] stands for all of them; their sum, unless it is given
 * @param {number[]} [ends] with which the axis can end, if not with a round number
 */
export function columns(name, rows, tone, write = count, figure = write(rows.reduce((sum, row) => sum + (row.value ?? 0), 0)), ends = []) {
  const highest = Math.max(...rows.map((row) => Math.max(row.value ?? 0, row.before ?? 0)));
  const most = ends.find((end) => end >= highest) ?? roundUp(highest);
  const compared = rows.some((row) => row.before !== undefined);
  const shown = (/** @type {number | null | undefined} */ value) => (value === null || value === undefined ? text.none : write(value));
  const bar = (/** @type {number} */ i, /** @type {number} */ value, /** @type {number} */ inset, look = "") => svg("rect" + look, {
    x: 10 * i + inset,
    width: 10 - 2 * inset,
    y: 60 - (60 * value) / most,
    height: (60 * value) / most,
  });
  const pointed = signal(-1);
  const point = (/** @type {any} */ event) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    pointed.set(Math.min(rows.length - 1, Math.max(0, Math.floor((rows.length * (event.clientX - left)) / width))));
  };
  const caption = () => {
    const row = rows[pointed()];
    if (!row) return el("b.figure", null, figure);
    const before = compared && el("small", null, ` ${text.before} ${shown(row.before)}`);
    return [row.at.cloneNode(true), " ", el("b.figure", null, shown(row.value)), before];
  };
  return el("figure.plot", null,
    el("figcaption", null, el("span", null, name), el("span", { "aria-hidden": "true" }, caption)),
    el("div.plot-area", { "aria-hidden": "true" },
      el("div.scale", null, [most, most / 2, 0].map((value) => el("span", null, write(value)))),
      svg("svg.columns." + tone, {
        viewBox: `0 0 ${10 * rows.length} 60`, preserveAspectRatio: "none",
        onpointermove: point, onpointerleave: () => pointed.set(-1),
      },
      rows.map((row, i) => [compared && bar(i, row.before ?? 0, 0.5, ".earlier"), bar(i, row.value ?? 0, compared ? 2 : 1.5)])),
      el("div.axis", null, [0, Math.floor(rows.length / 2), rows.length - 1].map((i) => rows[i]?.at.cloneNode(true)))),
    tableOf(name, text.day, compared ? [name, text.before] : [name],
      [...rows].reverse().map((row) => [row.at, shown(row.value), ...(compared ? [shown(row.before)] : [])])));
}

/**
 * bars draws values of things side by side, with a table below them.
 * @param {string} name
 * @param {{ name: string, value: number, cells: string[] }[]} rows
 * @param {(value: number) => string} write
 * @param {string[]} heads of the cells
 */
export function bars(name, rows, write, heads) {
  const most = Math.max(...rows.map((row) => row.value)) || 1;
  return el("figure.plot", null,
    el("ul.bars", { role: "list", "aria-hidden": "true" }, [...rows].sort((a, b) => b.value - a.value).map((row) => el("li", null,
      el("span", { dir: "auto" }, row.name), el("b", null, write(row.value)),
      svg("svg", { viewBox: "0 0 100 4", preserveAspectRatio: "none" }, svg("rect", { width: (100 * row.value) / most, height: 4 }))))),
    tableOf(name, text.name, heads, rows.map((row) => [row.name, ...row.cells])));
}

/**
 * tableOf is the table behind a plot, which is opened, and printed.
 * @param {string} name
 * @param {string} first the head of the first column
 * @param {string[]} heads of the others
 * @param {import("../dom.js").Child[][]} rows
 */
const tableOf = (name, first, heads, rows) => el("details", null,
  el("summary", null, text.table, el("span.unseen", null, " " + name)),
  el("div.figures-box", { tabindex: "0", role: "group", "aria-label": name }, el("table.figures", { "aria-label": name },
    el("thead", null, el("tr", null, [first, ...heads].map((word) => el("th", { scope: "col" }, word)))),
    el("tbody", null, rows.map((cells) => el("tr", null, cells.map((cell, i) => el("td", i === 0 ? { dir: "auto" } : null, cell))))))));

/**
 * figure is a number with its name, and a line.
 * @param {string} name
 * @param {import("../dom.js").Child} value
 * @param {import("../dom.js").Child} [below]
 */
export const figure = (name, value, below) => el("div.card", null, el("span", null, name), el("b.figure", null, value), below);
