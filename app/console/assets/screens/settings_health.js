/** Health: what was used, what fails, and what needs a look. */
import { el } from "../dom.js";
import { page } from "../api.js";
import { count, date } from "../format.js";
import { chip, heading, section } from "../parts/basics.js";
import { columns } from "../parts/plot.js";
import { loaded, pace, resource } from "../parts/states.js";
import { link } from "../router.js";
import { failureTable } from "./numbers/failures.js";
import { nameOf, readNumbers, stateOf } from "./numbers.js";
import { settingsPage } from "./settings.js";
import { problemOf, statusChip } from "./webhooks/words.js";

const text = {
  title: "Health",
  lead: "How your messages fare, and what needs somebody.",
  look: "Needs a look",
  well: "All numbers and webhooks are well.",
  usage: "This month",
  used: (/** @type {number} */ n, /** @type {number | null} */ of, /** @type {string} */ plan) =>
    `${count(n)}${of === null ? "" : " of " + count(of)} message${(of ?? n) === 1 ? "" : "s"}` +
    `, on the plan ${plan}${of === null ? ", which has no limit" : ""}.`,
  meter: "Messages of this month",
  failures: "Why messages failed, last 24 hours",
  noFailures: "None failed.",
  volumes: "Last 30 days",
  volumesLead: "Days in UTC. A message that was read counts as delivered and as sent too.",
  plots: { received: "Received", sent: "Sent", delivered: "Delivered", read: "Read", failed: "Failed" },
};

const tones = { received: "calm", sent: "calm", delivered: "good", read: "good", failed: "bad" };

/** @type {import("../router.js").Build} */
export default function health() {
  const all = resource("health", ["conversation"], 10 * pace);
  const problems = resource(readProblems, ["account", "webhook", "delivery"], pace);

  const body = settingsPage(
    heading(text.title, { lead: text.lead }),
    el("section.section.first", null, el("h2", null, text.look), loaded(problems, (rows) => () => problemList(rows()), 1)),
    loaded(all, (data) => () => content(data())));
  return { title: text.title, body };
}

/** readProblems finds the numbers and webhooks that need attention. @param {AbortSignal} signal */
async function readProblems(signal) {
  const [numbers, hooks] = await Promise.all([readNumbers(signal), page("v1/webhook_subscriptions", { signal, query: { limit: 100 } })]);
  return [
    ...numbers.filter((/** @type {any} */ one) => one.phone_number_id && stateOf(one)[0] !== "good").map((/** @type {any} */ one) => ({
      to: "numbers/" + one.phone_number_id,
      name: nameOf(one),
      state: chip(stateOf(one)[1], stateOf(one)[0]),
      next: stateOf(one)[2],
    })),
    ...hooks.rows.filter(problemOf).map((one) => ({
      to: "webhooks/" + one.id,
      name: one.url,
      state: statusChip(one),
      next: problemOf(one),
    })),
  ];
}

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
