/** The words for webhooks and their deliveries. */
import { el } from "../../dom.js";
import { count, time } from "../../format.js";
import { chip } from "../../parts/basics.js";

/** @typedef {"good" | "warn" | "bad" | "calm" | "quiet"} Mood */

const text = {
  failing: "failing",
  retrying: "retrying ",
  waiting: "waiting",
  delivered: "delivered",
  gone: "The endpoint answered 410 Gone, so nothing is sent there any more.",
  disabled: "Too many attempts failed in a row, so nothing is sent there any more.",
  disabledNext: " What happens meanwhile is kept as dead. Put the URL right, enable it, and replay.",
  failuresSince: (/** @type {number} */ n) => `Attempts that failed since the last one that was taken: ${count(n)}. See in the deliveries what was answered.`,
  paused: "Paused: deliveries wait, and go out oldest first when it is resumed.",
  none: "—",
};

/** @type {Record<string, Mood>} */
const tones = { active: "good", paused: "calm", disabled: "bad", succeeded: "good", pending: "calm", failed: "warn", dead: "bad" };

/** statusChip says how a webhook is. @param {any} one */
export const statusChip = (one) => (one.status === "active" && one.consecutive_failures > 0
  ? chip(text.failing, "warn")
  : chip(one.status, tones[one.status] ?? "quiet"));

/** problemOf describes the problem of a webhook, and what to do; "" if none. @param {any} one */
export function problemOf({ status, disabled_reason: why, consecutive_failures: failures }) {
  if (status === "disabled") return (why === "endpoint_gone" ? text.gone : text.disabled) + text.disabledNext;
  return status === "paused" ? text.paused : failures > 0 ? text.failuresSince(failures) : "";
}

/** deliveryChip says how a delivery is. @param {any} one */
export function deliveryChip(one) {
  if (one.status === "failed") return el("span.chip.warn", null, text.retrying, time(one.next_attempt_at));
  const word = { succeeded: text.delivered, pending: text.waiting }[/** @type {string} */ (one.status)];
  return chip(word ?? one.status, tones[one.status] ?? "quiet");
}

const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });

/** rate is how many of a day were taken. @param {any} day */
export const rate = (day) => (day?.success_rate == null ? text.none : percent.format(day.success_rate));

/** answerTime is how long an endpoint takes. @param {any} day */
export const answerTime = (day) => (day?.duration_ms.p50 == null
  ? text.none
  : `${count(day.duration_ms.p50)} / ${count(day.duration_ms.p95)} ms`);

/** answer is what an endpoint answered. @param {any} one */
export const answer = (one) => (one.response_status
  ? `${one.response_status} · ${count(one.duration_ms ?? 0)} ms`
  : one.error_code?.replaceAll("_", " ") ?? text.none);
