/** The calls of the API, newest first and live. */
import { el, signal } from "../../dom.js";
import { get } from "../../api.js";
import { msOf } from "../../format.js";
import { chip } from "../../parts/basics.js";
import { options } from "../../parts/form.js";
import { link, query, setQuery } from "../../router.js";
import { choice, entry, lines, stamp } from "./lines.js";
import { calls as text } from "texts/log.js";

const statuses = ["400", "401", "402", "403", "404", "409", "422", "429", "503"];

/** Those that programs meet. An address may name any other. */
const codes = [
  "account_restricted", "consent_required", "conversation_changed", "conversation_held", "customer_suspended", "expired_api_key",
  "feature_not_entitled", "idempotency_key_reuse", "internal_error", "invalid_api_key", "invalid_cursor", "invalid_field_value",
  "invalid_json", "invalid_phone_number", "marketing_opted_out", "media_not_found", "missing_api_key", "missing_required_field",
  "organization_suspended", "permission_denied", "quota_exceeded", "rate_limit_exceeded", "request_too_large",
  "resource_not_found", "revoked_api_key", "service_unavailable", "subscription_inactive", "whatsapp_number_not_verified",
];

/** @param {number} status */
export const tone = (status) => (status < 400 ? "good" : status < 500 ? "warn" : "bad");

/** tookOf writes how long a call took. @param {number} ms */
export const tookOf = (ms) => (ms < 0.1 ? "< " + msOf(0.1) : msOf(ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms)));

/** whoOf names who made a call. @param {any} call */
export function whoOf(call) {
  if (call.user) return call.user.name ?? call.user.id;
  return call.api_key ? call.api_key.name ?? text.unnamed(call.api_key.last4 ?? "?") : "—";
}

export function calls() {
  const keys = signal(/** @type {any[]} */ ([]));
  get("keys", { query: { limit: 100 } }).then(keys.set, () => {}); // without them the filter has no names
  const withConsole = () => query().get("console") === "true";
  const list = lines({
    path: "log",
    caption: text.caption,
    filters: ["method", "status", "path", "api_key_id", "error_code", "created_after", "created_before"],
    always: () => ({ console: withConsole() ? "" : "false" }),
    kinds: ["call"],
    key: (one) => one.request_id,
    none: { icon: "log", title: text.none, body: text.noneBody },
    columns: text.columns,
    places: { 2: "number", 4: "number" },
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
      choice(text.filters.method, "method", () => ["GET", "POST", "PATCH", "PUT", "DELETE"]),
      choice(text.filters.status, "status", () => [...options(text.statuses), ...statuses]),
      choice(text.filters.key, "api_key_id", () => keys().map((one) => ({ value: one.id, label: one.label ?? "…" + one.last4 }))),
      entry(text.filters.path, "path", { hint: "/messages" }),
      choice(text.filters.code, "error_code", () => codes),
      el("div.log-range", null,
        entry(text.filters.from, "created_after", { type: "datetime-local" }),
        entry(text.filters.to, "created_before", { type: "datetime-local" })),
      el("label.log-check", null,
        el("input", {
          type: "checkbox",
          checked: withConsole,
          onchange: (/** @type {any} */ { target }) => setQuery({ console: target.checked ? "true" : "" }),
        }),
        text.console)),
    list.body,
  ];
}
