/** Why messages failed, and what that means. */
import { el } from "../../dom.js";
import { count } from "../../format.js";
import { table } from "../../parts/table.js";

const text = { caption: "Failures by code", columns: { code: "Code", meaning: "What it means", count: "Messages" } };

/** @param {() => any[]} rows */
export function failureTable(rows) {
  return table({
    caption: text.caption,
    rows,
    key: (one) => one.code + one.provider_code,
    columns: [
      {
        name: text.columns.code,
        kind: "about",
        cell: (one) => el("span.stack", null, String(one().provider_code ?? one().code), one().provider_code && el("small", null, one().code)),
      },
      { name: text.columns.meaning, cell: (one) => one().meaning },
      { name: text.columns.count, kind: "number", cell: (one) => () => count(one().count) },
    ],
  });
}
