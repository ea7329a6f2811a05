/** A rule as a sentence. */
import { get } from "../../api.js";
import { wordOf } from "../../parts/basics.js";
import { everyRow, readLabels } from "../../parts/lists.js";
import { numberName } from "../../session.js";
import { words as text } from "texts/rules.js";

/** How long a quoted text is at most. */
const most = 100;
/** @param {string} words */
const quote = (words) => text.quoted(words.length > most ? words.slice(0, most).trimEnd() + "…" : words);

/** The lengths of units, in minutes. */
export const unitMinutes = { days: 1440, hours: 60, minutes: 1 };

/** spanOf is a number of minutes in the largest unit that divides it. @param {number} minutes */
export function spanOf(minutes) {
  const [unit, length] = Object.entries(unitMinutes).find(([, one]) => minutes % one === 0) ?? ["minutes", 1];
  return { count: minutes / length, unit: /** @type {keyof typeof unitMinutes} */ (unit) };
}

/**
 * @typedef {{ labels: any[], people: any[], replies: any[] }} Named what rules name, but for numbers
 */

/** readNamed reads what rules name. @param {AbortSignal} signal @returns {Promise<Named>} */
export async function readNamed(signal) {
  const [labels, people, replies] = await Promise.all([
    readLabels(signal), get("people", { signal }), everyRow("v1/quick_replies", {}, 1000, signal),
  ]);
  return { labels, people, replies };
}

/** @param {any[]} all @param {string} id */
const named = (all, id) => all.find((one) => one.id === id);

/**
 * whenOf says when a rule runs.
 * @param {any} rule
 * @param {Named} known
 */
function whenOf({ on, if: wanted }, known) {
  const { count, unit } = spanOf(wanted.idle_minutes ?? 0);
  const begin = on === "conversation_idle"
    ? text.idle(text.units[unit](count))
    : text.on[/** @type {"message_received"} */ (on)];
  const ids = wanted.phone_number_ids ?? [];
  const conditions = [
    wanted.text && text.says(text.match[/** @type {"equals"} */ (wanted.text.match)], wanted.text.any.map(quote).join(text.or)),
    wanted.hours && text.hours[/** @type {"open"} */ (wanted.hours)],
    wanted.first_contact != null && text.first[Number(wanted.first_contact)],
    wanted.label_id && text.label(named(known.labels, wanted.label_id)?.name ?? text.gone),
    wanted.assigned != null && text.assigned[Number(wanted.assigned)],
    wanted.holder && text.holder[/** @type {"none"} */ (wanted.holder)],
  ].filter(Boolean);
  return [begin + (ids.length > 0 ? text.numbers(ids.map(numberName).join(text.or)) : ""), ...conditions].join(text.and);
}

/**
 * @param {any} action
 * @param {Named} known
 */
function actionOf({ reply, add_label: adds, remove_label: removes, assign, resolve, note, hand_over: over }, { labels, people, replies }) {
  const label = (/** @type {string} */ id) => named(labels, id)?.name ?? text.gone;
  const person = (/** @type {string} */ id) => named(people, id)?.name ?? text.gone;
  if (reply?.template) return text.template(reply.template.name);
  if (reply?.quick_reply_id) return text.quickReply("/" + (named(replies, reply.quick_reply_id)?.shortcut ?? text.gone));
  if (reply) return text.reply(quote(reply.text));
  if (adds) return text.addLabel(label(adds));
  if (removes) return text.removeLabel(label(removes));
  if (assign) return text.assign(person(assign));
  if (resolve) return text.resolve;
  if (note) return text.note(quote(note));
  const { type, id } = over.to;
  return text.handOver(type === "user" ? person(id) : type === "agent" ? id : text.nobody);
}

/**
 * sentenceOf says what a rule does.
 * @param {any} rule
 * @param {Named} known
 */
export const sentenceOf = (rule, known) =>
  text.sentence(whenOf(rule, known), rule.then.map((/** @type {any} */ one) => actionOf(one, known)).join(text.and));

/** outcomeOf says how an action of a rule went. @param {{ action: string, outcome: string, reason: string | null }} one */
export function outcomeOf({ action, outcome, reason }) {
  const name = text.actions[/** @type {"reply"} */ (action)] ?? wordOf(action);
  return outcome === "done" ? text.done(name) : text.refused(name, reason ?? outcome);
}
