/**
 * How a template looks on the phone of who gets it. The page of a template, its builder,
 * the inbox and broadcasts show the same.
 */
import { el } from "../dom.js";
import { icon } from "./basics.js";
import { words } from "./formatted.js";
import { sourceOf } from "./library.js";
import { templatePreview as text } from "texts/parts.js";

/** What a header shows for a file. */
export const mediaNames = text.media;

/** The icons of headers, and of buttons. */
const mediaIcons = { IMAGE: "picture", VIDEO: "film", GIF: "film", DOCUMENT: "templates", LOCATION: "place", PRODUCT: "label" };
const buttonIcons = {
  QUICK_REPLY: "answer", URL: "arrow", PHONE_NUMBER: "phone", VOICE_CALL: "phone",
  COPY_CODE: "copy", OTP: "copy", REQUEST_CONTACT_INFO: "person",
};

const variable = /\{\{\s*(\w+)\s*\}\}/g;

/**
 * kindOf is the type of a component or button in capitals, as the provider writes it.
 * @param {any} part
 * @returns {string}
 */
export const kindOf = (part) => String(part?.type ?? "").toUpperCase();

/**
 * partOf finds the component of a type.
 * @param {any[] | null | undefined} parts
 * @param {string} kind
 */
export const partOf = (parts, kind) => (parts ?? []).find((part) => kindOf(part) === kind);

/**
 * variablesOf are the names of the variables in a text, each once.
 * @param {string | null | undefined} text
 */
export const variablesOf = (text) => [...new Set([...(text ?? "").matchAll(variable)].map((found) => found[1]))];

/**
 * isCode reports whether a template sends codes: the provider writes its texts.
 * @param {any} template
 */
export const isCode = (template) =>
  template.category
    ? template.category === "AUTHENTICATION"
    : (partOf(template.components, "BUTTONS")?.buttons ?? []).some((/** @type {any} */ one) => kindOf(one) === "OTP");

/**
 * samplesOf are the examples of a text's variables, by name.
 * @param {any} part
 * @returns {Record<string, string>}
 */
export function samplesOf(part) {
  const { body_text: body, header_text: header, body_text_named_params: b, header_text_named_params: h } = part?.example ?? {};
  const named = (b ?? h ?? []).map((/** @type {any} */ one) => [one.param_name, one.example]);
  const numbered = [body ?? header ?? []].flat(2).map((/** @type {string} */ one, /** @type {number} */ i) => [i + 1, one]);
  return Object.fromEntries([...named, ...numbered]);
}

/**
 * templatePreview shows a template with the values of a send, or with its examples where
 * there are none. Both may be functions: then it follows them.
 * @param {any} template as the API has it: components, category
 * @param {any} [parameters] the `components` of a send
 */
export function templatePreview(template, parameters) {
  const read = (/** @type {any} */ given) => (typeof given === "function" ? given() : given);
  return el("div.preview", { role: "group", "aria-label": text.name }, () => message(read(template), read(parameters)));
}

/**
 * @param {any} template
 * @param {any[] | undefined} sent
 */
function message(template, sent) {
  const parts = template.components ?? [];
  const cards = partOf(parts, "CAROUSEL")?.cards;
  const given = partOf(sent, "CAROUSEL")?.cards ?? [];
  return [
    bubble(parts, sent, isCode(template)),
    cards && el("div.preview-cards", { role: "group", "aria-label": text.cards, tabindex: "0" },
      cards.map((/** @type {any} */ card, /** @type {number} */ i) => bubble(card.components ?? [], sent && (given[i]?.components ?? []), false)),
    ),
  ];
}

/**
 * @param {any[]} parts
 * @param {any[] | undefined} sent
 * @param {boolean} code
 */
function bubble(parts, sent, code) {
  const body = partOf(parts, "BODY");
  const footer = partOf(parts, "FOOTER");
  const offer = partOf(parts, "LIMITED_TIME_OFFER")?.limited_time_offer;
  const written = body?.text ?? (code ? text.code + (body?.add_security_recommendation ? text.secret : "") : "");
  const end = footer?.text ?? (footer?.code_expiration_minutes && text.expires(footer.code_expiration_minutes));
  return el("div.preview-bubble", null,
    header(partOf(parts, "HEADER"), partOf(sent, "HEADER"), sent),
    offer && el("p.preview-offer", { dir: "auto" }, el("b", null, offer.text), offer.has_expiration && el("small", null, text.offerEnds)),
    (written || body) && el("p.preview-body", { dir: "auto" }, written ? fill(written, body, partOf(sent, "BODY"), sent) : text.empty),
    end && el("p.preview-footer", { dir: "auto" }, end),
    buttonList(partOf(parts, "BUTTONS")?.buttons ?? []));
}

/**
 * fill puts values where a text has variables; where there is none the place stays.
 * @param {string} written
 * @param {any} part
 * @param {any} given the same part of a send
 * @param {any[] | undefined} sent
 */
function fill(written, part, given, sent) {
  const values = sent
    ? Object.fromEntries((given?.parameters ?? []).map((/** @type {any} */ one, /** @type {number} */ i) => [one.parameter_name ?? i + 1, one.text]))
    : samplesOf(part);
  return words(written.replace(variable, (whole, name) => values[name] || whole), holes);
}

/** holes shows the places of variables. @param {string} text */
const holes = (text) => text.split(/(\{\{\s*\w+\s*\}\})/).map((part, i) => (i % 2 ? el("span.hole", null, part) : part));

/**
 * @param {any} part
 * @param {any} given
 * @param {any[] | undefined} sent
 */
function header(part, given, sent) {
  if (!part) return null;
  const format = (part.format ?? "TEXT").toUpperCase();
  if (format === "TEXT") return el("p.preview-head", { dir: "auto" }, fill(part.text ?? "", part, given, sent));

  const kind = /** @type {"IMAGE"} */ (format in mediaNames ? format : "DOCUMENT");
  const [name, drawing] = [mediaNames[kind], mediaIcons[kind]];
  const one = given?.parameters?.[0];
  const file = one?.[one.type];
  const url = file?.link ?? [part.example?.header_url].flat()[0];
  const src = format === "IMAGE" && sourceOf(file ?? { link: url });
  if (src) return el("img.preview-picture", { src, alt: name });
  return el("div.preview-media", null,
    icon(drawing), el("span", { dir: "auto" }, file?.name || name), url && el("small", { dir: "ltr" }, url),
  );
}

/** @param {any[]} all */
function buttonList(all) {
  const shown = all.length > 3 ? 2 : 3; // as phones do
  const row = (/** @type {any} */ one) => {
    const name = text.buttons[/** @type {"OTP"} */ (kindOf(one))]; // of those that the network names itself
    return el("span.preview-button", { dir: "auto" }, icon(buttonIcons[/** @type {"URL"} */ (kindOf(one))] ?? "arrow"), one.text || name || "…");
  };
  return all.length > 0 && el("div.preview-buttons", null,
    all.slice(0, shown).map(row),
    all.length > shown && el("details", null, el("summary.preview-button", null, icon("menu"), text.more), all.slice(shown).map(row)));
}
