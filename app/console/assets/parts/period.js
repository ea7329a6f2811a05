/** The days that a report is about, chosen in the address, and those before them. */
import { dates } from "../format.js";
import { query } from "../router.js";
import { presentTime } from "../session.js";
import { filter } from "./lists.js";
import { period as text } from "texts/parts.js";

const day = 86_400_000;

/** periodFilter chooses the days. */
export const periodFilter = () => filter(text.period, "period",
  () => Object.entries(text.periods).map(([value, label]) => ({ value, label })), text.last30);

/** dateOf is a date as the API writes it. @param {number} at midnight in UTC */
const dateOf = (at) => new Date(at).toISOString().slice(0, 10);

/**
 * span is the days of the chosen period.
 * @param {boolean} [utc] today is that of UTC, not of the viewer
 */
export function span(utc) {
  const now = new Date(presentTime());
  const [year, month, date] = utc
    ? [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
    : [now.getFullYear(), now.getMonth(), now.getDate()];
  const at = (/** @type {number} */ ofMonth, /** @type {number} */ ofDay) => dateOf(Date.UTC(year, ofMonth, ofDay));
  switch (query().get("period")) {
    case "week": return { from: at(month, date - 6), to: at(month, date) };
    case "month": return { from: at(month, 1), to: at(month, date) };
    case "before": return { from: at(month - 1, 1), to: at(month, 0) };
    case "quarter": return { from: at(month, date - 89), to: at(month, date) };
    default: return { from: at(month, date - 29), to: at(month, date) };
  }
}

const inFull = dates({ dateStyle: "medium" });

/** spanText is the days of a period, in words. @param {{ from: string, to: string }} span */
export const spanText = ({ from, to }) => inFull.formatRange(new Date(from + "T12:00"), new Date(to + "T12:00"));

/** daysBefore is as many days before a span. @param {{ from: string, to: string }} span */
export function daysBefore({ from, to }) {
  const [first, last] = [Date.parse(from), Date.parse(to)];
  return { from: dateOf(2 * first - last - day), to: dateOf(first - day) };
}

/**
 * everyDay is the groups of a report by day, with the days that have none.
 * @template T
 * @param {{ from: string, to: string, groups: (T & { group: string })[] }} report
 * @param {T} none
 */
export function everyDay({ from, to, groups }, none) {
  const known = new Map(groups.map((one) => [one.group, one]));
  const days = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += day) {
    const group = dateOf(at);
    days.push(known.get(group) ?? { ...none, group });
  }
  return days;
}
