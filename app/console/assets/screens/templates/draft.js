/**
 * A template that is being written: what was filled in, its errors by the
 * provider's rules, and the components that are submitted. Parts that the builder does not
 * know stay as they are.
 */
import { isCode, kindOf, partOf, samplesOf, variablesOf } from "../../parts/template_preview.js";
import { draft as ruleText } from "texts/templates.js";

/**
 * @typedef {{ type: string, text: string, url: string, phone_number: string, example: string, kept?: any }} Button
 * @typedef {{ format: string, url: string, text: string, buttons: Button[] }} Card
 * @typedef {object} Draft
 * @property {string} name
 * @property {string} language
 * @property {string} category
 * @property {string} format of the header; "" for none
 * @property {string} header
 * @property {string} url of the header's file
 * @property {string} body
 * @property {string} footer
 * @property {Button[]} buttons
 * @property {Card[]} cards
 * @property {Record<string, string>} samples by "header" or "body" and the name
 * @property {boolean} warns of sharing a code
 * @property {string} minutes that a code is good for
 * @property {any[]} kept components that are not edited here
 * @property {boolean | null} named whether variables have names; null while that is open
 */

/** @param {string} type @param {any} [from] @returns {Button} */
export const newButton = (type, from = {}) => ({
  type,
  text: from.text ?? "",
  url: from.url ?? "",
  phone_number: from.phone_number ?? "",
  example: [from.example].flat()[0] ?? "",
  kept: from.type ? from : undefined,
});

/** @param {any} [header] */
const fileOf = (header) => [header?.example?.header_url ?? header?.example?.header_handle ?? ""].flat()[0] ?? "";

/** @param {any[]} parts */
const buttonsOf = (parts) => (partOf(parts, "BUTTONS")?.buttons ?? []).map((/** @type {any} */ one) => newButton(kindOf(one), one));

/** @param {any} [card] @returns {Card} */
export const newCard = (card) => ({
  format: partOf(card?.components, "HEADER")?.format ?? "IMAGE",
  url: fileOf(partOf(card?.components, "HEADER")),
  text: partOf(card?.components, "BODY")?.text ?? "",
  buttons: buttonsOf(card?.components),
});

/**
 * newDraft begins with nothing, or with what a template has.
 * @param {any} [template]
 * @returns {Draft}
 */
export function newDraft(template) {
  const parts = template?.components ?? [];
  const header = partOf(parts, "HEADER");
  const body = partOf(parts, "BODY");
  const footer = partOf(parts, "FOOTER");
  /** @type {Record<string, string>} */
  const samples = {};
  for (const [name, value] of Object.entries(samplesOf(header))) samples["header" + name] = value;
  for (const [name, value] of Object.entries(samplesOf(body))) samples["body" + name] = value;
  return {
    name: template?.name ?? "",
    language: template?.language ?? "en",
    category: template?.category ?? "UTILITY",
    format: header ? header.format ?? "TEXT" : "",
    header: header?.text ?? "",
    url: fileOf(header),
    body: body?.text ?? "",
    footer: footer?.text ?? "",
    buttons: buttonsOf(parts),
    cards: (partOf(parts, "CAROUSEL")?.cards ?? []).map(newCard),
    samples,
    warns: body?.add_security_recommendation ?? true,
    minutes: String(footer?.code_expiration_minutes ?? 10),
    kept: parts.filter((/** @type {any} */ part) => kindOf(part) === "LIMITED_TIME_OFFER"),
    named: template ? template.parameter_format === "NAMED" : null,
  };
}

/** @param {Draft} draft */
export const isNamed = (draft) =>
  draft.named ?? [...variablesOf(draft.header), ...variablesOf(draft.body)].some((name) => !/^\d+$/.test(name));

/**
 * problemsOf returns the errors, by field. The keys are those of the draft, with numbers
 * for buttons and cards.
 * @param {Draft} draft
 * @returns {Record<string, string>}
 */
export function problemsOf(draft) {
  /** @type {Record<string, string>} */
  const found = {};
  const say = (/** @type {string} */ key, /** @type {string | false | undefined} */ words) => {
    if (words && !found[key]) found[key] = words;
  };
  say("name", !/^[a-z0-9_]{1,512}$/.test(draft.name) && (draft.name ? ruleText.name : ruleText.blank));
  if (isCode(draft)) {
    const minutes = Number(draft.minutes);
    say("minutes", !(minutes >= 1 && minutes <= 90) && ruleText.minutes);
    return found;
  }

  const named = isNamed(draft);
  say("body", textProblem(draft.body, 1024, named) || edgeProblem(draft.body));
  if (draft.format === "TEXT" && draft.cards.length === 0) {
    say("header", textProblem(draft.header, 60, named) || (variablesOf(draft.header).length > 1 && ruleText.oneVariable));
  } else if (isFile(draft.format) && draft.cards.length === 0) say("url", linkProblem(draft.url));
  if (draft.footer) say("footer", textProblem(draft.footer, 60, named) || (draft.footer.includes("{{") && ruleText.noVariables));
  for (const key of /** @type {const} */ (["header", "body"])) {
    if (key === "header" && draft.format !== "TEXT") continue;
    for (const name of variablesOf(draft[key])) say("sample" + key + name, !draft.samples[key + name]?.trim() && ruleText.example(name));
  }
  draft.buttons.forEach((one, i) => say("button" + i, buttonProblem(one)));
  say("cards", draft.cards.length === 1 && ruleText.cards);
  draft.cards.forEach((card, i) => {
    say("card" + i, linkProblem(card.url) || (card.text && (textProblem(card.text, 160, named) || edgeProblem(card.text))));
    say("card" + i, card.buttons.length === 0 ? ruleText.cardButton : card.buttons.map(buttonProblem).find(Boolean));
  });
  return found;
}

/** @param {string} format */
export const isFile = (format) => ["IMAGE", "VIDEO", "GIF", "DOCUMENT"].includes(format);

/** What this server has may come without https: it fetches it from itself. @param {string} url */
function linkProblem(url) {
  if (!url) return ruleText.blank;
  const isOurs = url.startsWith(location.origin + "/");
  return isOurs || /^(https:\/\/.|\d+:)/.test(url) ? "" : ruleText.https;
}

/**
 * @param {string} written
 * @param {number} most
 * @param {boolean} named
 */
function textProblem(written, most, named) {
  const names = variablesOf(written);
  const rest = written.replace(/\{\{[^{}]*\}\}/g, "");
  const fits = (/** @type {string} */ name) => (named ? /^[a-z][a-z0-9_]*$/.test(name) : Number(name) >= 1 && Number(name) <= names.length);
  if (!written.trim()) return ruleText.blank;
  if ([...written].length > most) return ruleText.long(most);
  if (/\{\{|\}\}/.test(rest)) return ruleText.braces;
  if (most === 60 && /[\n\t]/.test(written)) return ruleText.line;
  return names.every(fits) ? "" : ruleText.names;
}

/** @param {string} written */
function edgeProblem(written) {
  const trimmed = written.trim();
  const words = written.replace(/\{\{[^{}]*\}\}/g, " ").match(/[\p{L}\p{N}]+/gu) ?? [];
  if (trimmed.startsWith("{{") || trimmed.endsWith("}}")) return ruleText.edge;
  if (/\}\}\s*\{\{/.test(written)) return ruleText.beside;
  return words.length < variablesOf(written).length ? ruleText.many : "";
}

/** @param {Button} one */
function buttonProblem({ type, text, url, phone_number: phone, example }) {
  if (type === "COPY_CODE") return example.trim() ? "" : ruleText.blank;
  if (!text.trim()) return ruleText.blank;
  if ([...text].length > 25) return ruleText.long(25);
  if (text.includes("{{")) return ruleText.noVariables;
  if (type === "PHONE_NUMBER") return /^\+?[0-9 ()-]{7,20}$/.test(phone) ? "" : ruleText.phone;
  if (type !== "URL") return "";
  if (!/^https?:\/\/./.test(url)) return ruleText.https;
  const variable = url.indexOf("{{");
  if (variable >= 0 && url.slice(variable) !== "{{1}}") return ruleText.linkEnd;
  return variable >= 0 && !example.trim() ? ruleText.example("1") : "";
}

/**
 * componentsOf are the components that are submitted.
 * @param {Draft} draft
 * @returns {any[]}
 */
export function componentsOf(draft) {
  if (isCode(draft)) return codeComponents(draft);
  const named = isNamed(draft);
  const carousel = draft.cards.length > 0;
  const parts = [...draft.kept];
  if (draft.format && !carousel) parts.push(headerOf(draft.format, draft.url, draft, named));
  parts.push({ type: "BODY", text: draft.body, ...exampleOf(draft, "body", named) });
  if (draft.footer.trim() && !carousel) parts.push({ type: "FOOTER", text: draft.footer });
  if (draft.buttons.length > 0) parts.push({ type: "BUTTONS", buttons: draft.buttons.map(buttonOf) });
  if (carousel) {
    parts.push({
      type: "CAROUSEL",
      cards: draft.cards.map((card) => ({
        components: [
          headerOf(draft.cards[0].format, card.url, draft, named),
          ...(card.text.trim() ? [{ type: "BODY", text: card.text }] : []),
          { type: "BUTTONS", buttons: card.buttons.map(buttonOf) },
        ],
      })),
    });
  }
  return parts;
}

/** @param {Draft} draft */
function codeComponents(draft) {
  return [
    { type: "BODY", add_security_recommendation: draft.warns },
    { type: "FOOTER", code_expiration_minutes: Number(draft.minutes) || 10 },
    { type: "BUTTONS", buttons: [draft.buttons[0]?.type === "OTP" ? draft.buttons[0].kept : { type: "OTP", otp_type: "COPY_CODE" }] },
  ];
}

/**
 * @param {string} format
 * @param {string} url
 * @param {Draft} draft
 * @param {boolean} named
 */
function headerOf(format, url, draft, named) {
  if (format === "TEXT") return { type: "HEADER", format, text: draft.header, ...exampleOf(draft, "header", named) };
  if (!isFile(format)) return { type: "HEADER", format };
  return { type: "HEADER", format, example: url.startsWith("http") ? { header_url: url } : { header_handle: [url] } };
}

/**
 * @param {Draft} draft
 * @param {"header" | "body"} key
 * @param {boolean} named
 */
function exampleOf(draft, key, named) {
  const names = variablesOf(draft[key]);
  const sample = (/** @type {string} */ name) => draft.samples[key + name] ?? "";
  if (names.length === 0) return {};
  if (named) return { example: { [key + "_text_named_params"]: names.map((name) => ({ param_name: name, example: sample(name) })) } };
  const values = names.sort((a, b) => Number(a) - Number(b)).map(sample);
  return { example: { [key + "_text"]: key === "body" ? [values] : values } };
}

/** @param {Button} one */
function buttonOf({ type, text, url, phone_number, example, kept }) {
  switch (type) {
    case "COPY_CODE":
      return { type, example };
    case "URL":
      return { type, text, url, ...(url.includes("{{") && { example: [example] }) };
    case "PHONE_NUMBER":
      return { type, text, phone_number };
    default:
      return { ...kept, type, text };
  }
}
