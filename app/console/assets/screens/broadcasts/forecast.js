/** Why people get no message of a broadcast, in words, and what a forecast of one says. */
import { el } from "../../dom.js";
import { count } from "../../format.js";

const text = {
  reasons: {
    marketing_opted_out: "stopped marketing messages",
    consent_required: "not opted in",
    missing_parameter: "without a value for a field in the message",
    invalid_parameter: "with a value that can’t be sent: a line break, a tab or many spaces",
    invalid_phone_number: "without a valid phone number",
    duplicate: "reached under another number already",
    contact_deleted: "deleted",
    broadcast_cancelled: "not sent before it was cancelled",
  },
  fallback: "Add a fallback to the field, such as {{name|there}}, to reach everyone.",
  people: (/** @type {number} */ n) => `${count(n)} ${n === 1 ? "person" : "people"}`,
  atLeast: (/** @type {string} */ people) => `More than ${people}`,
  skipped: "Will be skipped:",
  repeated: (/** @type {number} */ n) => `${count(n)} listed more than once, sent once`,
  capped: (/** @type {number} */ n) => `Only the first ${count(n)} were checked.`,
};

/** people says how many they are. @param {number} n */
export const people = text.people;

/**
 * reasonOf is why somebody was skipped, or the code of an error, in words.
 * @param {string} reason
 */
export const reasonOf = (reason) => text.reasons[/** @type {"duplicate"} */ (reason)] ?? reason.replaceAll("_", " ");

/**
 * audienceSize says how many people a broadcast goes to, and who of them gets nothing and why.
 * @param {any} forecast
 */
export function audienceSize({ total, capped, skipped, repeated }) {
  return el("div.audience", { role: "status" },
    el("b", null, capped ? text.atLeast(people(total)) : people(total)),
    skippedList(skipped, repeated),
    capped && el("p.hint", null, text.capped(total)));
}

/**
 * skippedList lists who gets nothing.
 * @param {{ reason: string, count: number }[]} skipped
 * @param {number} repeated
 */
export function skippedList(skipped, repeated) {
  const lines = skipped.map((one) => `${count(one.count)} ${reasonOf(one.reason)}`);
  return [
    lines.length > 0 && el("p", null, text.skipped),
    lines.length + repeated > 0 && el("ul", null,
      lines.map((line) => el("li", null, line)), repeated > 0 && el("li", null, text.repeated(repeated))),
    skipped.some((one) => one.reason === "missing_parameter") && el("p.hint", null, text.fallback),
  ];
}
