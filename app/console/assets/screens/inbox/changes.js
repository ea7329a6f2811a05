/**
 * What happened to a conversation besides its messages: who got it, which labels it had, when
 * it was resolved. It is read with the messages, as far back as they are, and stands between
 * them as quiet lines.
 */
import { el } from "../../dom.js";
import { clockOf, dates, dayOf, stamp } from "../../format.js";
import { noteLine } from "./notes.js";
import { readBack } from "./read_back.js";
import { changes as text } from "texts/thread.js";

const dayAndClock = dates({ day: "numeric", month: "short", hour: "numeric", minute: "2-digit" });

/** @typedef {{ id: string, type: string, by: { type: string, id: string | null, name: string | null }, assignee: { id: string, name: string | null } | null, label: string | null, until?: string | null, created_at: string, note?: any }} Change */

/**
 * @param {string} number
 * @param {string} conversation
 * @param {(change: () => void) => void} draw shows what was read, without moving what is being read
 */
export function changes(number, conversation, draw) {
  const { rows, ...back } = readBack(`${number}/conversations/${conversation}/changes`, draw);
  return { all: /** @type {() => Change[]} */ (rows), ...back };
}

/** sentence says what happened. @param {Change} change */
function sentence({ type, by, assignee, label, until }) {
  if (type === "reopened" && by.type === "contact") return text.answered;
  if (by.type === "assignment") return text.byTurn(assignee?.name ?? "");
  const isOwn = type === "assigned" && assignee?.id === by.id;
  const others = /** @type {Record<string, string>} */ ({ rule: text.rule, time: "" });
  const who = isOwn ? "" : by.type === "user" ? by.name ?? "" : others[by.type] ?? text.api;
  if (type === "handed_over") {
    const to = assignee?.name ?? label;
    const taken = by.type === "user" && !by.id;
    return taken ? text.handedOver(text.phoneApp) : text.by(to ? text.handedOver(to) : text.released, assignee?.id === by.id ? "" : who);
  }
  if (type === "assigned") return text.by(assignee ? text.assigned(assignee.name ?? "") : text.unassigned, who);
  if (type === "labeled" || type === "unlabeled") return text.by(text[type](label ?? ""), who);
  if (type === "snoozed") return text.by(text.snoozed(dayAndClock.format(Date.parse(until ?? ""))), who);
  if (type === "woken") return by.type === "time" ? text.woken : text.by(text.woken, who);
  return text.by(text[/** @type {"resolved"} */ (type)] ?? type, who);
}

/**
 * changeLine shows a change, with its time, and with its day where that is not the day of what follows.
 * @param {Change} change
 * @param {string} [day]
 */
export const changeLine = (change, day) => (change.note ? noteLine(change.note) : el("p.happened", { "data-change": change.type },
  el("span", { dir: "auto" }, sentence(change)), " · ",
  stamp(change.created_at, (at) => (day === undefined || dayOf(at) === day ? clockOf(at) : dayAndClock.format(at)))));
