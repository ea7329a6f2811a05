/** The content of a message, each type as the network shows it, and each in a few words. */
import { el, signal } from "../../dom.js";
import { get } from "../../api.js";
import { sizeOf } from "../../format.js";
import { icon } from "../../parts/basics.js";
import { away, outside, words } from "../../parts/formatted.js";
import { hosted, sourceOf } from "../../parts/library.js";
import { number } from "../../session.js";
import { picture } from "./pictures.js";
import { player } from "./player.js";
import { content as text } from "texts/thread.js";

/** @typedef {import("../../dom.js").Child} Child */

/** prose is what somebody wrote. @param {string | null | undefined} value */
const prose = (value) => value && el("p.message-text", { dir: "auto" }, words(value));

/**
 * content shows what a message holds.
 * @param {any} m
 * @returns {Child}
 */
export function content(m) {
  const value = m[m.type] ?? {};
  switch (m.type) {
    case "text":
      return prose(value.body);
    case "image":
    case "video":
    case "audio":
    case "sticker":
    case "document":
      return [file(m, value), prose(value.caption)];
    case "location":
      return place(value);
    case "contacts":
      return (Array.isArray(value) ? value : []).map((one) => card(one));
    case "button":
      return prose(value.text);
    case "interactive":
      return interactive(value);
    case "template":
      return template(m, value);
    case "order":
      return [
        card({ name: { formatted_name: text.kinds.order } }, "customers"),
        el("small", null, text.items(value.product_items?.length ?? 0)),
        prose(value.text),
      ];
    case "reaction":
      return prose(reaction(value.emoji));
    case "other":
      return el("p.quiet", null, text.kinds.other);
    default:
      return el("p.quiet", null, text.kinds.unsupported);
  }
}

/** @param {string} emoji "" when it was taken back */
const reaction = (emoji) => (emoji ? text.reacted(emoji) : text.tookBack);

/** @param {any} m @param {any} value */
function file(m, value) {
  const { url, mime_type: kind, size, filename, status } = m.media ?? {};
  const name = filename ?? value.filename ?? (value.voice ? text.voice : text.kinds[/** @type {"image"} */ (m.type)]);
  const badge = (/** @type {Child} */ shown, /** @type {string} */ below) =>
    el("span.file", null, icon("templates"), el("span", null, el("b", { dir: "auto" }, shown), el("small", null, below)));
  // What was just sent is drawn before the server has said where it is.
  if (!url && m.type === "image" && m.status === "queued" && value.id) return () => picture(m, sourceOf(value), value.caption || name);
  if (!url || url === value.link) {
    if (value.link) return badge(outside(value.link, name), text.linked);
    return badge(name, status === "failed" ? text.lost : status ? text.loading : text.gone);
  }

  const src = hosted(url);
  if (m.type === "sticker") return el("a", { href: src, ...away, title: name }, el("img.sticker", { src, alt: name, loading: "lazy" }));
  if (m.type === "image" && kind?.startsWith("image/")) return picture(m, src, value.caption || name);
  if (m.type === "video" && kind?.startsWith("video/")) return video(src, name);
  if (m.type === "audio") return player(src, value.voice ? text.voice : name, value.voice);
  return badge(el("a", { href: src, ...away, download: name }, name), size ? sizeOf(size) : "");
}

/** @param {string} src @param {string} name */
const video = (src, name) => el("video", { src, controls: true, preload: "metadata", "aria-label": name });

/** @param {any} at */
function place(at) {
  const map = ["https:", "", "www.openstreetmap.org", `?mlat=${Number(at.latitude)}&mlon=${Number(at.longitude)}`].join("/");
  const where = `${at.latitude}, ${at.longitude}`;
  return el("span.file", null,
    icon("place"),
    el("span", { dir: "auto" }, outside(map, at.name || at.address || where), el("small", null, at.name && at.address)),
  );
}

/** @param {any} one @param {string} [drawing] */
function card(one, drawing = "person") {
  const lines = [...(one.phones ?? []), ...(one.emails ?? [])].map((/** @type {any} */ each) => each.phone ?? each.email);
  return el("span.file", null, icon(drawing), el("span", { dir: "auto" },
    el("b", null, one.name?.formatted_name ?? text.kinds.contacts),
    lines.map((line) => el("small", null, outside((/@/.test(line) ? "mailto:" : "tel:") + String(line).replace(/\s/g, ""), line)))));
}

/** @param {any} value */
function interactive(value) {
  const reply = value.button_reply ?? value.list_reply;
  if (reply) return [prose(reply.title), el("small.quiet", { dir: "auto" }, reply.description)];
  const { header, body, footer, action = {} } = value;
  const names = [
    ...(action.buttons ?? []).map((/** @type {any} */ one) => one.reply?.title),
    ...(value.type === "request_contact_info" ? [text.shareContact] : []),
    ...(action.parameters?.display_text ? [outside(action.parameters.url, action.parameters.display_text)] : []),
  ];
  const rows = (action.sections ?? []).map((/** @type {any} */ part) => [
    part.title && el("li.quiet", { dir: "auto" }, part.title),
    (part.rows ?? []).map((/** @type {any} */ row) => el("li", { dir: "auto" },
      el("b", null, row.title),
      el("small", null, row.description),
    )),
  ]);
  return card3(header?.text ?? (header?.type && text.kinds[/** @type {"image"} */ (header.type)]), body?.text, footer?.text, names, [
    action.button && el("p.choice-head", { dir: "auto" }, action.button),
    rows.length > 0 && el("ul.rows", null, rows),
  ]);
}

/**
 * card3 is a message with a head, a body, a foot and buttons.
 * @param {Child} head
 * @param {string} body
 * @param {string} foot
 * @param {Child[]} buttons
 * @param {Child} [more]
 */
function card3(head, body, foot, buttons, more) {
  return [
    head && el("p.head", { dir: "auto" }, head),
    prose(body),
    foot && el("small.quiet", { dir: "auto" }, foot),
    more,
    buttons.length > 0 && el("ul.choices", null, buttons.map((one) => el("li", { dir: "auto" }, one))),
  ];
}

/** Templates as they were read, by name and language. @type {Map<string, import("../../dom.js").Signal<any>>} */
const definitions = new Map();

/**
 * definition is a template of the number, once it is read. What could not be read is asked for again
 * when it is shown next, unless it is not there.
 * @param {string} name
 * @param {string} language
 */
function definition(name, language) {
  const of = number()?.phone_number_id;
  const id = [of, name, language].join(" ");
  const known = definitions.get(id);
  if (known) return known;
  const value = signal(/** @type {any} */ (null));
  definitions.set(id, value);
  get(`v1/${of}/templates/${encodeURIComponent(name)}`, { query: { language } }).then(value.set, (error) => {
    if (error.status !== 404) definitions.delete(id);
    value.set({ components: [] });
  });
  return value;
}

/** @param {any} m @param {any} value */
function template(m, value) {
  const language = value.language?.code ?? value.language;
  const read = definition(value.name, language);
  return () => {
    const found = read();
    if (found === null) return el("p.quiet", null, text.kinds.template);
    return found.components?.length ? filled(found.components, value.components ?? [], m) : prose(text.templateOf(value.name));
  };
}

/**
 * filled shows a template as the person sees it.
 * @param {any[]} components of the template
 * @param {any[]} given the parameters
 * @param {any} m
 * @returns {Child}
 */
function filled(components, given, m) {
  const part = (/** @type {string} */ type) => components.find((one) => one.type?.toUpperCase() === type);
  const values = (/** @type {string} */ type) => given.find((one) => one.type?.toLowerCase() === type)?.parameters ?? [];
  const fill = (/** @type {string | undefined} */ pattern, /** @type {any[]} */ parameters) =>
    (pattern ?? "").replace(/\{\{\s*([\w]+)\s*\}\}/g, (all, key) => {
      const named = parameters.find((one) => one.parameter_name === key) ?? parameters[Number(key) - 1];
      return named?.text || named?.currency?.fallback_value || named?.date_time?.fallback_value || all;
    });
  const header = part("HEADER");
  const medium = header?.format && header.format !== "TEXT" && header.format.toLowerCase();
  const head = medium ? attached(m, medium, values("header")[0]?.[medium]) : header && fill(header.text, values("header"));
  return card3(head,
    fill(part("BODY")?.text, values("body")),
    part("FOOTER")?.text,
    (part("BUTTONS")?.buttons ?? []).map((/** @type {any} */ one) => one.text),
  );
}

/**
 * attached shows the file of a template's header, or says what it is.
 * @param {any} m
 * @param {string} kind
 * @param {any} file as it was sent
 */
function attached(m, kind, file) {
  const src = sourceOf(file);
  const name = file?.filename ?? text.kinds[/** @type {"image"} */ (kind)] ?? kind;
  if (src && kind === "image") return picture(m, src, name);
  if (src && kind === "video") return video(src, name);
  const shown = src ? el("a", { href: src, ...away, download: name }, name) : file?.link ? outside(file.link, name) : name;
  return el("span.file", null, icon("templates"), shown);
}

/**
 * summary is a message in a few words, for lists and quotes.
 * @param {any} m a message, or the last one of a conversation
 * @returns {string}
 */
export function summary(m) {
  const value = m[m.type] ?? {};
  const written = m.preview ?? value.body ?? value.caption ?? value.text ?? value.filename ?? value.name;
  const body = typeof written === "string" ? written : value.body?.text ?? value.button_reply?.title ?? value.list_reply?.title;
  if (m.type === "reaction") return reaction(m.preview ?? value.emoji);
  if (body) return m.type === "template" && !m.preview ? text.templateOf(body) : body;
  return text.kinds[/** @type {"image"} */ (m.type)] ?? m.type;
}
