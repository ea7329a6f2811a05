/** The calls of the API, newest first and live. */
import { el, signal } from "../../dom.js";
import { get } from "../../api.js";
import { chip } from "../../parts/basics.js";
import { link } from "../../router.js";
import { choice, entry, lines, stamp } from "./lines.js";

const text = {
  caption: "Calls",
  columns: ["Call", "Status", { name: "Took", kind: "number" }, "Who", { name: "When", kind: "number" }],
  filters: { method: "Method", status: "Status", path: "Path", key: "Key", code: "Error code", from: "From", to: "To" },
  pathHint: "/messages",
  statuses: ["2xx", "4xx", "5xx", "400", "401", "403", "404", "409", "422", "429"],
  none: "No calls yet",
  noneBody: "Every call of the API shows up here as it happens: who made it, what it was answered and what it made.",
  unnamed: "key",
};

/** @param {number} status */
export const tone = (status) => (status < 400 ? "good" : status < 500 ? "warn" : "bad");

/** tookOf writes how long a call took. @param {number} ms */
export const tookOf = (ms) => (ms < 10 ? ms.toFixed(1) : Math.round(ms)) + " ms";

/** whoOf names who made a call. @param {any} call */
export function whoOf(call) {
  if (call.user) return call.user.name ?? call.user.id;
  return call.api_key ? call.api_key.name ?? `${text.unnamed} …${call.api_key.last4 ?? "?"}` : "—";
}

export function calls() {
  const keys = signal(/** @type {any[]} */ ([]));
  get("keys", { query: { limit: 100 } }).then(keys.set, () => {}); // without them the filter has no names
  const list = lines({
    path: "log",
    caption: text.caption,
    filters: ["method", "status", "path", "api_key_id", "error_code", "created_after", "created_before"],
    kinds: ["call"],
    key: (one) => one.request_id,
    none: { icon: "log", title: text.none, body: text.noneBody },
    columns: text.columns,
    cells: [
      (one) => [
        el("a.log-call", { href: link("log/" + one().request_id), title: one().path },
          el("span.log-method", null, one().method),
          " ",
          el("span.log-path", null, one().path),
        ),
        one().error_code && el("small.log-why", null, one().error_code),
      ],
      (one) => chip(String(one().status), tone(one().status)),
      (one) => tookOf(one().latency_ms),
      (one) => el("span.log-caller", { dir: "auto" }, whoOf(one())),
      (one) => stamp(one().created_at),
    ],
  });
  return [
    el("div.log-filters", null,
      choice(text.filters.method, "method", () => ["GET", "POST", "PATCH", "PUT", "DELETE"].map((word) => ({ value: word, label: word }))),
      choice(text.filters.status, "status", () => text.statuses.map((word) => ({ value: word, label: word }))),
      choice(text.filters.key, "api_key_id", () => keys().map((one) => ({ value: one.id, label: one.label ?? "…" + one.last4 }))),
      entry(text.filters.path, "path", { hint: text.pathHint }),
      entry(text.filters.code, "error_code"),
      entry(text.filters.from, "created_after", { type: "datetime-local" }),
      entry(text.filters.to, "created_before", { type: "datetime-local" })),
    list.body,
  ];
}
