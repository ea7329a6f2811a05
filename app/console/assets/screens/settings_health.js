/** Health: what was used, what fails, and what needs a look. */
import { el } from "../dom.js";
import { page } from "../api.js";
import { date, dateOf, percentOf, sizeOf } from "../format.js";
import { chip, heading, section } from "../parts/basics.js";
import { columns, figure } from "../parts/plot.js";
import { loaded, pace, resource } from "../parts/states.js";
import { link } from "../router.js";
import { failureTable } from "./numbers/failures.js";
import { nameOf, readNumbers, stateOf } from "./numbers.js";
import { settingsPage } from "./settings.js";
import { problemOf, readDay, statusChip } from "./webhooks/words.js";
import { health as text } from "texts/settings.js";

/** From which parts on something is worth a look: of messages that failed, and of deliveries that succeeded. */
const fineFailures = 0.02;
const badFailures = 0.05;
const fineDeliveries = 0.95;

const tones = { received: "calm", sent: "calm", delivered: "good", read: "good", failed: "bad" };

/** @type {import("../router.js").Build} */
export default function health() {
  const all = resource("health", ["conversation"], 10 * pace);
  const checked = resource(readProblems, ["account", "delivery"], 5 * pace);

  const body = settingsPage(
    heading(text.title, { lead: text.lead }),
    el("section.section.first", null, el("h2", null, text.day),
      el("div.cards.verdicts", null, () => [
        all.data() && failedCard(all.data().last_day),
        checked.data() && deliveredCard(/** @type {any} */ (checked.data()).days),
        all.data()?.replica && replicaCard(all.data().replica),
      ])),
    section(text.look, {}, loaded(checked, (found) => () => problemList(found().problems), 1)),
    loaded(all, (data) => () => content(data())));
  return { title: text.title, body };
}

/** readProblems finds the numbers and webhooks that need attention, and how deliveries went. @param {AbortSignal} signal */
async function readProblems(signal) {
  const [numbers, hooks] = await Promise.all([readNumbers(signal), page("v1/webhook_subscriptions", { signal, query: { limit: 100 } })]);
  const days = await Promise.all(hooks.rows.map((one) => readDay(one, signal)));
  const problems = [
    ...numbers.filter((/** @type {any} */ one) => one.phone_number_id && stateOf(one)[0] !== "good").map((/** @type {any} */ one) => ({
      to: "numbers/" + one.phone_number_id,
      name: nameOf(one),
      state: chip(stateOf(one)[1], stateOf(one)[0]),
      next: stateOf(one)[2],
    })),
    ...hooks.rows.map((one, i) => ({
      to: "webhooks/" + one.id,
      name: one.description ?? one.url,
      state: statusChip(one, days[i]),
      next: problemOf(one, days[i]),
    })).filter((one) => one.next),
  ];
  return { problems, days: days.filter(Boolean) };
}

/**
 * verdict is a figure with what it means beside it.
 * @param {string} name
 * @param {string} value
 * @param {keyof typeof text.verdicts} tone
 * @param {string} meaning
 */
const verdict = (name, value, tone, meaning) =>
  figure(name, [value, " ", chip(text.verdicts[tone], tone)], el("p.hint", null, meaning));

/** @param {{ sent: number, failed: number }} day */
function failedCard({ sent, failed }) {
  const of = sent + failed;
  if (of === 0) return figure(text.failed, "—", el("p.hint", null, text.noMessages));
  const part = failed / of;
  const tone = part < fineFailures ? "good" : part < badFailures ? "warn" : "bad";
  return verdict(text.failed, percentOf(part), tone, text.failedOf(failed, of, percentOf(fineFailures), percentOf(badFailures)));
}

/** @param {any[]} days of all webhooks */
function deliveredCard(days) {
  const sum = (/** @type {string} */ key) => days.reduce((total, one) => total + one[key], 0);
  const succeeded = sum("succeeded");
  const of = succeeded + sum("dead") + sum("failed");
  if (of === 0) return figure(text.delivered, "—", el("p.hint", null, text.noDeliveries));
  const part = succeeded / of;
  const tone = part >= fineDeliveries ? "good" : "warn";
  return verdict(text.delivered, percentOf(part), tone, text.deliveredOf(succeeded, of, percentOf(fineDeliveries)));
}

/** @param {{ lag_seconds: number, backlog_bytes: number, last_verified_at: string | null, warnings: string[] }} replica */
const replicaCard = ({ lag_seconds: lag, backlog_bytes: waiting, last_verified_at: at, warnings }) =>
  verdict(text.replica, text.replicaLag(lag.toFixed(1)), warnings.length === 0 ? "good" : "warn", [
    ...warnings, text.replicaWaiting(sizeOf(waiting)), at ? text.replicaVerified(dateOf(Date.parse(at))) : text.replicaUnverified,
  ].join(" "));

/** @param {any[]} rows */
const problemList = (rows) => (rows.length === 0 ? el("p.none", null, text.well) : el("ul.problems", null, rows.map((one) => el("li", null,
  el("a", { href: link(one.to), dir: "auto" }, one.name), one.state, el("span", { dir: "auto" }, one.next)))));

/** @param {any} data */
function content({ usage, plan, days, failures }) {
  return [
    section(text.usage, {
      lead: usage.limit === null ? text.usedUnlimited(usage.messages, plan) : text.used(usage.messages, usage.limit, plan),
    },
      usage.limit && el("meter", { min: 0, max: usage.limit, high: 0.9 * usage.limit, value: usage.messages, "aria-label": text.meter })),
    section(text.volumes, { lead: text.volumesLead },
      el("div.plots", null, Object.entries(text.plots).map(([key, name]) => columns(
        name,
        days.map((/** @type {any} */ one) => ({ at: date(one.from.replace("T00", "T12")), value: one[key] })), // the same day anywhere
        tones[/** @type {keyof typeof tones} */ (key)],
      )))),
    section(text.failures, {}, failures.length > 0 ? failureTable(() => failures) : el("p.none", null, text.noFailures)),
  ];
}
