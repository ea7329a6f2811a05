/** Reports: how conversations went, by day, person, label and number, compared with the days before. */
import { el, untracked } from "../dom.js";
import { addressOf, get } from "../api.js";
import { changeOf, count, date, locale } from "../format.js";
import { button, heading, section } from "../parts/basics.js";
import { follow, readLabels } from "../parts/lists.js";
import { daysBefore, everyDay, periodFilter, span, spanText } from "../parts/period.js";
import { bars, columns, figure } from "../parts/plot.js";
import { loaded, resource } from "../parts/states.js";
import { numberName } from "../session.js";
import { reports as text } from "texts/reports.js";

const kinds = /** @type {const} */ (["user", "label", "number"]);
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const units = /** @type {const} */ ([[90, 1, "second"], [90 * 60, 60, "minute"], [48 * 3600, 3600, "hour"], [Infinity, 86_400, "day"]]);

/** With which an axis of time ends, in seconds, so that its half is plain too. */
const lengths = [10, 60, 120, 600, 1800, 3600, 7200, 14_400, 43_200, ...[1, 2, 4, 10, 20, 60].map((days) => days * 86_400)];

/** lengthOf is a length of time in a unit that fits. @param {number | null} seconds */
function lengthOf(seconds) {
  if (seconds === null) return "—";
  const [, size, unit] = units.find(([below]) => seconds < below) ?? units[3];
  return new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "short", maximumFractionDigits: 1 }).format(seconds / size);
}

/** @type {import("../router.js").Build} */
export default function reports() {
  const all = resource(read);
  follow(span, all.reload);

  const body = el("div.page", null,
    heading(text.title, {
      lead: text.lead,
      actions: [button(text.print, { run: () => print() }), button(text.export, { icon: "download", run: download })],
    }),
    el("div.filters", null, periodFilter()),
    el("p.hint", null, () => spanText(span())),
    loaded(all, (data) => () => content(data())));
  return { title: text.title, body };
}

/** read reads the report of the days and of those before, in each of its groups, and names. @param {AbortSignal} signal */
async function read(signal) {
  const days = untracked(span);
  const ask = (/** @type {any} */ of, /** @type {string} */ by) =>
    get("v1/reports/conversations", { signal, query: { ...of, timezone: zone, group_by: by } });
  const [now, before, labels, me, ...groups] = await Promise.all([
    ask(days, "day"),
    ask(daysBefore(days), "day"),
    readLabels(signal),
    get("v1/me", { signal }),
    ...kinds.map((kind) => ask(days, kind)),
  ]);
  const names = new Map([...labels, ...me.users].map((/** @type {any} */ one) => [one.id, one.name]));
  return { now, before, groups, names };
}

/** download saves a line for each conversation. */
function download() {
  el("a", { href: addressOf("v1/reports/conversations.csv", { ...span(), timezone: zone }), download: "conversations.csv" }).click();
}

/** change says how a figure has changed. @param {number | null} now @param {number | null} before */
const change = (now, before) => now !== null && el("p.hint", null,
  before ? text.against(changeOf((now - before) / before)) : text.noneBefore);

/** @param {{ group: string }} one */
const dayOf = (one) => /** @type {Node} */ (date(one.group + "T12:00:00"));

const nothing = { opened: 0, resolved: 0, first_reply_seconds: { p50: null }, messages_in: 0, messages_out: 0 };

/** @param {{ now: any, before: any, groups: any[], names: Map<string, string> }} data */
function content({ now, before, groups, names }) {
  const { totals } = now;
  if (totals.opened === 0 && before.totals.opened === 0) return el("p.none", null, text.none);
  const earlier = everyDay(before, nothing);
  const days = everyDay(now, nothing);
  const plot = (/** @type {string} */ name, /** @type {(one: any) => number | null} */ value, tone = "calm") =>
    columns(name, days.map((one, i) => ({ at: dayOf(one), value: value(one), before: value(earlier[i]) })), tone);
  const median = (/** @type {any} */ one) => one.first_reply_seconds.p50;
  return [
    el("div.cards", null,
      figure(text.figures.opened, count(totals.opened), change(totals.opened, before.totals.opened)),
      figure(text.figures.resolved, count(totals.resolved), change(totals.resolved, before.totals.resolved)),
      ...[[text.figures.first, "first_reply_seconds"], [text.figures.resolution, "resolution_seconds"]].map(([name, key]) =>
        figure(name, lengthOf(totals[key].p50), [
          totals[key].p90 !== null && el("p.hint", null, text.median + " · " + text.slow(lengthOf(totals[key].p90))),
          change(totals[key].p50, before.totals[key].p50),
        ]))),
    section(text.days, { lead: text.daysLead }, el("div.plots", null,
      plot(text.figures.opened, (one) => one.opened),
      plot(text.figures.resolved, (one) => one.resolved, "good"),
      columns(text.figures.first, days.map((one, i) => ({ at: dayOf(one), value: median(one), before: median(earlier[i]) })),
        "calm", lengthOf, lengthOf(median(totals)), lengths),
      plot(text.figures.in, (one) => one.messages_in),
      plot(text.figures.out, (one) => one.messages_out))),
    kinds.map((kind, i) => section(text.groups[kind], {}, bars(text.groups[kind], groups[i].groups.map((/** @type {any} */ one) => ({
      name: nameOf(kind, one.group, names),
      value: one.opened,
      cells: [
        count(one.opened), count(one.resolved),
        ...[one.first_reply_seconds, one.resolution_seconds].flatMap(({ p50, p90 }) => [lengthOf(p50), lengthOf(p90)]),
      ],
    })), count, text.heads))),
  ];
}

/**
 * nameOf is how people call a group.
 * @param {string} kind
 * @param {string | null} group
 * @param {Map<string, string>} names
 */
function nameOf(kind, group, names) {
  if (group === null) return kind === "user" ? text.noUser : text.noLabel;
  if (kind !== "number") return names.get(group) ?? text.gone;
  return numberName(group);
}
