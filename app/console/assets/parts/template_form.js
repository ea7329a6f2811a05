/** What a template needs before it can be sent, as fields, and the `components` of that send. */
import { el, signal } from "../dom.js";
import { isCode, kindOf, mediaNames, partOf, samplesOf, variablesOf } from "./template_preview.js";
import { fieldTime } from "./times.js";
import { templateForm as text } from "texts/parts.js";

let fields = 0; // that there were so far

/**
 * templateForm builds the fields of a template. components gives what they hold, and is followed
 * by effects; lacks says at those that are empty that they are, and reports whether there is one;
 * refuse shows an error of the API at the field that it is about, and reports whether there was one.
 * @param {any} template
 * @param {(type: string) => { body: import("../dom.js").Child, value: () => any }} [upload] a field for the file of the header, in place of its address
 * @param {any[]} [filled] the components of a send, whose values the fields begin with
 * @returns {{ body: HTMLElement, components: () => any[], lacks: () => boolean, refuse: (error: any) => boolean }}
 */
export function templateForm(template, upload, filled = []) {
  /** @type {{ value: () => any, wrong: import("../dom.js").Signal<string>, control?: HTMLElement }[]} */
  const inputs = [];
  /** @type {Map<any, import("../dom.js").Signal<string>>} */
  const owners = new Map();
  const body = el("div.form.template-form");

  /**
   * field adds one, and returns what makes a parameter of it.
   * @param {string} label
   * @param {string} placeholder
   * @param {(value: string) => any} make
   * @param {string | number} [first] what it begins with
   * @param {string} [type]
   */
  function field(label, placeholder, make, first = "", type = "text") {
    const value = signal(String(first));
    const wrong = signal("");
    const reason = "template-wrong-" + ++fields;
    const control = el("input", {
      type,
      placeholder,
      value: value.peek(),
      dir: "auto",
      autocomplete: "off",
      maxlength: 2000,
      "aria-invalid": () => (wrong() ? "true" : null),
      "aria-describedby": () => (wrong() ? reason : null),
      oninput: (/** @type {any} */ event) => {
        wrong.set("");
        value.set(event.target.value);
      },
    });
    inputs.push({ value: () => value().trim(), wrong, control });
    body.append(el("div", null,
      el("label.field", null, el("span.label", null, label), control),
      () => wrong() && el("p.wrong", { id: reason, role: "alert" }, wrong())));
    return () => {
      const made = make(value().trim());
      owners.set(made, wrong);
      return made;
    };
  }

  /** @param {string} type */
  function file(type) {
    const wrong = signal("");
    const { body: chooser, value } = /** @type {any} */ (upload)(type);
    inputs.push({ value, wrong });
    body.append(el("div.field", null, chooser, () => !value() && wrong() && el("span.wrong", { role: "alert" }, wrong())));
    return () => value() ?? { type };
  }

  const named = template.parameter_format === "NAMED";
  const parts = collect(template.components ?? [], filled, "", { field, file: upload && file, named, code: isCode(template) });
  if (partOf(template.components, "HEADER")?.format === "PRODUCT") {
    body.append(el("p.notice", null, text.unsupported));
    inputs.push({ value: () => "", wrong: signal("") });
  }
  body.hidden = body.childElementCount === 0;

  /** @type {any[]} */
  let last = [];
  const components = () => {
    owners.clear();
    return (last = parts());
  };
  return {
    body,
    components,
    lacks() {
      const open = inputs.filter((one) => !one.value());
      open.forEach((one) => one.wrong.set(text.required));
      open[0]?.control?.focus();
      return open.length > 0;
    },
    refuse(error) {
      const path = error?.param?.match(/^template\.(.*?parameters\[\d+\])/)?.[1].match(/\w+/g) ?? [];
      const wrong = owners.get(path.reduce((/** @type {any} */ at, /** @type {string} */ key) => at?.[key], { components: last }));
      wrong?.set(error.message);
      return wrong !== undefined;
    },
  };
}

/**
 * @typedef {object} Context
 * @property {(label: string, placeholder: string, make: (value: string) => any, first?: string | number, type?: string) => () => any} field
 * @property {(type: string) => () => any} [file]
 * @property {boolean} named
 * @property {boolean} code
 */

/**
 * collect adds the fields of some components, and returns what makes components of a send.
 * @param {any[]} parts
 * @param {any[]} filled the components of a send
 * @param {string} prefix of their labels
 * @param {Context} context
 * @returns {() => any[]}
 */
function collect(parts, filled, prefix, context) {
  const given = (/** @type {string} */ type, index = 0) =>
    filled.find((one) => one.type.toLowerCase() === type && Number(one.index ?? 0) === index)?.parameters ?? [];
  /** @type {(() => any)[]} */
  const made = [];
  const add = (/** @type {any} */ component, /** @type {(() => any)[]} */ fields) => {
    if (fields.length > 0) made.push(() => ({ ...component, parameters: fields.map((one) => one()) }));
  };

  add({ type: "header" }, headerFields(partOf(parts, "HEADER"), given("header"), prefix, context));
  if (partOf(parts, "LIMITED_TIME_OFFER")?.limited_time_offer?.has_expiration) {
    const make = (/** @type {string} */ at) => ({ type: "limited_time_offer", limited_time_offer: { expiration_time_ms: Date.parse(at) || 0 } });
    const ends = given("limited_time_offer")[0]?.limited_time_offer?.expiration_time_ms;
    add({ type: "limited_time_offer" }, [context.field(text.ends, "", make, ends && fieldTime(ends), "datetime-local")]);
  }

  const code = context.code && context.field(text.code, "123456", (value) => ({ type: "text", text: value }), given("body")[0]?.text);
  add({ type: "body" }, code ? [code] : textFields(partOf(parts, "BODY"), given("body"), prefix, context));
  (partOf(parts, "BUTTONS")?.buttons ?? []).forEach((/** @type {any} */ button, /** @type {number} */ index) => {
    const [sub_type, fields] = buttonFields(button, given("button", index), prefix, context, code);
    add({ type: "button", sub_type, index }, fields);
  });

  const cards = partOf(parts, "CAROUSEL")?.cards?.map((/** @type {any} */ card, /** @type {number} */ i) =>
    collect(card.components ?? [], filled.find((one) => one.cards)?.cards[i]?.components ?? [], text.card(i + 1), { ...context, code: false }));
  if (cards) {
    const card = (/** @type {() => any[]} */ one, /** @type {number} */ i) => ({ card_index: i, components: one() });
    made.push(() => ({ type: "carousel", cards: cards.map(card) }));
  }
  return () => made.map((one) => one());
}

/**
 * @param {any} part
 * @param {any[]} given parameters of a send
 * @param {string} prefix
 * @param {Context} context
 */
function textFields(part, given, prefix, { field, named }) {
  const samples = samplesOf(part);
  return variablesOf(part?.text).map((name, i) => field(
    prefix + (named ? name : `{{${name}}}`),
    samples[name] ?? "",
    (value) => ({ type: "text", ...(named && { parameter_name: name }), text: value }),
    (named ? given.find((one) => one.parameter_name === name) : given[i])?.text,
  ));
}

/**
 * @param {any} part
 * @param {any[]} given
 * @param {string} prefix
 * @param {Context} context
 * @returns {(() => any)[]}
 */
function headerFields(part, given, prefix, context) {
  const format = part?.format?.toUpperCase() ?? "TEXT";
  if (format === "TEXT") return textFields(part, given, prefix + text.header, context);
  if (format === "PRODUCT") return [];
  if (format === "LOCATION") {
    const [latitude, longitude, name, address] = text.place.map((label, i) =>
      context.field(prefix + label, "", (value) => value, given[0]?.location?.[["latitude", "longitude", "name", "address"][i]]));
    return [() => ({
      type: "location",
      location: { latitude: Number(latitude()), longitude: Number(longitude()), name: name(), address: address() },
    })];
  }
  const type = format.toLowerCase();
  if (context.file && !prefix && ["image", "video", "document"].includes(type)) return [context.file(type)];
  const label = text.link(mediaNames[/** @type {"IMAGE"} */ (format)] ?? format);
  return [context.field(prefix + label, "", (link) => ({ type, [type]: { link } }), given[0]?.[type]?.link, "url")];
}

/**
 * @param {any} button
 * @param {any[]} given
 * @param {string} prefix
 * @param {Context} context
 * @param {false | (() => any)} code
 * @returns {[string, (() => any)[]]}
 */
function buttonFields(button, [given], prefix, { field }, code) {
  const kind = kindOf(button);
  if (code && (kind === "OTP" || kind === "URL")) return ["url", [code]];
  if (kind === "COPY_CODE") {
    const make = (/** @type {string} */ value) => ({ type: "coupon_code", coupon_code: value });
    return ["copy_code", [field(prefix + text.coupon, [button.example].flat()[0] ?? "", make, given?.coupon_code)]];
  }
  if (kind !== "URL" || variablesOf(button.url).length === 0) return ["", []];
  const make = (/** @type {string} */ value) => ({ type: "text", text: value });
  return ["url", [field(prefix + text.button(button.text), [button.example].flat()[0] ?? "", make, given?.text)]];
}
