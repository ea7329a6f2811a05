/** Health: what was used, what fails, and what needs a look. */
import { el } from "../dom.js";
import { page } from "../api.js";
import { count, date } from "../format.js";
import { chip, heading, section } from "../parts/basics.js";
import { columns, figure } from "../parts/plot.js";
import { loaded, pace, resource } from "../parts/states.js";
import { link } from "../router.js";
import { failureTable } from "./numbers/failures.js";
import { nameOf, readNumbers, stateOf } from "./numbers.js";
import { settingsPage } from "./settings.js";
import { problemOf, readDay, statusChip } from "./webhooks/words.js";

const text = {
  title: "Health",
  lead: "Message health, and what needs attention.",
  look: "Needs attention",
  well: "All numbers and webhooks are working.",
  day: "Last 24 hours",
  failed: "Messages failed",
  failedOf: (/** @type {number} */ n, /** @type {number} */ of) =>
    `${count(n)} of ${count(of)}. Under ${percent.format(fineFailures)} is normal, ${percent.format(badFailures)} or more needs attention.`,
  noMessages: "No messages sent.",
  delivered: "Webhook deliveries",
  deliveredOf: (/** @type {number} */ n, /** @type {number} */ of) =>
    `${count(n)} of ${count(of)} succeeded. ${percent.format(fineDeliveries)} or more is normal.`,
  noDeliveries: "No deliveries.",
  verdicts: { good: "healthy", warn: "watch", bad: "needs attention" },
  replica: "Replica",
  replicaLag: (/** @type {number} */ seconds) => `${seconds.toFixed(1)} s behind`,
  replicaVerified: (/** @type {string | null} */ at) => (at ? `A restore of it was verified on ${date(at)}.` : "No restore of it was verified yet."),
  usage: "This month",
  used: (/** @type {number} */ n, /** @type {number | null} */ of, /** @type {string} */ plan) =>
    `${count(n)}${of === null ? "" : " of " + count(of)} message${(of ?? n) === 1 ? "" : "s"} on the ${plan} plan` +
    (of === null ? ", which has no limit." : "."),
  meter: "Messages this month",
  failures: "Why messages failed, last 24 hours",
  noFailures: "No message failed.",
  volumes: "Last 30 days",
  volumesLead: "Days in UTC. A message that was read also counts as delivered and sent.",
  plots: { received: "Received", sent: "Sent", delivered: "Delivered", read: "Read", failed: "Failed" },
};

/** From which parts on something is worth a look: of messages that failed, and of deliveries that succeeded. */
const fineFailures = 0.02;
const badFailures = 0.05;
const fineDeliveries = 0.95;

const percent = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });

const tones = { received: "calm", sent: "calm", delivered: "good", read: "good", failed: "bad" };

/** @type {import("../router.js").Build} */
export default function health() {
  const all = resource("health", ["conversation"], 10 * pace);
  const checked = resource(readProblems, ["account", "webhook", "delivery"], 5 * pace);

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
  return verdict(text.failed, percent.format(part), tone, text.failedOf(failed, of));
}

/** @param {any[]} days of all webhooks */
function deliveredCard(days) {
  const sum = (/** @type {string} */ key) => days.reduce((total, one) => total + one[key], 0);
  const succeeded = sum("succeeded");
  const of = succeeded + sum("dead") + sum("failed");
  if (of === 0) return figure(text.delivered, "—", el("p.hint", null, text.noDeliveries));
  const part = succeeded / of;
  return verdict(text.delivered, percent.format(part), part >= fineDeliveries ? "good" : "warn", text.deliveredOf(succeeded, of));
}

/** @param {{ lag_seconds: number, last_verified_at: string | null, warnings: string[] }} replica */
const replicaCard = ({ lag_seconds: lag, last_verified_at: at, warnings }) =>
  verdict(text.replica, text.replicaLag(lag), warnings.length === 0 ? "good" : "warn", warnings.join(" ") || text.replicaVerified(at));

/** @param {any[]} rows */
const problemList = (rows) => (rows.length === 0 ? el("p.none", null, text.well) : el("ul.problems", null, rows.map((one) => el("li", null,
  el("a", { href: link(one.to), dir: "auto" }, one.name), one.state, el("span", { dir: "auto" }, one.next)))));

/** @param {any} data */
function content({ usage, plan, days, failures }) {
  return [
    section(text.usage, { lead: text.used(usage.messages, usage.limit, plan) },
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
