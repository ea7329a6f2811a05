/** Templates: one is chosen, its parameters are filled in, and what the person will see is shown meanwhile. */
import { computed, el, list, signal } from "../../dom.js";
import { page } from "../../api.js";
import { button, chip } from "../../parts/basics.js";
import { dialog } from "../../parts/dialog.js";
import { form } from "../../parts/form.js";
import { empty, loaded, resource } from "../../parts/states.js";
import { link } from "../../router.js";
import { attachments } from "./attachments.js";
import { filled } from "./content.js";
import { recipient } from "./conversations.js";
import { send } from "./outbox.js";

const text = {
  choose: "Choose a template",
  search: "Search templates",
  list: "Templates",
  none: "No approved template",
  noneBody: "Templates are made and reviewed before they can be sent.",
  make: "Templates",
  back: "Choose another",
  preview: "Preview",
  send: "Send template",
  header: "Header",
  file: "Choose file",
  needsFile: "Choose the file of the header first.",
  button: (/** @type {string} */ name) => `Link of “${name}”`,
  code: "Code",
  variable: (/** @type {string} */ name) => `{{${name}}}`,
  unsendable: "Cards cannot be filled in here: send this one by the API.",
};

/** @param {any} at */
export function pickTemplate(at) {
  dialog(text.choose, (close) => {
    const chosen = signal(/** @type {any} */ (null));
    const all = resource(async (signal) => {
      const rows = [];
      /** @type {string | null} */
      let cursor = null;
      do {
        /** @type {{ rows: any[], cursor: string | null }} */
        const got = await page(`v1/${at.number}/templates`, { signal, query: { limit: 100, cursor } });
        rows.push(...got.rows);
        cursor = got.cursor;
      } while (cursor && rows.length < 1000);
      return rows;
    }, ["template"]);
    return () => (chosen() ? fillIn(at, chosen(), () => chosen.set(null), close) : loaded(all, (rows) => choice(rows, chosen.set)));
  }, { wide: true, lasting: true });
}

/** @param {() => any[]} rows @param {(one: any) => void} choose */
function choice(rows, choose) {
  const typed = signal("");
  const fits = (/** @type {any} */ one) => `${one.name} ${one.content}`.toLowerCase().includes(typed().toLowerCase());
  const fitting = computed(() => rows().filter(fits).slice(0, 100));
  if (rows().length === 0) return empty({
    icon: "templates",
    title: text.none,
    body: text.noneBody,
    action: el("a.button", { href: link("templates") }, text.make),
  });
  return el("div.form", null,
    el("input",
      {
        type: "search",
        "aria-label": text.search,
        placeholder: text.search,
        autofocus: true,
        oninput: (/** @type {any} */ event) => typed.set(event.target.value),
      },
    ),
    el("ul.template-list", { "aria-label": text.list, role: "list" }, list(fitting, (one) => one.id, (one) => el("li", null,
      el("button", { type: "button", "aria-describedby": "template-" + one().id, onclick: () => choose(one()) }, one().name),
      el("span", { id: "template-" + one().id }, chip(one().language, "quiet"), " ", el("span", { dir: "auto" }, one().content))))));
}

/** variables lists what a text leaves open. @param {string | undefined} pattern */
const variables = (pattern) => [...new Set([...(pattern ?? "").matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map((found) => found[1]))];

/**
 * slots lists what has to be filled in.
 * @param {any[]} components
 */
function slots(components) {
  const part = (/** @type {string} */ type) => components.find((one) => one.type === type);
  const example = (/** @type {any} */ one, /** @type {string} */ key, /** @type {number} */ i) =>
    one?.example?.[key + "_named_params"]?.find((/** @type {any} */ each) => each.param_name === variables(one.text)[i])?.example
    ?? [one?.example?.[key + "_text"]].flat(2)[i];
  const [header, body] = [part("HEADER"), part("BODY")];
  /** @type {any[]} */
  const found = [];
  if (!header?.format || header.format === "TEXT") {
    variables(header?.text).forEach((name, i) => found.push({
      name: "header." + name,
      key: name,
      label: `${text.header} ${text.variable(name)}`,
      example: example(header, "header", i),
    }));
  }
  variables(body?.text).forEach((name, i) => found.push({
    name: "body." + name,
    key: name,
    label: text.variable(name),
    example: example(body, "body", i),
  }));
  (part("BUTTONS")?.buttons ?? []).forEach((/** @type {any} */ one, /** @type {number} */ i) => {
    if (one.type === "URL" && variables(one.url).length > 0) found.push({
      name: "url." + i,
      index: i,
      label: text.button(one.text),
      example: "",
    });
    if (one.type === "COPY_CODE") found.push({ name: "code." + i, index: i, label: text.code, example: [one.example].flat()[0] });
  });
  return found;
}

/**
 * given are the parameters as the API takes them.
 * @param {any[]} components
 * @param {any[]} open
 * @param {Record<string, string>} values
 * @param {any} file
 */
function given(components, open, values, file) {
  const texts = (/** @type {string} */ part) => open.filter((one) => one.name.startsWith(part + ".")).map((one) => ({
    type: "text", text: values[one.name] ?? "", ...(/^\d+$/.test(one.key) ? {} : { parameter_name: one.key }),
  }));
  const [header, body] = [file ? [file] : texts("header"), texts("body")];
  const buttons = components.find((one) => one.type === "BUTTONS")?.buttons ?? [];
  const one = (
    /** @type {string} */ sub,
    /** @type {number} */ index,
    /** @type {any} */ parameter,
  ) => ({ type: "button", sub_type: sub, index: String(index), parameters: [parameter] });
  return [
    ...(header.length ? [{ type: "header", parameters: header }] : []),
    ...(body.length ? [{ type: "body", parameters: body }] : []),
    ...open.filter((slot) => slot.name.startsWith("url.")).map((slot) => one(
      "url",
      slot.index,
      { type: "text", text: values[slot.name] ?? "" },
    )),
    ...open.filter((slot) => slot.name.startsWith("code.")).map((slot) => one(
      "copy_code",
      slot.index,
      { type: "coupon_code", coupon_code: values[slot.name] ?? "" },
    )),
    ...buttons.flatMap((
      /** @type {any} */ each,
      /** @type {number} */ i,
    ) => (each.type === "OTP" ? [one("url", i, { type: "text", text: body[0]?.text ?? "" })] : [])),
  ];
}

/**
 * fillIn shows a form with what the template leaves open, and beside it what becomes of it.
 * @param {any} at
 * @param {any} template
 * @param {() => void} back
 * @param {() => void} close
 */
function fillIn(at, template, back, close) {
  const components = template.components ?? [];
  const open = slots(components);
  const values = signal(/** @type {Record<string, string>} */ ({}));
  const files = attachments(at.number);
  const format = components.find((/** @type {any} */ one) => one.type === "HEADER")?.format ?? "TEXT";
  const medium = ["IMAGE", "VIDEO", "DOCUMENT"].includes(format) ? format.toLowerCase() : "";
  const file = () => medium && files.all()[0]?.media && {
    type: medium,
    [medium]: { id: files.all()[0].media.id, ...(medium === "document" && { filename: files.all()[0].file.name }) },
  };
  if (components.some((/** @type {any} */ one) => one.type === "CAROUSEL")) return el(
    "div.form",
    null,
    el("p.notice", null, text.unsendable),
    button(text.back, { run: back }),
  );

  const submit = async (/** @type {Record<string, string>} */ filledIn) => {
    if (medium && !file()) throw new Error(text.needsFile);
    const parts = given(components, open, filledIn, file());
    send(
      at.number,
      at.id,
      {
        ...recipient(at.conversation(), at.store.newest()),
        type: "template",
        template: { name: template.name, language: template.language, ...(parts.length && { components: parts }) },
      },
    );
  };
  return el("div.fill-in", { oninput: (/** @type {any} */ event) => values.update((all) => ({
    ...all,
    [event.target.name]: event.target.value,
  })) },
    el("p", null,
      el("b", { dir: "auto" }, template.name),
      " ",
      chip(template.language, "quiet"),
      " ",
      button(text.back, { look: "bare", run: back }),
    ),
    medium && el("div", null, files.view, button(text.file, { icon: "clip", run: files.choose })),
    form({
      fields: open.map((one) => ({
        name: one.name,
        label: one.label,
        required: true,
        props: { placeholder: one.example ?? "", dir: "auto", autocomplete: "off", maxlength: 1024 },
      })),
      submit: text.send,
      send: submit,
      done: () => {
        close();
        at.toNewest();
      },
    }),
    el("section.preview", { "aria-label": text.preview },
      el("div.message.outbound", null, el("div.bubble", null, () => filled(components, given(components, open, values(), null)))),
    ));
}
