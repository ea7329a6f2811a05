/** A rule: a sentence to fill in, a try on what was received, and what it did. */
import { el, signal } from "../../dom.js";
import { APIError, get, newKey, patch, post, remove } from "../../api.js";
import { listOf, time } from "../../format.js";
import { button, heading, section } from "../../parts/basics.js";
import { confirmAction } from "../../parts/dialog.js";
import { fieldRow, switchRow } from "../../parts/form.js";
import { everyRow, paged, pagedList } from "../../parts/lists.js";
import { toast } from "../../parts/notices.js";
import { loaded, problem, resource, wrongText } from "../../parts/states.js";
import { table } from "../../parts/table.js";
import { link, navigate } from "../../router.js";
import { numbers, presentTime } from "../../session.js";
import { actionLines, conditionLines } from "./lines.js";
import { outcomeOf, readNamed, spanOf, unitMinutes } from "./words.js";
import { editor as text } from "texts/rules.js";

const fresh = { on: "message_received", if: {}, then: [{ reply: { text: "" } }], once_per: "spell", enabled: true };
const week = 7 * 24 * 60 * 60 * 1000;

/**
 * ruleEditor is the page of a rule, or of a new one.
 * @param {string} id
 * @returns {import("../../router.js").Screen}
 */
export function ruleEditor(id) {
  const isNew = id === "new";
  const all = resource(async (signal) => {
    const [rule, known, keys] = await Promise.all([
      isNew ? fresh : get("v1/rules/" + id, { signal }),
      readNamed(signal),
      everyRow("keys", {}, 1000, signal),
    ]);
    const bots = keys.filter((one) => one.agent && !one.revoked_at).map((one) => one.agent);
    return { rule, known: { ...known, bots: [...new Set(bots)] } };
  });
  const title = () => (isNew ? text.newOne : all.data()?.rule.name ?? "");
  const body = el("div.page", null, loaded(all, (data) => page(data().rule, data().known), 4, "h1"));
  return { title, body };
}

/**
 * @param {any} rule
 * @param {import("./lines.js").Known} known
 */
function page(rule, known) {
  const drop = () => confirmAction({
    title: text.deleteTitle(rule.name),
    body: text.deleteBody,
    action: text.delete,
    send: () => remove("v1/rules/" + rule.id),
    done: text.deleted,
    finish: () => navigate("rules"),
  });
  return [
    heading(rule.name ?? text.newOne, {
      crumb: el("a", { href: link("rules") }, text.rules),
      actions: rule.id && button(text.delete, { look: "destructive", run: drop }),
    }),
    ruleForm(rule, known),
    rule.id && firings(rule.id),
  ];
}

/**
 * ruleForm is the sentence, with what saves it and what tries it.
 * @param {any} rule
 * @param {import("./lines.js").Known} known
 */
function ruleForm(rule, known) {
  const wrong = signal({ at: /** @type {number | string} */ (""), message: "" });
  const failure = signal(/** @type {unknown} */ (null));
  const busy = signal("");
  const once = { idempotencyKey: newKey() };
  const enabled = signal(rule.enabled);
  const stop = signal(Boolean(rule.stop));
  const wrongAt = (/** @type {number | string} */ at) => (wrong().at === at ? wrong().message : "");
  const event = eventLine(rule);
  const conditions = conditionLines(rule.if, known, wrongAt);
  const actions = actionLines(rule.then, known, wrongAt);
  const often = el("select", { "aria-label": text.often, value: rule.once_per },
    Object.entries(text.oncePer).map(([value, name]) => el("option", { value }, name)));

  const read = () => ({
    name: node.elements.namedItem("name").value.trim() || undefined,
    enabled: enabled(),
    ...event.read(conditions.read()),
    then: actions.read(),
    once_per: often.value,
    stop: stop(),
  });

  /** refuse says what is wrong at the line that it is about. @param {any} error */
  const refuse = (error) => {
    if (!(error instanceof APIError)) reportError(error);
    const param = error.param?.replace(/^rule\./, "") ?? "";
    const at = param === "name" ? "name" : param.startsWith("if.idle") ? "idle" : conditions.at(param) || actions.at(param);
    if (!at) return failure.set(error);
    wrong.set({ at, message: wrongText(error) });
  };
  const run = async (/** @type {string} */ what, /** @type {() => Promise<void>} */ act) => {
    if (busy()) return;
    busy.set(what);
    failure.set(null);
    wrong.set({ at: "", message: "" });
    await act().catch(refuse);
    busy.set("");
  };
  const save = () => run("save", async () => {
    await (rule.id ? patch("v1/rules/" + rule.id, read()) : post("v1/rules", read(), once));
    toast(text.saved);
    navigate("rules");
  });

  const node = el("form.form.rule-form", { novalidate: true, onsubmit: save },
    fieldRow({
      name: "name", label: text.name, required: true, value: rule.name, props: { maxlength: 100, autocomplete: "off", dir: "auto" },
    }, "rule-name", () => wrongAt("name")),
    el("div.rule-sentence", null, event.body, () => wrongAt("idle") && el("p.wrong", { role: "alert" }, wrongAt("idle")),
      conditions.body, actions.body, el("div.sentence", null, el("span", null, text.does), often)),
    el("div", null,
      switchRow(text.stop, stop, stop.set),
      switchRow(text.on, enabled, enabled.set)),
    () => failure() !== null && problem(failure()),
    el("div.form-end", null,
      button(() => (busy() === "save" ? text.saving : text.save), { look: "primary", type: "submit", "aria-disabled": () => busy() !== "" })));
  return [node, tries((send) => run("try", async () => send(read())), () => busy() === "try")];
}

/** eventLine is when a rule runs. @param {any} rule */
function eventLine(rule) {
  const on = signal(rule.on);
  const before = spanOf(rule.if.idle_minutes ?? 14 * unitMinutes.days);
  const length = el("input.rule-length", { type: "number", min: 1, "aria-label": text.length, value: before.count });
  const unit = el("select", { "aria-label": text.unit, value: before.unit },
    Object.entries(text.units).map(([value, name]) => el("option", { value }, name)));
  const body = el("div.sentence", null,
    el("span", null, text.when),
    el("select", { "aria-label": text.when, value: rule.on, onchange: (/** @type {any} */ { target }) => on.set(target.value) },
      Object.entries(text.events).map(([value, name]) => el("option", { value }, name))),
    el("span.sentence", { hidden: () => on() !== "conversation_idle" }, el("span", null, text.quietFor), length, unit));
  const minutes = () => Math.round(Number(length.value) * unitMinutes[/** @type {"days"} */ (unit.value)]);
  const read = (/** @type {any} */ wanted) => ({ on: on(), if: on() === "conversation_idle" ? { ...wanted, idle_minutes: minutes() } : wanted });
  return { body, read };
}

/**
 * tries shows what a rule would have matched.
 * @param {(send: (rule: any) => Promise<void>) => void} run
 * @param {() => boolean} busy
 */
function tries(run, busy) {
  const found = signal(/** @type {any} */ (null));
  const send = async (/** @type {any} */ rule) => {
    found.set(null);
    const since = new Date(presentTime() - week).toISOString();
    const got = await post("v1/rules/dry_run", { rule: { ...rule, name: rule.name || text.newOne }, since });
    found.set({ ...got, texts: await textsOf(got.examples.map((/** @type {any} */ one) => one.message_id)) });
  };
  return section(text.tries, { lead: text.triesLead },
    el("div.line", null, button(() => (busy() ? text.trying : text.try), { "aria-disabled": busy, run: () => run(send) })),
    el("div.rule-matches", { role: "region", "aria-label": text.matches, "aria-live": "polite" }, () => found() && matches(found())));
}

/** textsOf reads what messages say, whose number is not known. @param {string[]} ids */
async function textsOf(ids) {
  const read = (/** @type {any} */ one) => get(one.phone_number_id + "/search_hits", { query: { ids: ids.join(",") } });
  const hits = ids.length > 0 ? (await Promise.all(numbers().map(read))).flat() : [];
  return new Map(hits.map((one) => [one.id, one.text]));
}

/** @param {any} found */
function matches({ examined, matched, examples, truncated, texts }) {
  return [
    el("p", null, el("b", null, text.matched(matched, examined))),
    truncated && el("p.hint", null, text.truncated),
    el("ul.problems", null, examples.map((/** @type {any} */ one) => el("li", null,
      el("a", { href: link(`inbox/${one.conversation_id}?message=${one.message_id}`), dir: "auto" }, texts.get(one.message_id) || text.noText),
      el("a.guide", { href: link("trace/" + one.message_id) }, text.trace)))),
  ];
}

/** firings lists what a rule did. @param {string} id */
function firings(id) {
  const all = paged(`v1/rules/${id}/firings`, { key: (row) => row.message_id + row.created_at });
  return section(text.firings, { lead: text.firingsLead }, pagedList(all, (rows) => table({
    caption: text.firings,
    rows,
    key: (row) => row.message_id + row.created_at,
    columns: text.columns,
    kinds: { 2: "end" },
    cells: [
      (one) => el("a", { href: link("trace/" + one().message_id) }, time(one().created_at)),
      (one) => listOf(one().actions.map(outcomeOf)),
      (one) => el("a.button", { href: link("inbox/" + one().conversation_id) }, text.open),
    ],
  }), () => ({ icon: "rules", title: text.none, body: text.noneBody, level: "h3" })));
}
