/** The words for webhooks and their deliveries. */
import { el } from "../../dom.js";
import { get } from "../../api.js";
import { count, time } from "../../format.js";
import { chip } from "../../parts/basics.js";

/** @typedef {"good" | "warn" | "bad" | "calm" | "quiet"} Mood */

const text = {
  failing: "failing",
  retrying: "retrying ",
  waiting: "waiting",
  delivered: "delivered",
  gone: "Disabled: the endpoint answered 410 Gone.",
  disabled: "Disabled: too many attempts failed in a row.",
  disabledNext: " New events are kept as dead deliveries. Fix the URL, enable the webhook, then replay them.",
  failuresSince: (/** @type {number} */ n) =>
    `${count(n)} failed attempts since the last success. ${leastInRow} in a row count as failing. Check the responses in its deliveries.`,
  lowRate: (/** @type {string} */ rate) =>
    `${rate} of deliveries succeeded in the last 24 hours. Under ${percent.format(leastRate)} counts as failing.`,
  paused: "Paused: deliveries wait, and go out oldest first once you resume it.",
  none: "—",
};

/** @type {Record<string, Mood>} */
const tones = { active: "good", paused: "calm", disabled: "bad", succeeded: "good", pending: "calm", failed: "warn", dead: "bad" };

/** How many attempts in a row fail, and which part of a day’s deliveries succeeds, before a webhook counts as failing. */
const leastInRow = 5;
const leastRate = 0.95;

const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });

/**
 * failing says why an active webhook counts as failing; "" if it does not. One whose last attempt succeeded works
 * again, whatever its day was like.
 * @param {any} one
 * @param {any} [day] its last day, where that is known
 */
function failing({ status, consecutive_failures: failures }, day) {
  if (status !== "active" || failures === 0) return "";
  if (failures >= leastInRow) return text.failuresSince(failures);
  return day?.success_rate != null && day.success_rate < leastRate ? text.lowRate(percent.format(day.success_rate)) : "";
}

/**
 * statusChip says how a webhook is.
 * @param {any} one
 * @param {any} [day]
 */
export const statusChip = (one, day) => (failing(one, day) ? chip(text.failing, "warn") : chip(one.status, tones[one.status] ?? "quiet"));

/**
 * problemOf says what is wrong with a webhook, and what to do; "" if nothing is.
 * @param {any} one
 * @param {any} [day]
 */
export function problemOf(one, day) {
  if (one.status === "disabled") return (one.disabled_reason === "endpoint_gone" ? text.gone : text.disabled) + text.disabledNext;
  return one.status === "paused" ? text.paused : failing(one, day);
}

/** readDay reads a webhook’s last day; null where that fails. @param {any} one @param {AbortSignal} signal */
export const readDay = (one, signal) => get(`webhook_subscriptions/${one.id}/day`, { signal }).catch(() => null);

/** deliveryChip says how a delivery is. @param {any} one */
export function deliveryChip(one) {
  if (one.status === "failed") return el("span.chip.warn", null, text.retrying, time(one.next_attempt_at));
  const word = { succeeded: text.delivered, pending: text.waiting }[/** @type {string} */ (one.status)];
  return chip(word ?? one.status, tones[one.status] ?? "quiet");
}

/** rate is which part of a day’s deliveries succeeded. @param {any} day */
export const rate = (day) => (day?.success_rate == null ? text.none : percent.format(day.success_rate));

/** answerTime is how long an endpoint takes. @param {any} day */
export const answerTime = (day) => (day?.duration_ms.p50 == null
  ? text.none
  : `${count(day.duration_ms.p50)} / ${count(day.duration_ms.p95)} ms`);

/** answer is what an endpoint answered. @param {any} one */
export const answer = (one) => (one.response_status
  ? `${one.response_status} · ${count(one.duration_ms ?? 0)} ms`
  : one.error_code?.replaceAll("_", " ") ?? text.none);
