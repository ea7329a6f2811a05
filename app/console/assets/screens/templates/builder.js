/** Making and editing a template: errors are shown while one writes, beside what the phone will show. */
import { el, list, signal, untracked, when } from "../../dom.js";
import { newKey, patch, post } from "../../api.js";
import { locale } from "../../format.js";
import { announce } from "../../live.js";
import { button, heading } from "../../parts/basics.js";
import { fieldRow, options } from "../../parts/form.js";
import { menu } from "../../parts/menu.js";
import { problem } from "../../parts/states.js";
import { withUpload } from "../../parts/header_file.js";
import { isCode, kindOf, mediaNames, templatePreview, variablesOf } from "../../parts/template_preview.js";
import { toast } from "../../parts/notices.js";
import { link, navigate } from "../../router.js";
import { number } from "../../session.js";
import { componentsOf, isFile, isNamed, newButton, newCard, newDraft, problemsOf } from "./draft.js";
import { builder as text } from "texts/templates.js";

/** The fields of a draft, by their names. @type {Record<string, any>} */
const fields = {
  name: { ...text.name, props: { maxlength: 512, spellcheck: "false", dir: "ltr" } },
  language: { label: text.language, type: "select" },
  category: { label: text.category, type: "radios", options: options(text.categories) },
  format: { label: text.header, type: "select", silent: true },
  header: { label: text.headerText },
  url: { ...text.url, type: "url" },
  body: { ...text.body, type: "textarea", props: { rows: 6 } },
  footer: { label: text.footer, optional: true },
  minutes: { label: text.minutes, type: "number", props: { min: 1, max: 90 } },
};

/** The fields of buttons, by their kinds and names. @type {Record<string, any>} */
const buttonParts = {
  QUICK_REPLY: { text: { label: text.buttonText, props: { maxlength: 25 } } },
  URL: {
    text: { label: text.buttonText, props: { maxlength: 25 } },
    url: { label: text.link, type: "url" },
    example: { label: text.linkExample },
  },
  PHONE_NUMBER: { text: { label: text.buttonText, props: { maxlength: 25 } }, phone_number: { label: text.phone, type: "tel" } },
  COPY_CODE: { example: { label: text.codeExample, props: { maxlength: 20 } } },
};

/** The fields of cards, by their names. @type {Record<string, any>} */
const cardParts = {
  format: { label: text.header, type: "select", silent: true },
  url: { label: text.url.label, type: "url", silent: true },
  text: { label: text.cardText, silent: true, optional: true, props: { maxlength: 160 } },
};

/** What a header can be that has no file. */
const plainFormats = [{ value: "", label: text.formats.none }, { value: "TEXT", label: text.formats.text }];

const languages = [
  "af ar az bg bn ca cs da de el en en_GB en_US es es_AR es_ES es_MX et fa fi fil fr ga gu ha he hi hr hu id it ja ka kk kn ko ky_KG lo",
  "lt lv mk ml mr ms nb nl pa pl pt_BR pt_PT ro ru rw_RW sk sl sq sr sv sw ta te th tr uk ur uz vi zh_CN zh_HK zh_TW zu",
];
const names = new Intl.DisplayNames(locale, { type: "language" });

/** @param {string} code */
const languageName = (code) => ({ value: code, label: `${names.of(code.replace("_", "-"))} (${code})` });

/**
 * builder is the page of a new template, or of one that is edited.
 * @param {any} [template]
 */
export function builder(template) {
  const draft = newDraft(template);
  const version = signal(0);
  const touched = new Set();
  const refused = signal(/** @type {Record<string, string>} */ ({}));
  const failure = signal(/** @type {unknown} */ (null));
  const busy = signal(false);
  const pressed = signal(false);
  const idempotencyKey = newKey();

  /** @param {string} [key] of what was changed */
  const changed = (key = "") => {
    touched.add(key);
    refused.set({});
    version.update((n) => n + 1);
  };
  const wrong = (/** @type {string} */ key) => () => {
    version();
    const words = refused()[key] ?? problemsOf(draft)[key];
    return words && (pressed() || touched.has(key) || refused()[key]) ? words : "";
  };
  /** @param {string} key @param {any} holder @param {string} property @param {any} field */
  const row = (key, holder, property, field) => fieldRow({
    name: key,
    value: holder[property],
    ...field,
    props: {
      dir: "auto",
      autocomplete: "off",
      oninput: (/** @type {any} */ event) => {
        holder[property] = event.target.value;
        changed(field.of ?? key);
      },
      ...field.props,
    },
  }, "template-" + key, field.silent ? () => "" : wrong(key));
  const field = (/** @type {string} */ key, more = {}) => row(key, draft, key, { ...fields[key], ...more });
  const is = (/** @type {() => unknown} */ test) => () => (version(), test());
  const own = { draft, row, field, is, wrong, changed };

  async function submit() {
    if (busy()) return;
    pressed.set(true);
    changed();
    if (Object.keys(problemsOf(draft)).length > 0) return focusFirst();
    busy.set(true);
    failure.set(null);
    try {
      const saved = await send(draft, template, idempotencyKey);
      announce("template");
      toast(text.submitted);
      navigate("templates/" + saved.id, { replace: true });
    } catch (/** @type {any} */ error) {
      busy.set(false);
      const key = fieldOf(error.param, componentsOf(draft));
      if (key) refused.set({ [key]: error.message });
      else failure.set(error);
    }
  }

  const isText = is(() => !isCode(draft));
  const body = el("form.form.builder", { novalidate: true, onsubmit: submit },
    !template && [
      field("name"),
      field("language", { options: languages.join(" ").split(" ").map(languageName) }),
    ],
    field("category"),
    when(isText, () => texts(own), () => codes(own)),
    () => failure() && problem(failure()),
    when(() => pressed() && is(() => Object.keys(problemsOf(draft)).length > 0)(), () => el("p.wrong", { role: "alert" }, text.more)),
    el("p.hint", null, text.saveHint),
    el("div.form-end", null,
      el("a.button", { href: link("templates/" + (template?.id ?? "")) }, text.cancel),
      el("button.button.primary", { "aria-disabled": () => busy() }, () => (busy() ? text.busy : text.submit))));

  return [
    heading(template ? text.edit(template.name) : text.title, {
      crumb: el("a", { href: link("templates") }, text.templates),
      lead: template && text.editLead,
    }),
    el("div.split", null, body, el("div.beside", null,
      templatePreview(() => (version(), { category: draft.category, components: untracked(() => componentsOf(draft)) })))),
  ];
}

/** focusFirst goes to the first field that needs a look, once it says so. */
const focusFirst = () => queueMicrotask(() => {
  const first = document.querySelector(".builder [aria-invalid=true]");
  if (first instanceof HTMLElement) first.focus();
});

/**
 * @param {import("./draft.js").Draft} draft
 * @param {any} template
 * @param {string} idempotencyKey
 */
async function send(draft, template, idempotencyKey) {
  const components = componentsOf(draft);
  const of = template?.chat_account.phone_number_id ?? number()?.phone_number_id;
  if (template) {
    const changes = { components, category: draft.category === template.category ? undefined : draft.category };
    return patch(`v1/${of}/templates/${template.name}`, changes, { query: { language: template.language } });
  }
  const { name, language, category } = draft;
  const body = { name, language, category, components, parameter_format: isNamed(draft) ? "NAMED" : "POSITIONAL" };
  return post(`v1/${of}/templates`, body, { idempotencyKey });
}

/**
 * fieldOf is the field that the API complains of; "" for none.
 * @param {string | null | undefined} param
 * @param {any[]} components
 */
function fieldOf(param, components) {
  const found = param?.match(/^components\[(\d+)\](?:.*?(?:buttons|cards)\[(\d+)\])?/);
  if (!found) return ["name", "language", "category"].find((one) => one === param) ?? "";
  const part = components[Number(found[1])];
  const at = found[2] ?? "";
  const file = isFile(part?.format) ? "url" : "header";
  return { HEADER: file, BODY: "body", FOOTER: "footer", BUTTONS: "button" + at, CAROUSEL: at ? "card" + at : "cards" }[kindOf(part)] ?? "";
}

/** @param {any} own */
function codes({ draft, field, changed }) {
  return [
    el("label.choice", null,
      el("input", { type: "checkbox", checked: draft.warns, onchange: (/** @type {any} */ event) => {
        draft.warns = event.target.checked;
        changed();
      } }),
      el("span", null, text.warns)),
    field("minutes"),
  ];
}

/** @param {any} own */
function texts(own) {
  const { draft, field, is, changed } = own;
  const formats = [...plainFormats,
    ...Object.entries(mediaNames).filter(([value]) => value !== "PRODUCT").map(([value, label]) => ({ value, label }))];
  const plain = is(() => draft.cards.length === 0);
  return [
    when(plain, () => [
      field("format", { options: formats }),
      when(is(() => draft.format === "TEXT"), () => field("header")),
      when(is(() => isFile(draft.format)), () => withUpload(number()?.phone_number_id ?? "", field("url"), (url) => {
        draft.url = url;
        changed("url");
      })),
    ]),
    bodyField(own),
    exampleFields(own),
    when(plain, () => field("footer")),
    buttonFields(own, draft, "button", text.buttons),
    when(is(() => draft.category === "MARKETING"), () => cardFields(own)),
  ];
}

/** @param {any} own */
function bodyField({ draft, field, changed, is }) {
  /** @type {HTMLElement} */
  const shown = field("body");
  const add = () => {
    const area = shown.querySelector("textarea");
    if (!area) return;
    const used = variablesOf(draft.body);
    area.setRangeText(isNamed(draft) ? `{{name_${used.length + 1}}}` : `{{${used.length + 1}}}`, area.selectionStart, area.selectionEnd, "end");
    draft.body = area.value;
    changed("body");
    area.focus();
  };
  return el("div", null, shown, el("div.below", null,
    button(text.addVariable, { icon: "plus", run: add }),
    el("span.quiet", null, is(() => text.left([...draft.body].length, 1024))),
  ));
}

/** @param {any} own */
function exampleFields({ draft, row, is }) {
  const rows = is(() => ["header", "body"].filter((key) => key === "body" || draft.format === "TEXT").flatMap((key) =>
    variablesOf(draft[key]).slice(0, 50).map((name) => ({ key, name }))));
  return when(() => rows().length > 0, () => el("fieldset.group", null,
    el("legend.label", null, text.examples), el("p.hint", null, text.examplesLead),
    list(rows, (one) => one.key + one.name, (one) => {
      const { key, name } = one();
      return row("sample" + key + name, draft.samples, key + name, { label: text.example(name) });
    })));
}

/**
 * buttonFields edits the buttons of a message, or of a card.
 * @param {any} own
 * @param {{ buttons: import("./draft.js").Button[] }} holder
 * @param {string} key
 * @param {string} title
 * @param {(change: (buttons: import("./draft.js").Button[]) => void) => void} [everywhere] changes the buttons of all cards
 */
function buttonFields({ row, is, changed, wrong }, holder, key, title, everywhere = (change) => change(holder.buttons)) {
  const isCard = key !== "button";
  const parts = (/** @type {any} */ one, /** @type {number} */ i) => {
    const id = isCard ? `${key}-button${i}` : key + i;
    const shown = Object.entries(buttonParts[one.type] ?? buttonParts.QUICK_REPLY).map(([property, part]) => {
      const build = () => row(id + property, one, property, { of: isCard ? key : id, silent: true, ...part });
      return one.type === "URL" && property === "example" ? when(is(() => one.url.includes("{{")), build) : build();
    });
    return el("fieldset.group", null,
      el("legend.label", null, text.buttonKinds[/** @type {"URL"} */ (one.type)] ?? one.type.toLowerCase()),
      shown,
      !isCard && (() => wrong(id)() && el("p.wrong", null, wrong(id)())),
      button(text.remove, { look: "bare", run: () => {
        everywhere((all) => all.splice(i, 1));
        changed();
      } }));
  };
  return el("div.buttons", null,
    el("h2.label", null, title),
    list(is(() => placed(holder.buttons)), keyOf, (at) => parts(at().one, at().i)),
    !isCard && when(is(() => holder.buttons.length < 10), () => adder(text.addButton, (kind) => {
      holder.buttons.push(newButton(kind));
      changed();
    })));
}

/**
 * adder is a button that asks which kind of button is to be added.
 * @param {string} name
 * @param {(kind: string) => void} add
 * @param {string[]} [not] kinds that may not be
 */
function adder(name, add, not = []) {
  const opener = button(name, { icon: "plus" });
  const kinds = Object.entries(text.buttonKinds).filter(([kind]) => !not.includes(kind));
  menu(opener, name, () => kinds.map(([kind, label]) => ({ name: label, run: () => add(kind) })));
  return opener;
}

/** @type {WeakMap<object, number>} */
const keys = new WeakMap();
let last = 0;

/** @param {any[]} all @returns {{ one: any, i: number }[]} */
const placed = (all) => all.map((one, i) => ({ one, i }));

/** keyOf distinguishes things that have no ids, and those that have moved. @param {{ one: any, i: number }} at */
function keyOf({ one, i }) {
  if (!keys.has(one)) keys.set(one, ++last);
  return `${keys.get(one)}-${i}`;
}

/** @param {any} own */
function cardFields(own) {
  const { draft, row, is, changed, wrong } = own;
  const add = () => {
    const card = newCard();
    card.buttons = (draft.cards[0]?.buttons ?? []).map((/** @type {any} */ one) => newButton(one.type));
    draft.cards.push(card);
    changed("cards");
  };
  const options = ["IMAGE", "VIDEO"].map((value) => ({ value, label: mediaNames[/** @type {"IMAGE"} */ (value)] }));
  /** @param {(buttons: any[]) => void} change */
  const everywhere = (change) => draft.cards.forEach((/** @type {any} */ card) => change(card.buttons));
  const parts = (/** @type {any} */ card, /** @type {number} */ i) => {
    const key = "card" + i;
    const shown = Object.entries(cardParts).map(([property, part]) =>
      (i === 0 || property !== "format") && row(`${key}-${property}`, card, property, { of: key, options, ...part }));
    return el("fieldset.group", null,
      el("legend.label", null, text.card(i + 1)),
      shown,
      buttonFields(own, card, key, text.buttons, everywhere),
      () => wrong(key)() && el("p.wrong", null, wrong(key)()),
      button(text.removeCard, { look: "bare", run: () => {
        draft.cards.splice(i, 1);
        changed();
      } }));
  };
  return el("section.buttons", null,
    el("h2.label", null, text.cards), el("p.hint", null, text.cardsLead),
    list(is(() => placed(draft.cards)), keyOf, (at) => parts(at().one, at().i)),
    () => wrong("cards")() && el("p.wrong", null, wrong("cards")()),
    el("div.actions", null,
      when(is(() => draft.cards.length < 10), () => button(text.addCard, { icon: "plus", run: add })),
      when(is(() => draft.cards.length > 0 && draft.cards[0].buttons.length < 2), () => adder(text.addCardButton, (kind) => {
        everywhere((all) => all.push(newButton(kind)));
        changed();
      }, ["COPY_CODE"]))));
}
