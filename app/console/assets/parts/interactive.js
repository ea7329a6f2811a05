/** Buttons and lists below a text: as a form has them, and as the API does. */
import { APIError } from "../api.js";
import { interactive as text } from "texts/parts.js";

const most = { rows: 10, title: 24, description: 72 };

/** buttonFields are the fields of 1 to 3 buttons. @param {boolean} [optional] */
export const buttonFields = (optional) => text.buttons.map((label, i) => ({
  name: "button" + (i + 1),
  label,
  required: i === 0 && !optional,
  optional: i > 0 || optional,
  props: { maxlength: 20, dir: "auto", autocomplete: "off" },
}));

/** listFields are the fields of a list. @param {boolean} [optional] */
export const listFields = (optional) => [
  { name: "open", label: text.open, required: !optional, optional, props: { maxlength: 20, dir: "auto", autocomplete: "off" } },
  { name: "rows", label: text.rows, type: "textarea", hint: text.rowsHint, required: !optional, optional, props: { rows: 5, dir: "auto" } },
];

/** fill is what the fields hold of an interactive. @param {any} given */
export function fill(given) {
  const { buttons = [], button, sections = [] } = given?.action ?? {};
  return {
    ...Object.fromEntries(buttons.map((/** @type {any} */ one, /** @type {number} */ i) => ["button" + (i + 1), one.reply.title])),
    open: button,
    rows: sections.flatMap((/** @type {any} */ part) => part.rows)
      .map((/** @type {any} */ row) => row.title + (row.description ? ` | ${row.description}` : "")).join("\n") || undefined,
  };
}

/** read makes an interactive of what the fields hold; null for nothing. @param {any} values */
export function read({ button1, button2, button3, open, rows }) {
  const titles = [button1, button2, button3].filter(Boolean).map((/** @type {string} */ title) => title.trim());
  if (titles.length > 0) {
    return { type: "button", action: { buttons: titles.map((title, i) => ({ type: "reply", reply: { id: String(i + 1), title } })) } };
  }
  if (!rows) return null;

  const lines = rows.split("\n").map((/** @type {string} */ line) => line.trim()).filter(Boolean);
  if (lines.length > most.rows) throw refusal(text.tooMany);
  const read = lines.map((/** @type {string} */ line, /** @type {number} */ i) => {
    const [title, description] = line.split("|").map((part) => part.trim());
    if ([...title].length > most.title || [...description ?? ""].length > most.description) throw refusal(text.tooLong);
    return { id: String(i + 1), title, ...(description && { description }) };
  });
  return { type: "list", action: { button: open, sections: [{ rows: read }] } };
}

/** @param {string} message */
const refusal = (message) => new APIError(message, { status: 400, param: "rows" });

/** namesIn is what can be tapped, in a line. @param {any} given */
export const namesIn = (given) => [
  ...(given.action?.buttons ?? []).map((/** @type {any} */ one) => one.reply?.title),
  ...(given.action?.sections ?? []).flatMap((/** @type {any} */ part) => part.rows ?? []).map((/** @type {any} */ row) => row.title),
].join(" · ");
