/** Why messages failed, and what that means. */
import { el } from "../../dom.js";
import { count } from "../../format.js";
import { table } from "../../parts/table.js";
import { failures as text } from "texts/numbers.js";

/** @param {() => any[]} rows */
export function failureTable(rows) {
  return table({
    caption: text.caption,
    rows,
    key: (one) => one.code + one.provider_code,
    columns: text.columns,
    kinds: { 2: "number" },
    cells: [
      (one) => el("span.stack", null, String(one().provider_code ?? one().code), one().provider_code && el("small", null, one().code)),
      (one) => one().meaning,
      (one) => () => count(one().count),
    ],
  });
}
