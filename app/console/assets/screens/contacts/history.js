/** What happened with a contact, the newest first, and what it agreed to. */
import { el, list, when } from "../../dom.js";
import { date, time } from "../../format.js";
import { section } from "../../parts/basics.js";
import { stateChip } from "../../parts/lists.js";
import { loaded } from "../../parts/states.js";
import { fact } from "../../parts/table.js";
import { link } from "../../router.js";
import { isAdmin } from "../../session.js";
import { reasonOf } from "../broadcasts/forecast.js";

const text = {
  title: "Timeline",
  added: "Added to your contacts",
  conversation: "Conversation started",
  stopped: "Stopped marketing messages",
  broadcast: "Broadcast ",
  assigned: (/** @type {string | undefined} */ name) => (name ? `Assigned to ${name}` : "Unassigned"),
  resolved: (/** @type {string | undefined} */ name) => (name ? `Resolved by ${name}` : "Resolved"),
  number: (/** @type {string} */ from, /** @type {string} */ to) => `Phone number changed from ${from} to ${to}`,
  identity: "Network id changed",
  updated: (/** @type {string[]} */ fields) => `Changed ${fields.join(", ").replace("metadata", "custom fields").replaceAll("_", " ")}`,
  consent: "Consent",
  may: "May be messaged",
  yes: "Yes",
  no: "Not yet",
  since: ", since ",
  by: { message: " · they wrote to you", record: " · recorded by your team" },
  required: "Templates are skipped until they opt in.",
  optional: "Your organization doesn’t require consent.",
  give: "Record consent",
  withdraw: "Withdraw consent",
  marketing: "Marketing",
  states: { allowed: "Allowed", stopped: "Stopped by them", unknown: "Unknown" },
  hints: {
    allowed: "",
    stopped: "Only they can turn it back on, in their app.",
    unknown: "They haven’t said. Marketing templates are sent until they stop them.",
  },
};

/** @param {import("../../parts/states.js").Resource<any>} history */
export const timeline = (history) => section(text.title, {}, loaded(history, (data) =>
  el("ol.timeline", null, list(() => folded(data().items), (one) => one.key, (one) =>
    el("li", { class: one().type }, el("span", { dir: "auto" }, () => happening(one())), time(one().at))))));

/**
 * folded leaves out changes that were changed again before anything else happened.
 * @param {any[]} items
 */
function folded(items) {
  const same = (/** @type {any} */ a, /** @type {any} */ b) => a?.type === "updated" && b?.type === "updated" && String(a.fields) === String(b.fields);
  const left = items.filter((one, i) => !same(one, items[i - 1]));
  return left.map((one, i) => ({ ...one, key: `${one.type} ${one.at} ${left.length - i}` }));
}

/** @param {any} item */
function happening({ type, id, name, status, reason, from, to, fields }) {
  switch (type) {
    case "conversation":
      return el("a", { href: link("inbox/" + id) }, text.conversation);
    case "broadcast":
      return [
        text.broadcast, isAdmin ? el("a", { href: link("broadcasts/" + id) }, name) : el("b", null, name), " ", stateChip(status),
        reason && el("small", null, " " + reasonOf(reason)),
      ];
    case "marketing_stopped":
      return text.stopped;
    case "assigned":
      return text.assigned(name);
    case "resolved":
      return text.resolved(name);
    case "identity":
      return from && to && from !== to ? text.number(from, to) : text.identity;
    case "updated":
      return text.updated(fields ?? []);
    default:
      return text.added;
  }
}

/**
 * consent says in two facts what somebody agreed to.
 * @param {import("../../parts/states.js").Resource<any>} history
 * @param {(given: boolean) => void} record
 */
export const consent = (history, record) => section(text.consent, {}, loaded(history, (data) => el("dl.facts.consent", null,
  fact(text.may, () => may(data().consent, record)),
  fact(text.marketing, () => {
    const state = /** @type {"allowed"} */ (data().marketing);
    return [text.states[state], text.hints[state] && el("small", null, text.hints[state])];
  })), 1));

/**
 * @param {any} consent
 * @param {(given: boolean) => void} record
 */
function may({ given, required, by, since }, record) {
  return [
    given ? [text.yes, since && [text.since, date(since)], text.by[/** @type {"message"} */ (by)]] : text.no,
    el("small", null,
      when(() => !given, () => (required ? text.required : text.optional) + " "),
      el("button.textual", { type: "button", onclick: () => record(!given) }, given ? text.withdraw : text.give)),
  ];
}
