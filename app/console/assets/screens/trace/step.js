/** One entry of a trace: when, how long after the one before, what happened, and the bytes. */
import { el, signal, when } from "../../dom.js";
import { post } from "../../api.js";
import { count, dates, day, exact } from "../../format.js";
import { button, wordOf } from "../../parts/basics.js";
import { toast, toastError } from "../../parts/notices.js";
import { link } from "../../router.js";
import { outcomeOf } from "../rules/words.js";
import { step as text, types } from "texts/trace.js";

const clock = dates({ hour: "numeric", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 });

/**
 * span writes a length of time: 210 ms, 1.2 s, 2 min, 3 h.
 * @param {number} ms
 */
function span(ms) {
  if (ms < 1000) return text.spans.ms(count(Math.round(ms * 10) / 10));
  if (ms < 60_000) return text.spans.s(count(Math.round(ms / 100) / 10));
  if (ms < 3_600_000) return text.spans.min(count(Math.round(ms / 60_000)));
  return ms < 172_800_000 ? text.spans.h(count(Math.round(ms / 3_600_000))) : text.spans.days(Math.round(ms / 86_400_000));
}

/**
 * step shows an entry.
 * @param {() => any} found the trace
 * @param {() => any} entry
 * @param {() => void} reload
 */
export function step(found, entry, reload) {
  const at = Date.parse(entry().at);
  const small = ["attempt", "delivery"].includes(entry().kind);
  const detail = () => detailOf(found(), entry(), reload);
  const other = new Date(at).toDateString() !== new Date(found().created_at).toDateString();
  const look = () => (entry().failed ? " bad" : entry().kind === "delivery" ? " untried" : "");
  return el("li", { class: () => "trace-step" + look() + (small ? " small" : "") },
    el("time", { datetime: entry().at, title: exact.format(at) }, other && el("span", null, day.format(at) + " "), clock.format(at)),
    el("span.trace-dot", { "aria-hidden": "true" }),
    el("div.trace-body", null,
      el("div.trace-line", null,
        el("p.trace-title", { dir: "auto", title: entry().delivery?.url }, () => titleOf(found(), entry())),
        small && detail,
        when(() => entry().gap_ms !== null, () => el("span.trace-gap", null, () => "+" + span(entry().gap_ms)))),
      !small && detail,
      raw(entry, () => titleOf(found(), entry()))));
}

/**
 * @param {any} found
 * @param {any} entry
 */
function titleOf(found, { kind, call, try: tried, status, event, delivery, rule }) {
  switch (kind) {
    case "person":
      return found.direction === "inbound" ? text.person : text.phone;
    case "call":
      return call ? `${call.method} ${call.path}` : text.call;
    case "stored":
      return found.direction === "inbound" ? text.stored : found.source === "broadcast" ? text.broadcast : text.queued;
    case "try":
    case "accepted":
      return text.try(tried.try);
    case "callback":
      return text.callback(status.reported ? wordOf(status.reported) : text.unreadable);
    case "failed":
      return text.failed;
    case "rule":
      return text.rule(rule.name ?? rule.id);
    case "event":
      return text.event(event.type);
    default:
      return endpointOf(delivery);
  }
}

/** endpointOf names an endpoint by its description, else by where it is. @param {{ description: string | null, url: string }} one */
function endpointOf({ description, url }) {
  if (description) return description;
  if (!URL.canParse(url)) return url;
  const { host, pathname } = new URL(url);
  return host + (pathname === "/" ? "" : pathname);
}

/**
 * @param {any} found
 * @param {any} entry
 * @param {() => void} reload
 */
function detailOf(found, entry, reload) {
  const parts = details[entry.kind]?.(found, entry, reload) ?? [];
  const shown = parts.filter(Boolean).flatMap((/** @type {any} */ part, /** @type {number} */ i) => (i > 0 ? [" · ", part] : [part]));
  return shown.length > 0 && el("p.trace-detail", { dir: "auto" }, shown);
}

/** @type {Record<string, (found: any, entry: any, reload: () => void) => any[]>} */
const details = {
  person: () => [text.personDetail],
  call: (found, { call }) => [
    call ? text.answered(call.status, span(call.latency_ms)) : text.callGone,
    call?.api_key && keyName(call.api_key),
    found.sent_by && text.console(found.sent_by.name ?? found.sent_by.id),
    el("a", { href: link("log/" + found.request_id) }, found.request_id),
  ],
  stored: (found) => [
    found.broadcast && el("a", { href: link("broadcasts/" + found.broadcast.id), dir: "auto" }, found.broadcast.name),
    el("span", null, text.with, el("bdi", null, nameOf(found))),
    types[/** @type {"text"} */ (found.type)] ?? wordOf(found.type),
  ],
  try: (_, { try: one }) => {
    const answer = one.http_status ? text.http(one.http_status) : text.noAnswer;
    return [`${text.after(answer, span(one.duration_ms))}: ${one.reason}${one.code === null ? "" : text.code(one.code)}`];
  },
  accepted: (_, { try: one, status }) => [
    el("span", null, text.accepted, el("code", null, one.message_id ?? "—")),
    text.moved(wordOf(status.from), wordOf(status.to)),
  ],
  callback: (_, entry) => statusDetails(entry),
  failed: (_, entry) => statusDetails(entry),
  rule: (_, { rule }) =>
    rule.fired
      ? rule.actions.map(outcomeOf)
      : [text.unmet(text.conditions[/** @type {"text"} */ (rule.unmet)] ?? wordOf(rule.unmet))],
  event: (_, { event }) => [event.deliveries > 0 ? text.endpoints(event.deliveries) : text.noEndpoints, el("code", null, event.id)],
  attempt: (_, { delivery }, reload) => deliveryDetails(delivery, reload),
  delivery: (_, { delivery }, reload) => deliveryDetails(delivery, reload),
};

/** @param {any} key */
const keyName = ({ name, last4 = "?" }) => (name ? text.key(name, last4) : text.unnamedKey(last4));

/** @param {any} found */
const nameOf = ({ contact }) => contact.name ?? contact.phone_number ?? contact.bsuid ?? contact.id;

/** @param {any} entry */
function statusDetails({ status }) {
  return [
    status.error && status.error.message + text.code(status.error.code),
    status.from === status.to ? text.same(wordOf(status.to)) : text.moved(wordOf(status.from), wordOf(status.to)),
  ];
}

/**
 * @param {any} one
 * @param {() => void} reload
 */
function deliveryDetails(one, reload) {
  const last = one.is_last || one.attempt === 0;
  const answer = one.response_status ? String(one.response_status) : one.error_code ?? text.waits;
  const dead = last && one.status === "dead";
  const isHeld = last && !dead && one.status !== "succeeded" && one.webhook_status === "paused";
  const replay = async () => {
    try {
      await post(`v1/webhook_deliveries/${one.id}/replay`);
      toast(text.replaying);
      reload();
    } catch (error) {
      toastError(error);
    }
  };
  return [
    one.duration_ms === null ? answer : text.after(answer, span(one.duration_ms)),
    one.attempt > 1 && text.attempt(one.attempt),
    one.replayed_from && text.replayed,
    one.error_message && one.error_code !== "http_error" && one.error_message,
    dead && text.dead,
    isHeld && el("a.trace-held", { href: link("webhooks/" + one.subscription_id) }, text.paused),
    last && !dead && !isHeld && one.status !== "succeeded" && one.next_attempt_at && text.next + clock.format(Date.parse(one.next_attempt_at)),
    last && el("a", { href: link("deliveries/" + one.id) }, one.id),
    dead && button(text.replay, { run: replay, class: "link" }),
  ];
}

/**
 * raw offers what was sent or received, byte for byte; JSON is set in lines.
 * @param {() => any} entry
 * @param {() => string} title of the entry
 */
function raw(entry, title) {
  const open = signal(false);
  const lines = () => {
    try {
      return JSON.stringify(JSON.parse(entry().body), null, 2);
    } catch {
      return entry().body;
    }
  };
  return [
    when(() => entry().body, () => el("details.trace-raw", { ontoggle: (/** @type {any} */ event) => open.set(event.target.open) },
      el("summary", { "aria-label": () => text.rawOf(title()) }, text.raw),
      when(open, () => el("pre", { tabindex: "0", translate: "no" }, lines)))),
    when(() => entry().body_left_out, () => el("p.trace-detail", null, text.large)),
  ];
}
