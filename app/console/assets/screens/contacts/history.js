/** What happened with a contact, the newest first, and what it agreed to. */
import { el, list, when } from "../../dom.js";
import { date, listOf, time } from "../../format.js";
import { section } from "../../parts/basics.js";
import { stateChip } from "../../parts/lists.js";
import { loaded } from "../../parts/states.js";
import { fact } from "../../parts/table.js";
import { link } from "../../router.js";
import { isAdmin } from "../../session.js";
import { reasonOf } from "../broadcasts/forecast.js";
import { history as text } from "texts/contacts.js";
import { notes } from "texts/thread.js";

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
function happening({ type, id, name, status, reason, from, to, fields, text: written }) {
  switch (type) {
    case "conversation":
      return el("a", { href: link("inbox/" + id) }, text.conversation);
    case "broadcast":
      return [
        text.broadcast, isAdmin ? el("a", { href: link("broadcasts/" + id) }, name) : el("b", null, name), " ", stateChip(status),
        reason && el("small", null, " " + reasonOf(reason)),
      ];
    case "note":
      return [el("a", { href: link("inbox/" + id) }, name ? notes.by(name) : notes.note), el("small", { dir: "auto" }, " " + written)];
    case "marketing_stopped":
      return text.stopped;
    case "assigned":
      return text.assigned(name);
    case "resolved":
      return text.resolved(name);
    case "identity":
      return from && to && from !== to ? text.number(from, to) : text.identity;
    case "updated":
      return text.updated(listOf((fields ?? []).map((/** @type {string} */ one) => text.fields[/** @type {"name"} */ (one)] ?? one.replaceAll("_", " "))));
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
