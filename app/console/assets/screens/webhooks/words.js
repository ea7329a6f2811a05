/** The words for webhooks and their deliveries. */
import { el } from "../../dom.js";
import { get } from "../../api.js";
import { count, msOf, percentOf, time } from "../../format.js";
import { chip, wordOf } from "../../parts/basics.js";
import { words as text } from "texts/webhooks.js";

/** @typedef {"good" | "warn" | "bad" | "calm" | "quiet"} Mood */

/** @type {Record<string, Mood>} */
const tones = { active: "good", paused: "calm", disabled: "bad", succeeded: "good", pending: "calm", failed: "warn", dead: "bad" };

/** How many attempts in a row fail, and which part of a day’s deliveries succeeds, before a webhook counts as failing. */
const leastInRow = 5;
const leastRate = 0.95;

/**
 * failing says why an active webhook counts as failing; "" if it does not. One whose last attempt succeeded works
 * again, whatever its day was like.
 * @param {any} one
 * @param {any} [day] its last day, where that is known
 */
function failing({ status, consecutive_failures: failures }, day) {
  if (status !== "active" || failures === 0) return "";
  if (failures >= leastInRow) return text.failuresSince(failures, leastInRow);
  return day?.success_rate != null && day.success_rate < leastRate ? text.lowRate(percentOf(day.success_rate), percentOf(leastRate)) : "";
}

/**
 * statusChip says how a webhook is.
 * @param {any} one
 * @param {any} [day]
 */
export const statusChip = (one, day) =>
  (failing(one, day) ? chip(text.failing, "warn") : chip(wordOf(one.status), tones[one.status] ?? "quiet"));

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
  return chip(word ?? wordOf(one.status), tones[one.status] ?? "quiet");
}

/** rate is which part of a day’s deliveries succeeded. @param {any} day */
export const rate = (day) => (day?.success_rate == null ? text.none : percentOf(day.success_rate));

/** answerTime is how long an endpoint takes. @param {any} day */
export const answerTime = (day) => (day?.duration_ms.p50 == null
  ? text.none
  : `${count(day.duration_ms.p50)} / ${msOf(day.duration_ms.p95)}`);

/** answer is what an endpoint answered. @param {any} one */
export const answer = (one) => (one.response_status
  ? `${one.response_status} · ${msOf(one.duration_ms ?? 0)}`
  : one.error_code ? text.errors[/** @type {"timeout"} */ (one.error_code)] ?? wordOf(one.error_code) : text.none);
