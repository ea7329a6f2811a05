/**
 * What happened to a conversation besides its messages: who got it, which labels it had, when
 * it was resolved. It is read with the messages, as far back as they are, and stands between
 * them as quiet lines.
 */
import { el, signal } from "../../dom.js";
import { page } from "../../api.js";
import { clockOf, dates, dayOf, stamp } from "../../format.js";
import { noteLine } from "./notes.js";
import { changes as text } from "texts/thread.js";

const dayAndClock = dates({ day: "numeric", month: "short", hour: "numeric", minute: "2-digit" });

/** @typedef {{ id: string, type: string, by: { type: string, id: string | null, name: string | null }, assignee: { id: string, name: string | null } | null, label: string | null, until?: string | null, created_at: string, note?: any }} Change */

/** What a page is, and how many are read at most in search of an old message. */
const pageSize = 50;
const mostPages = 20;

/**
 * @param {string} number
 * @param {string} conversation
 * @param {(change: () => void) => void} draw shows what was read, without moving what is being read
 */
export function changes(number, conversation, draw) {
  const all = signal(/** @type {Change[]} */ ([])); // the oldest first
  /** @type {string | null} */
  let cursor = null;
  let pages = 0;
  let wanted = "~";
  let busy = false;
  const path = `${number}/conversations/${conversation}/changes`;
  const read = async (/** @type {string | null} */ from) => {
    const got = await page(path, { query: { limit: pageSize, cursor: from } });
    const known = new Map([...all.peek(), ...got.rows].map((one) => [one.id, one]));
    const now = [...known.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    if (now.length > all.peek().length) draw(() => all.set(now));
    return got.cursor;
  };
  return {
    all,
    /** needs reports whether there may be some since a time that were not read. @param {string} time */
    needs: (time) => pages === 0 || (cursor !== null && pages < mostPages && (all.peek()[0]?.created_at ?? "") > time),
    /** reach reads back to a time. @param {string} time */
    async reach(time) {
      if (time < wanted) wanted = time;
      if (busy) return;
      busy = true;
      try {
        for (; this.needs(wanted); pages++) cursor = await read(cursor);
      } catch {
        // The connection bar shows it; scrolling asks again.
      }
      busy = false;
    },
    /** refresh reads the newest. */
    refresh: () => void read(null).catch(() => {}),
  };
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
