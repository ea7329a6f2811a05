/** Plots, drawn by us: a line beside a figure, and columns with a table below them. */
import { el, svg } from "../dom.js";
import { count } from "../format.js";

const text = { table: "View as table", day: "Day", name: "Name" };

/**
 * sparkline draws values as a line. It is never alone: figures are beside it.
 * @param {number[]} values
 * @param {string} [tone]
 */
export function sparkline(values, tone = "good") {
  if (!values.some(Boolean)) return null;
  const most = Math.max(1, ...values);
  const points = values.map((value, i) => `${(100 * i) / Math.max(1, values.length - 1)},${26 - (24 * value) / most}`).join(" ");
  return svg("svg.spark." + tone, { viewBox: "0 0 100 28", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("polyline", { points }));
}

/**
 * columns draws values over days, with a table below them.
 * @param {string} name
 * @param {{ at: Node, value: number }[]} rows
 * @param {string} tone
 * @param {(value: number) => string} [write]
 */
export function columns(name, rows, tone, write = count) {
  const most = Math.max(...rows.map((row) => row.value)) || 1;
  const total = rows.reduce((sum, row) => sum + row.value, 0);
  const bars = rows.map(({ value }, i) => svg("rect", {
    x: 10 * i + 1.5,
    width: 7,
    y: 60 - (58 * value) / most,
    height: (58 * value) / most,
    rx: 1,
  }));
  return el("figure.plot", null,
    el("figcaption", null, el("span", null, name), el("b.figure", null, write(total))),
    svg("svg.columns." + tone, { viewBox: `0 0 ${10 * rows.length} 60`, preserveAspectRatio: "none", "aria-hidden": "true" }, bars),
    el("div.axis", { "aria-hidden": "true" }, rows[0]?.at.cloneNode(true), rows.at(-1)?.at.cloneNode(true)),
    el("details", null, el("summary", null, text.table, el("span.unseen", null, " " + name)),
      el("table.figures", { "aria-label": name },
        el("thead", null, el("tr", null, el("th", { scope: "col" }, text.day), el("th", { scope: "col" }, name))),
        el("tbody", null, [...rows].reverse().map((row) => el("tr", null, el("td", null, row.at), el("td", null, write(row.value))))))));
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
  const head = (/** @type {string} */ word) => el("th", { scope: "col" }, word);
  return el("figure.plot", null,
    el("ul.bars", { role: "list", "aria-hidden": "true" }, [...rows].sort((a, b) => b.value - a.value).map((row) => el("li", null,
      el("span", { dir: "auto" }, row.name), el("b", null, write(row.value)),
      svg("svg", { viewBox: "0 0 100 4", preserveAspectRatio: "none" }, svg("rect", { width: (100 * row.value) / most, height: 4 }))))),
    el("details", null, el("summary", null, text.table, el("span.unseen", null, " " + name)),
      el("table.figures", { "aria-label": name },
        el("thead", null, el("tr", null, head(text.name), heads.map(head))),
        el("tbody", null, rows.map((row) => el("tr", null,
          el("td", { dir: "auto" }, row.name), row.cells.map((cell) => el("td", null, cell))))))));
}

/**
 * figure is a number with its name, and a line.
 * @param {string} name
 * @param {import("../dom.js").Child} value
 * @param {import("../dom.js").Child} [below]
 */
export const figure = (name, value, below) => el("div.card", null, el("span", null, name), el("b.figure", null, value), below);
