/** The lines of a rule's sentence: what must hold, and what is done. */
import { el, flush, list, signal } from "../../dom.js";
import { button, splitWords } from "../../parts/basics.js";
import { everyRow } from "../../parts/lists.js";
import { menu } from "../../parts/menu.js";
import { loaded, resource } from "../../parts/states.js";
import { templateForm } from "../../parts/template_form.js";
import { number, numbers } from "../../session.js";
import { nameOf } from "../numbers.js";
import { lines as text } from "texts/rules.js";

const mostActions = 5;
let made = 0;

/**
 * @typedef {{ id: number, kind: string, value: any }} Line value is that of the API; a control changes it
 * @typedef {import("./words.js").Named & { bots: string[] }} Known
 */

/** @param {string} kind @param {any} value @returns {Line} */
const line = (kind, value) => ({ id: ++made, kind, value });

/**
 * dropdown is a select. Without a value it begins with the first option, or with one that says that one must be chosen.
 * @param {string} name
 * @param {[string, string][]} options
 * @param {string | undefined} value
 * @param {(value: string) => void} set
 * @param {boolean} [asks]
 */
function dropdown(name, options, value, set, asks) {
  const all = asks && !options.some(([one]) => one === value) ? [["", text.choose], ...options] : options;
  const first = all.some(([one]) => one === value) ? value : all[0]?.[0] ?? "";
  set(first ?? "");
  return el("select", { "aria-label": name, value: first, onchange: (/** @type {any} */ event) => set(event.target.value) },
    all.map(([one, label]) => el("option", { value: one }, label)));
}

/** @param {any[]} rows @param {string} [prefix] @returns {[string, string][]} */
const named = (rows, prefix = "") => rows.map((one) => [one.id, prefix + (one.shortcut ?? one.name)]);

/** @param {string} name @param {Line} row */
const words = (name, row) => el("textarea", {
  "aria-label": name, rows: 3, maxlength: 4096, dir: "auto", oninput: (/** @type {any} */ event) => (row.value = event.target.value),
}, row.value ?? "");

/** @param {Line} row @param {Known} known */
function conditionControl(row, { labels }) {
  const { kind } = row;
  const { name } = text.conditions[/** @type {"text"} */ (kind)];
  const set = (/** @type {any} */ value) => (row.value = value);
  const yes = (/** @type {string} */ value) => set(value === "true");
  switch (kind) {
    case "text":
      row.value = { match: "contains", any: [], ...row.value };
      return [
        dropdown(text.match, Object.entries(text.matches), row.value.match, (match) => (row.value.match = match)),
        el("textarea.rule-words", {
          "aria-label": text.words, rows: 1, placeholder: text.wordsHint, dir: "auto", autocomplete: "off",
          oninput: (/** @type {any} */ { target }) => (row.value.any = splitWords(target.value)),
        }, row.value.any.join(", ")),
      ];
    case "hours":
      return dropdown(name, Object.entries(text.hours), row.value, set);
    case "first_contact":
      return dropdown(name, Object.entries(text.first), String(row.value ?? true), yes);
    case "assigned":
      return dropdown(name, Object.entries(text.assigned), String(row.value ?? false), yes);
    case "holder":
      return dropdown(name, Object.entries(text.holder), row.value, set);
    case "label_id":
      return dropdown(name, named(labels), row.value, set, true);
    default:
      row.value ??= [];
      return el("span.rule-numbers", { role: "group", "aria-label": name }, numbers().map((one) => el("label.choice", null,
        el("input", {
          type: "checkbox",
          checked: row.value.includes(one.phone_number_id),
          onchange: (/** @type {any} */ { target }) => (row.value = target.checked
            ? [...row.value, one.phone_number_id]
            : row.value.filter((/** @type {string} */ id) => id !== one.phone_number_id)),
        }),
        el("span", { dir: "auto" }, nameOf(one)))));
  }
}

/** @param {Line} row @param {Known} known */
function actionControl(row, { labels, people, replies, bots }) {
  const { name } = text.actions[/** @type {"reply"} */ (row.kind)];
  const set = (/** @type {any} */ value) => (row.value = value);
  const team = named(people.filter((one) => one.status !== "disabled"));
  switch (row.kind) {
    case "reply":
    case "note":
      return words(name, row);
    case "quick_reply":
      return dropdown(name, named(replies, "/"), row.value, set, true);
    case "template":
      return templateControl(name, row);
    case "add_label":
    case "remove_label":
      return dropdown(name, named(labels), row.value, set, true);
    case "assign":
      return dropdown(name, team, row.value, set, true);
    case "hand_over": {
      const before = row.value?.to ?? { type: "none" };
      return dropdown(name, [["none", text.nobody], ...team.map(([id, one]) => /** @type {[string, string]} */ (["user " + id, one])),
        ...bots.map((bot) => /** @type {[string, string]} */ (["agent " + bot, text.bot(bot)]))],
      before.id ? `${before.type} ${before.id}` : before.type, (value) => {
        const [type, ...id] = value.split(" ");
        row.value = { to: { type, ...(type !== "none" && { id: id.join(" ") }) } };
      });
    }
    default:
      row.value = true;
      return null;
  }
}

/**
 * templateControl lets a template of the number that is looked at be chosen, and filled in. One that was stored stays as it is
 * until something is written or another is chosen.
 * @param {string} name
 * @param {Line} row
 */
function templateControl(name, row) {
  const of = number()?.phone_number_id;
  const stored = row.value;
  const keyOf = (/** @type {any} */ one) => one && `${one.name} (${one.language?.code ?? one.language})`;
  const all = resource((signal) => (of ? everyRow(`v1/${of}/templates`, {}, 1000, signal) : Promise.resolve([])));
  const chosen = signal(keyOf(stored) ?? "");
  const fields = () => {
    const template = all.data()?.find((one) => keyOf(one) === chosen());
    if (!template) return null;
    const isStored = chosen() === keyOf(stored);
    const form = templateForm(template, undefined, isStored ? stored.components : []);
    const written = { name: template.name, language: template.language, get components() { return form.components(); } };
    row.value = isStored ? stored : written;
    form.body.addEventListener("input", () => (row.value = written));
    return form.body;
  };
  return loaded(all, (rows) => {
    const options = rows().filter((one) => one.status === "approved" || keyOf(one) === keyOf(stored));
    return [
      dropdown(name, options.map((one) => /** @type {[string, string]} */ ([keyOf(one), keyOf(one)])), chosen() || undefined, (value) => chosen.set(value), true),
      fields,
    ];
  }, 1);
}

/**
 * lines is a part of the sentence that has any number of lines, with a button that adds one.
 * @param {object} options
 * @param {Line[]} options.first
 * @param {"conditions" | "actions"} options.of
 * @param {Known} options.known
 * @param {(id: number) => string} options.wrong what the server says of a line
 */
function lines({ first, of, known, wrong }) {
  const all = signal(first);
  const kinds = /** @type {Record<string, { name: string, before: string }>} */ (text[of]);
  const control = of === "conditions" ? conditionControl : actionControl;
  const isFree = (/** @type {string} */ kind) => of === "actions" || !all().some((one) => one.kind === kind);
  const add = button(of === "actions" ? text.addAction : text.addCondition, { icon: "plus", look: "bare" });
  menu(add, of === "actions" ? text.addAction : text.addCondition, () => Object.entries(kinds).filter(([kind]) => isFree(kind))
    .map(([kind, { name }]) => ({ name, run: () => addLine(kind) })));
  const addLine = (/** @type {string} */ kind) => {
    all.set([...all(), line(kind, undefined)]);
    flush();
    const control = body.querySelector(":scope > :nth-last-child(2) :is(input, select, textarea)");
    if (control instanceof HTMLElement) control.focus();
  };
  const removeLine = (/** @type {number} */ id) => {
    all.set(all().filter((one) => one.id !== id));
    flush();
    add.focus();
  };

  const lead = (/** @type {number} */ id) => (of === "actions" && all()[0]?.id === id ? text.then : text.and);
  const body = el("div.rule-lines", null,
    list(all, (one) => one.id, (row) => {
      const { id, kind } = row();
      return el("div", null,
        el("div.sentence", { "data-kind": kind },
          el("span", null, () => lead(id), " ", kinds[kind].before),
          control(row(), known),
          button(text.remove(kinds[kind].name), {
            icon: "close", look: "bare", iconOnly: true, run: () => removeLine(id),
          })),
        () => wrong(id) && el("p.wrong", { role: "alert" }, wrong(id)));
    }),
    el("div", { hidden: () => (of === "actions" ? all().length >= mostActions : !Object.keys(kinds).some(isFree)) }, add));
  return { body, all };
}

/**
 * conditionLines are the conditions of a rule, and what the API calls them.
 * @param {any} wanted
 * @param {Known} known
 * @param {(id: number) => string} wrong
 */
export function conditionLines({ idle_minutes: _, ...wanted }, known, wrong) {
  const { body, all } = lines({ of: "conditions", first: Object.entries(wanted).map(([kind, value]) => line(kind, value)), known, wrong });
  return {
    body,
    read: () => Object.fromEntries(all().map((one) => [one.kind, one.value])),
    at: (/** @type {string} */ param) => all().find((one) => param.startsWith("if." + one.kind))?.id ?? 0,
  };
}

/** The kinds of actions that are replies, and what the API calls them. */
const replyKinds = { reply: "text", quick_reply: "quick_reply_id", template: "template" };

/**
 * actionLines are the actions of a rule, and what the API calls them.
 * @param {any[]} then
 * @param {Known} known
 * @param {(id: number) => string} wrong
 */
export function actionLines(then, known, wrong) {
  const first = then.map((one) => {
    const [kind] = Object.entries(replyKinds).find(([, name]) => one.reply?.[name] != null) ?? Object.keys(one);
    return line(kind, one.reply ? one.reply[replyKinds[/** @type {"reply"} */ (kind)]] : one[kind]);
  });
  const { body, all } = lines({ of: "actions", first, known, wrong });
  const action = (/** @type {Line} */ { kind, value }) => {
    const name = replyKinds[/** @type {"reply"} */ (kind)];
    return name ? { reply: { [name]: value || undefined } } : { [kind]: value || undefined };
  };
  return {
    body,
    read: () => all().map(action),
    at: (/** @type {string} */ param) => all()[Number(param.match(/^then\[(\d+)\]/)?.[1] ?? -1)]?.id ?? 0,
  };
}
