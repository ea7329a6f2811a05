/** Numbers: what you write from, how each is, and what to do about it. */
import { computed, el, when } from "../dom.js";
import { APIError, get, post, remove } from "../api.js";
import { count, date } from "../format.js";
import { announce } from "../live.js";
import { button, chip, copyable, heading, section } from "../parts/basics.js";
import { confirmAction } from "../parts/dialog.js";
import { toast, toastError } from "../parts/notices.js";
import { figure, sparkline } from "../parts/plot.js";
import { empty, loaded, pace, resource } from "../parts/states.js";
import { fact, table } from "../parts/table.js";
import { link, navigate, onQuery } from "../router.js";
import { isAdmin, root } from "../session.js";
import { connectDialog, registerDialog } from "./numbers/forms.js";
import { failureTable } from "./numbers/failures.js";
import { hoursSection } from "./numbers/hours.js";
import { optOutSection } from "./numbers/opt_out.js";
import { numbers as text, states } from "texts/numbers.js";

/** @type {Record<string, "good" | "warn" | "bad" | "calm" | "quiet">} */
const tones = { connected: "good", degraded: "warn", onboarding: "calm", disconnected: "quiet", restricted: "bad" };

/**
 * stateOf is the tone of a number's state, the state in words, and what to do next.
 * @param {any} one
 * @returns {[tone: typeof tones[string], word: string, next: string]}
 */
export function stateOf(one) {
  const state = one.restricted && one.status === "connected" ? "restricted" : one.status in tones ? one.status : "degraded";
  const { word, next } = states[/** @type {"connected"} */ (state)];
  return [tones[state], word, next];
}

/** nameOf is what a number is called. @param {any} one */
export const nameOf = (one) => one.name ?? one.phone_number ?? one.phone_number_id ?? one.id;

/** @param {any} one */
const stateChip = (one) => chip(stateOf(one)[1], stateOf(one)[0]);

/** readNumbers reads all numbers, in any state. @param {AbortSignal} signal */
export const readNumbers = (signal) => get("v1/accounts", { signal, query: { status: "all" } });

/** @type {import("../router.js").Build} */
export default function numbers({ params }) {
  return params.id ? onePage(params.id) : allNumbers();
}

function allNumbers() {
  const all = resource(readNumbers, ["account"]);
  const make = async () => {
    if (!(await connectDialog(null))) return;
    announce("account");
  };
  if (isAdmin) onQuery("new", make);

  const action = () => isAdmin && button(text.newOne, { icon: "plus", look: "primary", run: make });
  const body = el("div.page", null,
    heading(text.title, { lead: text.lead, actions: when(() => all.data()?.length, action) }),
    loaded(all, (rows) => when(
      () => rows().length > 0,
      () => numberTable(rows),
      () => empty({ icon: "numbers", title: text.none, body: isAdmin ? text.noneBody : text.noneAgent, action: action() }),
    )));
  return { title: text.title, body };
}

/** @param {() => any[]} rows */
function numberTable(rows) {
  return table({
    caption: text.title,
    rows: () => rows().map((one) => ({ ...one, called: nameOf(one), word: stateOf(one)[1] })),
    columns: text.columns,
    sorts: { 0: "called", 2: "word", 3: "created_at" },
    cells: [
      (one) => (one().phone_number_id
        ? el("a", { href: link("numbers/" + one().phone_number_id), dir: "auto" }, () => one().called)
        : el("span", { dir: "auto" }, () => one().called)),
      (one) => el("span", null, () => one().phone_number ?? ""),
      (one) => () => stateChip(one()),
      (one) => date(one().created_at),
    ],
  });
}

/** @param {string} id */
function onePage(id) {
  const one = resource(async (signal) => {
    const found = (await readNumbers(signal)).find((/** @type {any} */ each) => each.phone_number_id === id || each.id === id);
    if (!found) throw new APIError("", { status: 404 });
    if (found.phone_number_id && found.phone_number_id !== id) navigate("numbers/" + found.phone_number_id, { replace: true });
    return found;
  }, ["account"]);
  const body = el("div.page", null, loaded(one, () => numberPage(one), 4, "h1"));
  return { title: () => (one.data() ? nameOf(one.data()) : text.number), body };
}

/** @param {import("../parts/states.js").Resource<any>} one */
function numberPage(one) {
  const data = computed(() => one.data());
  const id = data().phone_number_id;
  const quality = resource(id + "/quality", ["account", "conversation"], pace);
  const again = () => announce("account", id);
  const check = async () => {
    try {
      one.set(await post(id + "/check"));
      toast(text.checked);
    } catch (error) {
      toastError(error);
    }
    again();
  };
  const disconnect = () => confirmAction({
    title: text.disconnectTitle(nameOf(data())),
    body: text.disconnectBody,
    action: text.disconnect,
    send: async () => one.set(await post(id + "/disconnect")),
    done: text.disconnected,
    finish: again,
  });
  const drop = () => confirmAction({
    title: text.deleteTitle(nameOf(data())),
    body: text.deleteBody,
    action: text.delete,
    word: id,
    send: () => remove(id),
    done: text.deleted,
    finish() {
      navigate("numbers");
      announce("account");
    },
  });
  const is = (/** @type {string[]} */ ...all) => () => all.includes(data().status);
  const ask = (/** @type {(one: any) => Promise<any>} */ open) => async () => (await open(data())) && again();

  return [
    heading(() => nameOf(data()), {
      crumb: el("a", { href: link("numbers") }, text.title),
      beside: [() => stateChip(data()), copyable(id, { name: text.id })],
      lead: () => stateOf(data())[2],
      actions: isAdmin && [
        when(is("onboarding", "degraded"), () => button(text.register, { look: "primary", run: ask(registerDialog) })),
        when(is("degraded"), () => button(text.again, { run: ask(connectDialog) })),
        when(is("disconnected"), () => button(text.again, { look: "primary", run: ask(connectDialog) })),
        button(text.check, { run: check }),
        when(is("connected", "degraded", "onboarding"), () => button(text.disconnect, { look: "destructive", run: disconnect })),
        when(is("disconnected"), () => button(text.delete, { look: "destructive", run: drop })),
      ],
    }),
    () => data().status_reason && el("p.notice", { dir: "auto" }, data().cooldown_until ? text.limited : data().status_reason),
    el("section.section.first", null, el("h2", null, text.quality), loaded(quality, (shown) => () => figures(shown().hours), 1)),
    () => quality.data()?.failures.length > 0 && section(text.failures, {}, failureTable(() => quality.data().failures)),
    hoursSection(id),
    isAdmin && optOutSection(id),
    isAdmin && section(text.webhook, { lead: text.webhookLead },
      el("div.form", null, copyable(new URL("../provider/webhook", root).href, { name: text.webhookName, block: true }))),
    section(text.details, {}, () => details(data())),
  ];
}

/** @param {any[]} hours */
function figures(hours) {
  const tones = { sent: "calm", delivered: "good", read: "good", failed: "bad", received: "calm" };
  return el("div.cards", null, Object.entries(text.figures).map(([key, name]) => {
    const values = hours.map((hour) => hour[key]);
    const total = values.reduce((sum, value) => sum + value, 0);
    return figure(name, count(total), sparkline(values, tones[/** @type {keyof typeof tones} */ (key)]));
  }));
}

/** @param {any} one */
function details(one) {
  return el("dl.headers", null,
    fact(text.rows.phone, one.phone_number),
    fact(text.rows.waba, one.waba_id),
    fact(text.rows.provider, one.provider_status),
    fact(text.rows.made, date(one.created_at)),
    fact(text.rows.customer, one.customer_id && el("a", { href: link("customers/" + one.customer_id) }, one.customer_id)));
}
