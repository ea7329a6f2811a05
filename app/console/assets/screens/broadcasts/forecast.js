/** Why people get no message of a broadcast, in words, and what a forecast of one says. */
import { el } from "../../dom.js";
import { forecast as text } from "texts/broadcasts.js";

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
    el("b", null, capped ? text.atLeast(total) : people(total)),
    skippedList(skipped, repeated),
    capped && el("p.hint", null, text.capped(total)));
}

/**
 * skippedList lists who gets nothing.
 * @param {{ reason: string, count: number }[]} skipped
 * @param {number} repeated
 */
export function skippedList(skipped, repeated) {
  const lines = skipped.map((one) => text.skippedFor(one.count, reasonOf(one.reason)));
  return [
    lines.length > 0 && el("p", null, text.skipped),
    lines.length + repeated > 0 && el("ul", null,
      lines.map((line) => el("li", null, line)), repeated > 0 && el("li", null, text.repeated(repeated))),
    skipped.some((one) => one.reason === "missing_parameter") && el("p.hint", null, text.fallback),
  ];
}
