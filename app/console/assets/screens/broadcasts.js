/** Broadcasts: one template to many people, and how many of them got and read it. */
import { computed, effect, el, list, onDispose, signal, when } from "../dom.js";
import { addressOf, get, post } from "../api.js";
import { count, locale, money, time } from "../format.js";
import { announce } from "../live.js";
import { button, copyable, heading, section, upper, wordOf } from "../parts/basics.js";
import { confirmAction } from "../parts/dialog.js";
import { filter, follow, ofNumber, paged, pagedList, stateChip } from "../parts/lists.js";
import { loaded, pace, resource } from "../parts/states.js";
import { fact, table } from "../parts/table.js";
import { templatePreview } from "../parts/template_preview.js";
import { toastError } from "../parts/notices.js";
import { link, navigate, query } from "../router.js";
import { number, numbers } from "../session.js";
import { people, reasonOf } from "./broadcasts/forecast.js";
import { newBroadcast } from "./broadcasts/new.js";
import { broadcasts as text } from "texts/broadcasts.js";

const [statuses, states] = [
  ["preparing", "scheduled", "running", "paused", "completed", "cancelled"],
  ["waiting", "sent", "delivered", "read", "failed", "skipped"],
].map((all) => all.map((value) => ({ value, label: wordOf(value) })));

/** done counts those who were dealt with; of a cancelled one, only whom it was sent to. @param {any} broadcast */
const done = ({ status, counts: { total, waiting, skipped } }) => total - waiting - (status === "cancelled" ? skipped : 0);

/** @type {import("../router.js").Build} */
export default function broadcasts({ params }) {
  if (params.id === "new") return newBroadcast();
  return {
    title: params.id ? () => shownName() || text.title : text.title,
    body: el("div.page", null, params.id ? ofNumber(() => oneBroadcast(params.id)) : allBroadcasts()),
  };
}

const shownName = signal("");

function allBroadcasts() {
  const newOne = button(text.newOne, { icon: "plus", look: "primary", run: () => navigate("broadcasts/new") });
  const filters = () => ({ status: query().get("status") });
  return [
    heading(text.title, { lead: text.lead, actions: newOne }),
    ofNumber((of) => {
      const all = paged(`v1/${of}/broadcasts`, { filters, kinds: ["broadcast"] });
      return [
        when(() => all.data()?.length || filters().status, () => el("div.filters", null, filter(text.status, "status", () => statuses))),
        pagedList(all, broadcastTable, () => (filters().status
          ? text.none
          : { icon: "broadcasts", title: text.emptyTitle, body: text.emptyBody })),
      ];
    }),
  ];
}

/** @param {() => any[]} rows */
function broadcastTable(rows) {
  return table({
    caption: text.title,
    rows,
    columns: text.columns,
    cells: [
      (one) => el("a", { href: link("broadcasts/" + one().id), dir: "auto" }, () => one().name),
      (one) => () => stateChip(one().status),
      bar,
      (one) => one().template.name,
      (one) => () => time(one().completed_at ?? one().started_at ?? one().scheduled_at ?? one().created_at),
    ],
  });
}

/** @param {() => any} one */
const bar = (one) => el("span.progress", null,
  el("progress", { "aria-label": text.progress, max: () => one().counts.total || 1, value: () => done(one()) }),
  el("small", null, () => text.of(done(one()), one().counts.total)));

/**
 * find reads a broadcast, of the number that is looked at or of another.
 * @param {string} id
 * @param {AbortSignal} signal
 */
async function find(id, signal) {
  let missing;
  for (const of of [number(), ...numbers.peek().slice(0, 50)]) {
    try {
      return await get(`v1/${of?.phone_number_id}/broadcasts/${id}`, { signal });
    } catch (/** @type {any} */ error) {
      if (error.status !== 404) throw error;
      missing = error;
    }
  }
  throw missing;
}

/** @param {string} id */
function oneBroadcast(id) {
  const one = resource((signal) => find(id, signal), ["broadcast"]);
  effect(() => shownName.set(one.data()?.name ?? ""));
  const active = () => ["preparing", "running"].includes(one.data()?.status);
  const timer = setInterval(() => active() && !document.hidden && one.reload(), 1000);
  onDispose(() => clearInterval(timer));
  return loaded(one, (data) => broadcastPage(one, `v1/${data().phone_number_id}/broadcasts/${id}`), 4, "h1");
}

/**
 * @param {import("../parts/states.js").Resource<any>} one
 * @param {string} path
 */
function broadcastPage(one, path) {
  const data = computed(() => one.data());
  const move = async (/** @type {string} */ what) => {
    one.set(await post(`${path}/${what}`, {}));
    announce("broadcast");
  };
  const status = computed(() => data().status);
  const may = (/** @type {string} */ what, /** @type {string[]} */ from) =>
    when(() => from.includes(status()), () => button(text.moves[/** @type {"pause"} */ (what)], { run: () => move(what).catch(toastError) }));
  const cancel = () => confirmAction({
    title: text.cancelTitle(data().name),
    body: text.cancelBody(data().counts.waiting),
    action: text.cancelAction,
    send: () => move("cancel"),
  });
  return [
    heading(() => data().name, {
      crumb: el("a", { href: link("broadcasts") }, text.title),
      beside: [() => stateChip(status()), copyable(data().id, { name: text.id })],
      actions: [
        may("pause", ["preparing", "scheduled", "running"]),
        may("resume", ["paused"]),
        when(() => !["completed", "cancelled"].includes(status()), () => button(text.cancel, { look: "destructive", run: cancel })),
      ],
    }),
    () => pausedNotice(data()),
    el("div.running", null, bar(data), el("p.quiet", null, () => times(data()), speed(data))),
    funnel(() => data().counts),
    results(path.replace("v1/", "") + "/results", data),
    recipients(path, () => data().counts),
    section(text.message, {}, preview(data().phone_number_id, data().template)),
  ];
}

/** @param {any} one */
function pausedNotice({ status, paused_reason: code }) {
  return status === "paused" && el("p.notice", null, text.paused[/** @type {"requested"} */ (code)] ?? text.stopped(code.replaceAll("_", " ")));
}

/** @param {any} one */
function times({ scheduled_at: at, started_at: from, completed_at: until }) {
  if (until) return [text.ended, time(until)];
  return from ? [text.started, time(from)] : at ? [text.starts, time(at)] : "";
}

/**
 * speed shows how fast it goes and how long it still takes, as seen from here.
 * @param {() => any} data
 */
function speed(data) {
  /** @type {{ at: number, done: number }[]} */
  let seen = [];
  return () => {
    const { status, counts } = data();
    if (status !== "running") {
      seen = [];
      return "";
    }
    seen = [...seen.slice(-20), { at: Date.now(), done: done(data()) }];
    const first = seen[0];
    const last = seen[seen.length - 1];
    const rate = (1000 * (last.done - first.done)) / (last.at - first.at || 1);
    return rate > 0 ? ` · ${text.rate(Math.round(rate * 10) / 10)} · ${text.left(duration(counts.waiting / rate))}` : "";
  };
}

/** @param {number} seconds */
function duration(seconds) {
  const [unit, size] = seconds < 90 ? ["second", 1] : seconds < 5400 ? ["minute", 60] : ["hour", 3600];
  const words = new Intl.NumberFormat(locale, { style: "unit", unit: String(unit), unitDisplay: "long" });
  return words.format(Math.max(1, Math.round(seconds / Number(size))));
}

/** @param {() => any} counts */
function funnel(counts) {
  const reached = { sent: ["sent", "delivered", "read"], delivered: ["delivered", "read"] };
  const value = (/** @type {string} */ name) =>
    (reached[/** @type {"sent"} */ (name)] ?? [name]).reduce((sum, one) => sum + counts()[one], 0);
  const row = (/** @type {string} */ name) => el("div", null,
    el("dt", null, text.counts[/** @type {"sent"} */ (name)]),
    el("dd", null, () => count(value(name))),
    el("meter", { class: name, "aria-hidden": "true", max: () => counts().total || 1, value: () => value(name) }));
  return section(text.funnel, {}, el("dl.funnel", null, Object.keys(text.counts).map(row)));
}

/**
 * results shows who replied, what they tapped, and why others did not get it.
 * @param {string} path
 * @param {() => any} data
 */
function results(path, data) {
  const found = resource((signal) => get(path, { signal }), ["conversation"], pace);
  follow(() => data().counts, found.reload);
  const lost = (/** @type {"failed" | "skipped"} */ kind, /** @type {(one: any) => string} */ words) =>
    when(() => data().counts[kind] > 0 && found.data()?.[kind].length > 0, () => section(text[kind], {}, table({
      caption: text[kind],
      rows: () => found.data()[kind],
      key: (one) => `${one.reason} ${one.code}`,
      columns: text.reasonColumns,
      kinds: { 1: "number" },
      sorts: { 1: "count" },
      cells: [(one) => () => words(one()), (one) => () => count(one().count)],
    })));
  return [
    when(() => data().started_at, () => section(text.replies, { lead: text.repliesLead }, loaded(found, replies, 1))),
    when(() => found.data()?.cost.messages > 0, () => section(text.cost, {}, el("p", null, () => cost(found.data().cost)))),
    lost("failed", ({ reason, code, meaning }) => {
      const words = meaning || upper(reasonOf(reason));
      return code ? text.failure(words, code) : words;
    }),
    lost("skipped", ({ reason }) => upper(reasonOf(reason))),
  ];
}

/** @param {() => any} found */
const replies = (found) => el("dl.replies", null,
  fact(text.replied, () => people(found().replied)),
  list(() => found().taps, (one) => one.button, (one) => el("div", null,
    el("dt", { dir: "auto" }, text.tapped(one().button)), el("dd", null, () => count(one().count)))));

/** @param {{ billable: number, estimate: any }} one */
const cost = ({ billable, estimate }) => (estimate ? text.estimated(text.billable(billable), money(estimate)) : text.billable(billable));

/** @param {any} one */
const reason = ({ skipped_reason: skipped, error }) => upper(reasonOf(skipped ?? error?.code ?? error ?? ""));

/**
 * @param {string} path
 * @param {() => any} counts they are read again when these have changed
 */
function recipients(path, counts) {
  const filters = () => ({ status: query().get("recipients") });
  // They have no ids. Those whose contact was deleted look alike.
  const key = (/** @type {any} */ one) => one.to ?? one.contact_id ?? one.message_id ?? "";
  const all = paged(path + "/recipients", { filters, kinds: ["broadcast"], key });
  follow(counts, all.reload);
  const save = () => el("a", { href: addressOf(path + "/recipients.csv"), download: "recipients.csv" }).click();
  return section(text.recipients, { actions: button(text.export, { icon: "download", run: save }) },
    el("div.filters", null, filter(text.status, "recipients", () => states)),
    pagedList(all, (rows) => table({
      caption: text.recipients,
      rows: () => rows().map((one, i) => ({ ...one, i })), // several may have no number
      key: (one) => String(one.i),
      columns: text.recipient,
      cells: [
        (one) => () => (one().message_id ? el("a", { href: link("trace/" + one().message_id) }, one().to ?? "—") : one().to ?? "—"),
        (one) => () => stateChip(one().status),
        (one) => el("span", null, () => reason(one())),
      ],
    }), () => text.noRecipients));
}

/**
 * @param {string} of the number
 * @param {{ name: string, language: string, components: any[] }} used
 */
function preview(of, { name, language, components }) {
  const template = resource((signal) => get(`v1/${of}/templates/${name}`, { signal, query: { language } }));
  return loaded(template, (data) => templatePreview(data, components ?? []), 1);
}
