/** Costs: what messages cost, by day, category, number and campaign. Amounts are estimates. */
import { el, untracked } from "../dom.js";
import { addressOf, get } from "../api.js";
import { categoryOf, count, date, money, moneyIn } from "../format.js";
import { button, heading, section } from "../parts/basics.js";
import { everyRow, follow } from "../parts/lists.js";
import { daysBefore, everyDay, periodFilter, span, spanText } from "../parts/period.js";
import { bars, columns, figure } from "../parts/plot.js";
import { loaded, resource } from "../parts/states.js";
import { numberName, numbers } from "../session.js";
import { costs as text } from "texts/reports.js";

const kinds = /** @type {const} */ (["day", "category", "number", "broadcast"]);

/** days is the chosen ones. The provider counts those of UTC. */
const days = () => span(true);

/** @type {import("../router.js").Build} */
export default function costs() {
  const all = resource(read);
  follow(days, all.reload);

  const body = el("div.page", null,
    heading(text.title, { lead: text.lead, actions: button(text.export, { icon: "download", run: download }) }),
    el("div.filters", null, periodFilter()),
    el("p.hint", null, () => spanText(days())),
    loaded(all, (data) => () => content(data())));
  return { title: text.title, body };
}

/** read reads the report in each of its groups, and the names of campaigns. @param {AbortSignal} signal */
async function read(signal) {
  const chosen = untracked(days);
  const ask = (/** @type {any} */ of, /** @type {string} */ by) => get("v1/reports/costs", { signal, query: { ...of, group_by: by } });
  const [before, ...reports] = await Promise.all([ask(daysBefore(chosen), "day"), ...kinds.map((kind) => ask(chosen, kind))]);
  const names = reports[3].groups.some((/** @type {any} */ one) => one.group) ? await readCampaigns(signal) : new Map();
  return { before, reports, names };
}

/** readCampaigns reads how campaigns are called. @param {AbortSignal} signal */
async function readCampaigns(signal) {
  const lists = await Promise.all(numbers().map((one) => everyRow(`v1/${one.phone_number_id}/broadcasts`, {}, 500, signal)));
  return new Map(lists.flat().map((one) => [one.id, one.name]));
}

/** download saves what is shown, by day. */
function download() {
  el("a", { href: addressOf("v1/reports/costs.csv", { ...days(), group_by: "day" }), download: "costs.csv" }).click();
}

/** @param {{ amount: string, currency: string } | null} estimate */
const amountOf = (estimate) => (estimate === null ? text.noEstimate : money(estimate));

const nothing = { messages: 0, billable: 0, estimate: { amount: "0" } };

/** @param {{ before: any, reports: any[], names: Map<string, string> }} data */
function content({ before, reports, names }) {
  const [byDay] = reports;
  const { totals } = byDay;
  if (totals.messages === 0) return el("p.none", null, text.none);
  const currency = totals.estimate?.currency;
  const valueOf = (/** @type {any} */ one) => (currency ? Number(one.estimate?.amount ?? NaN) : one.messages);
  const earlier = everyDay(before, nothing);
  const write = currency ? moneyIn(currency) : count;
  const name = currency ? text.estimate : text.messages;
  return [
    el("div.cards", null,
      figure(text.messages, count(totals.messages)),
      figure(text.billable, count(totals.billable)),
      figure(text.estimate, amountOf(totals.estimate), el("p.hint", null, hint(byDay)))),
    section(text.days, { lead: text.daysLead }, el("div.plots", null, columns(name, everyDay(byDay, nothing).map((one, i) => ({
      at: /** @type {Node} */ (date(one.group + "T12:00:00Z")), // the same day anywhere
      value: valueOf(one),
      before: known(valueOf(earlier[i])),
    })), "calm", write))),
    kinds.slice(1).map((kind, i) => section(text.groups[/** @type {"number"} */ (kind)], {},
      bars(text.groups[/** @type {"number"} */ (kind)], reports[i + 1].groups.map((/** @type {any} */ one) => ({
        name: nameOf(kind, one.group, names),
        value: valueOf(one),
        cells: [count(one.messages), count(one.billable), amountOf(one.estimate)],
      })), write, [text.messages, text.billable, text.estimate]))),
  ];
}

/** known is a value, if it is one: days before may have no rate. @param {number} value */
const known = (value) => (Number.isNaN(value) ? null : value);

/** hint says where the amount comes from, or why there is none. @param {any} report */
function hint({ totals, rates_from: from }) {
  if (totals.estimate) return [text.ratesFrom, date(from + "T12:00:00Z")];
  return from ? text.missing : text.noRates;
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
  if (kind === "category") return categoryOf(group);
  return numberName(group);
}
