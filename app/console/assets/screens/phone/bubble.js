/** A message on the phone, as the person's app shows it, with what the person can do about it. */
import { el } from "../../dom.js";
import { clockOf, stamp } from "../../format.js";
import { button, icon } from "../../parts/basics.js";
import { away } from "../../parts/formatted.js";
import { menu } from "../../parts/menu.js";
import { dialog } from "../../parts/dialog.js";
import { fileURL } from "./sim.js";
import { bubble as text } from "texts/phone.js";

const emojis = ["👍", "❤️", "😂", "😮", "😢", "🙏"];

/**
 * @typedef {object} Handlers
 * @property {(message: any) => void} reply
 * @property {(message: any, emoji: string) => void} react
 * @property {(message: any) => void} edit
 * @property {(message: any) => void} remove
 * @property {(message: any, content: any) => void} answer taps something of a card
 * @property {(message: any) => void} locate
 * @property {(message: any) => void} share sends the person's own number
 * @property {(id: string) => any} find another message
 */

/**
 * bubble shows a message.
 * @param {() => any} item
 * @param {Handlers} handlers
 */
export function bubble(item, handlers) {
  const own = item().direction === "inbound";
  return el("article.phone-bubble" + (own ? ".own" : ""), { "data-id": item().id },
    () => quote(item(), handlers),
    () => (item().deleted ? el("p.quiet", null, text.deleted) : content(item())),
    () => foot(item()),
    () => item().card && taps(item(), item().card, handlers),
    () => item().reactions.length > 0 && el("p.phone-reactions", null, item().reactions.map((/** @type {any} */ one) =>
      el("span", { title: text.by[/** @type {keyof typeof text.by} */ (one.from)] }, one.emoji))),
    actions(item, own, handlers));
}

/** summary is a message in a few words. @param {any} message @returns {string} */
export function summary(message) {
  const own = message[message.type] ?? {};
  if (message.deleted) return text.deleted;
  return message.card?.body ?? own.body ?? own.caption ?? own.filename ?? chosen(message) ?? label(message.type);
}

/** @param {any} message @param {Handlers} handlers */
function quote(message, handlers) {
  const about = message.context && handlers.find(message.context.id);
  return about && el("p.phone-quote", { dir: "auto" }, summary(about));
}

/** @param {any} message */
function foot(message) {
  const ticks = /** @type {keyof typeof text.ticks} */ (message.ticks);
  return el("p.phone-foot", null, message.edited && !message.deleted && text.edited + " ", stamp(message.created_at, clockOf),
    ticks && el("span.phone-ticks." + ticks, null, icon("checks"), el("span.unseen", null, " " + text.ticks[ticks])));
}

/** @param {() => any} item @param {boolean} own @param {Handlers} handlers */
function actions(item, own, handlers) {
  const small = (/** @type {string} */ name, /** @type {string} */ drawing, /** @type {() => void} */ run) =>
    button(name, { icon: drawing, look: "bare", iconOnly: true, run });
  const react = small(text.react, "smile", () => {});
  menu(react, text.react, () => [
    ...emojis.map((emoji) => ({ name: emoji, run: () => handlers.react(item(), emoji) })),
    { name: text.takeBack, group: "", run: () => handlers.react(item(), "") },
  ]);
  const more = own && small(text.more, "dots", () => {});
  if (more) {
    menu(more, text.more, () => [
      { name: text.edit, run: () => handlers.edit(item()) },
      { name: text.remove, danger: true, run: () => handlers.remove(item()) },
    ]);
  }
  return () => !item().deleted && el("div.phone-acts", null, small(text.reply, "reply", () => handlers.reply(item())), react, more);
}

/** label names a type. @param {string} type */
function label(type) {
  return text.types[/** @type {keyof typeof text.types} */ (type)] ?? text.unsupported;
}

/** chosen is what somebody tapped. @param {any} message */
function chosen(message) {
  const of = message[message.type] ?? {};
  return of.text ?? of.button_reply?.title ?? of.list_reply?.title ?? of.nfm_reply?.body ?? null;
}

/** @param {any} message @returns {import("../../dom.js").Child} */
function content(message) {
  const { type } = message;
  const of = message[type] ?? {};
  if (message.card) return card(message.card);
  if (["image", "sticker", "video", "audio", "document"].includes(type)) return [file(type, of), of.caption && words(of.caption)];
  if (type === "location") {
    return [words(of.name || label(type)), el("p.quiet", null, of.address && of.address + " · ", `${of.latitude}, ${of.longitude}`)];
  }
  if (type === "contacts") {
    return of.map((/** @type {any} */ one) => [words(one.name?.formatted_name ?? ""), (one.phones ?? []).map((/** @type {any} */ phone) =>
      el("p.quiet", null, phone.phone))]);
  }
  return words(of.body ?? chosen(message) ?? label(type));
}

/** @param {string} what */
const words = (what) => el("p", { dir: "auto" }, what);

/**
 * file shows a file that the provider holds. One that was sent by link is not fetched.
 * @param {string} type
 * @param {any} of
 */
function file(type, of) {
  const name = of.filename || label(type);
  if (!of.id) return of.link && el("a.phone-file", { href: of.link, ...away }, icon("clip"), of.filename || of.link);
  const src = fileURL(of.id);
  if (type === "image" || type === "sticker") return el("img", { src, alt: of.caption || name, loading: "lazy" });
  if (type === "video" || type === "audio") return el(type, { src, controls: true, preload: "metadata", "aria-label": name });
  return el("a.phone-file", { href: src, download: name }, icon("clip"), el("span", { dir: "auto" }, name));
}

/** card is what a card says. @param {any} of @returns {import("../../dom.js").Child} */
function card({ header, ...of }) {
  return [
    header && (header.type === "text" ? el("p.phone-card-head", { dir: "auto" }, header.text) : header.file && file(header.type, header.file)),
    of.body && words(of.body),
    of.footer && el("p.quiet", { dir: "auto" }, of.footer),
  ];
}

/** taps is what can be tapped of it. @param {any} message @param {any} of @param {Handlers} handlers @returns {import("../../dom.js").Child} */
function taps(message, of, handlers) {
  return [
    (of.buttons ?? []).map((/** @type {any} */ one) => tap(message, one, handlers)),
    of.list && button(of.list.button, { look: "bare", run: () => choose(message, of.list, handlers) }),
    (of.cards ?? []).map((/** @type {any} */ one) => el("div.phone-card", null, card(one), taps(message, one, handlers))),
  ];
}

/** tap is a button of a card. @param {any} message @param {any} one @param {Handlers} handlers */
function tap(message, one, handlers) {
  if (one.url) return el("a.button.bare", { href: one.url, title: one.url, ...away }, one.text);
  const answers = {
    reply: { type: "interactive", interactive: { type: "button_reply", button_reply: { id: one.id, title: one.text } } },
    quick_reply: { type: "button", button: { payload: one.id, text: one.text } },
    flow: { type: "interactive", interactive: { type: "nfm_reply", nfm_reply: { name: "flow", body: "Sent", response_json: "{}" } } },
  };
  const run = {
    location: () => handlers.locate(message),
    contact: () => handlers.share(message),
    copy_code: () => navigator.clipboard?.writeText(one.id),
  }[/** @type {string} */ (one.type)] ?? (() => handlers.answer(message, answers[/** @type {keyof typeof answers} */ (one.type)]));
  return button(one.text, { look: "bare", run });
}

/** choose opens the rows of a list. @param {any} message @param {any} of @param {Handlers} handlers */
function choose(message, of, handlers) {
  dialog(of.button || text.choose, (close) => of.sections.map((/** @type {any} */ section) => el("div.phone-rows", null,
    section.title && el("h3", { dir: "auto" }, section.title),
    (section.rows ?? []).map((/** @type {any} */ row) => {
      const run = () => {
        close();
        handlers.answer(message, { type: "interactive", interactive: { type: "list_reply", list_reply: row } });
      };
      const id = row.description && "row-" + row.id;
      return el("button.phone-row", { type: "button", onclick: run, "aria-describedby": id }, row.title,
        id && el("small", { id, "aria-hidden": "true" }, row.description));
    }))));
}
