/** Costs: what messages cost, by day, category, number and campaign. Amounts are estimates. */
import { effect, el, untracked } from "../dom.js";
import { get } from "../api.js";
import { count, date, money, moneyIn } from "../format.js";
import { button, heading, section } from "../parts/basics.js";
import { everyRow, filter } from "../parts/lists.js";
import { bars, columns, figure } from "../parts/plot.js";
import { loaded, resource } from "../parts/states.js";
import { query } from "../router.js";
import { numbers, presentTime, root } from "../session.js";

const text = {
  title: "Costs",
  lead: "What delivered messages cost. Amounts are estimates; the provider’s bill decides.",
  export: "Export",
  period: "Period",
  last30: "Last 30 days",
  periods: { month: "This month", before: "Last month", quarter: "Last 90 days" },
  messages: "Messages",
  billable: "Billable",
  estimate: "Estimated cost",
  noEstimate: "Not known",
  noRates: "To see amounts, ask your operator to import rates.",
  missing: "Some messages have no rate, so there is no total.",
  ratesFrom: "Rates from ",
  days: "By day",
  daysLead: "Days in UTC, when messages were delivered.",
  groups: { category: "By category", number: "By number", broadcast: "By campaign" },
  none: "No costs in this period.",
  noBroadcast: "Not in a campaign",
  unknown: "Unknown",
};

const kinds = /** @type {const} */ (["day", "category", "number", "broadcast"]);

/** span is the days of the chosen period, as dates in UTC. */
function span() {
  const now = new Date(presentTime());
  const at = (/** @type {number} */ month, /** @type {number} */ day) =>
    new Date(Date.UTC(now.getUTCFullYear(), month, day)).toISOString().slice(0, 10);
  const [month, day] = [now.getUTCMonth(), now.getUTCDate()];
  switch (query().get("period")) {
    case "month": return { from: at(month, 1), to: at(month, day) };
    case "before": return { from: at(month - 1, 1), to: at(month, 0) };
    case "quarter": return { from: at(month, day - 89), to: at(month, day) };
    default: return { from: at(month, day - 29), to: at(month, day) };
  }
}

/** @type {import("../router.js").Build} */
export default function costs() {
  const all = resource(read);
  effect(() => {
    span();
    untracked(() => all.data() && all.reload());
  });

  const body = el("div.page", null,
    heading(text.title, { lead: text.lead, actions: button(text.export, { icon: "download", run: download }) }),
    el("div.filters", null, filter(text.period, "period",
      () => Object.entries(text.periods).map(([value, label]) => ({ value, label })), text.last30)),
    loaded(all, (data) => () => content(data())));
  return { title: text.title, body };
}

/** read reads the report in each of its groups, and the names of campaigns. @param {AbortSignal} signal */
async function read(signal) {
  const days = untracked(span);
  const reports = await Promise.all(kinds.map((kind) => get("v1/reports/costs", { signal, query: { ...days, group_by: kind } })));
  const names = reports[3].groups.some((/** @type {any} */ one) => one.group) ? await readCampaigns(signal) : new Map();
  return { reports, names };
}

/** readCampaigns reads how campaigns are called. @param {AbortSignal} signal */
async function readCampaigns(signal) {
  const lists = await Promise.all(numbers().map((one) => everyRow(`v1/${one.phone_number_id}/broadcasts`, {}, 500, signal)));
  return new Map(lists.flat().map((one) => [one.id, one.name]));
}

/** download saves what is shown, by day. */
function download() {
  const url = new URL("api/v1/reports/costs.csv", root);
  for (const [name, value] of Object.entries({ ...span(), group_by: "day" })) url.searchParams.set(name, value);
  el("a", { href: url.href, download: "costs.csv" }).click();
}

/** @param {{ amount: string, currency: string } | null} estimate */
const amountOf = (estimate) => (estimate === null ? text.noEstimate : money(estimate));

/** @param {{ reports: any[], names: Map<string, string> }} data */
function content({ reports, names }) {
  const [byDay] = reports;
  const { totals } = byDay;
  if (totals.messages === 0) return el("p.none", null, text.none);
  const currency = totals.estimate?.currency;
  const valueOf = (/** @type {any} */ one) => (currency ? Number(one.estimate.amount) : one.messages);
  const write = currency ? moneyIn(currency) : count;
  const name = currency ? text.estimate : text.messages;
  return [
    el("div.cards", null,
      figure(text.messages, count(totals.messages)),
      figure(text.billable, count(totals.billable)),
      figure(text.estimate, amountOf(totals.estimate), el("p.hint", null, hint(byDay)))),
    section(text.days, { lead: text.daysLead }, el("div.plots", null, columns(name, everyDay(byDay).map((one) => ({
      at: /** @type {Node} */ (date(one.group + "T12:00:00Z")), // the same day anywhere
      value: valueOf(one),
    })), "calm", write))),
    kinds.slice(1).map((kind, i) => section(text.groups[/** @type {"number"} */ (kind)], {},
      bars(text.groups[/** @type {"number"} */ (kind)], reports[i + 1].groups.map((/** @type {any} */ one) => ({
        name: nameOf(kind, one.group, names),
        value: valueOf(one),
        cells: [count(one.messages), count(one.billable), amountOf(one.estimate)],
      })), write, [text.messages, text.billable, text.estimate]))),
  ];
}

/** hint says where the amount comes from, or why there is none. @param {any} report */
function hint({ totals, rates_from: from }) {
  if (totals.estimate) return [text.ratesFrom, date(from + "T12:00:00Z")];
  return from ? text.missing : text.noRates;
}

/** everyDay is the groups of a report with the days that have none. @param {any} report */
function everyDay({ from, to, groups }) {
  const known = new Map(groups.map((/** @type {any} */ one) => [one.group, one]));
  const days = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += 86_400_000) {
    const group = new Date(at).toISOString().slice(0, 10);
    days.push(known.get(group) ?? { group, messages: 0, billable: 0, estimate: { amount: "0" } });
  }
  return days;
}

/**
 * nameOf is how people call a group.
 * @param {string} kind
 * @param {string | null} group
 * @param {Map<string, string>} names of campaigns
 */
function nameOf(kind, group, names) {
  if (group === null) return kind === "broadcast" ? text.noBroadcast : text.unknown;
  if (kind === "broadcast") return names.get(group) ?? group;
  if (kind === "category") return group.replaceAll(/[_-]/g, " ");
  const account = numbers().find((one) => one.phone_number_id === group);
  return account?.name ?? account?.phone_number ?? group;
}
