/** Small parts: icons, buttons, chips, faces, labels, headings, texts to copy. */
import { el, signal, svg } from "../dom.js";
import { hue, initials } from "../format.js";
import icons from "../icons.svg";
import { guides, root } from "../session.js";
import { copying as copyText, guide as guideText, words } from "texts/parts.js";

/** @typedef {import("../dom.js").Child} Child */

const file = new URL(icons, import.meta.url).pathname;

/**
 * icon shows an icon. It is never the only name of a control.
 * @param {string} name
 */
export const icon = (name) => svg("svg.icon", { "aria-hidden": "true" }, svg("use", { href: file + "#" + name }));

/**
 * @typedef {object} ButtonOptions
 * @property {string} [icon]
 * @property {"primary" | "danger" | "destructive" | "bare" | "plain"} [look]
 * @property {boolean} [iconOnly] the text is for those who do not see the icon
 * @property {() => void} [run]
 */

/**
 * button builds a button. More properties go to the element.
 * @param {string | (() => string)} name
 * @param {ButtonOptions & import("../dom.js").Props} [options]
 * @returns {HTMLButtonElement}
 */
export function button(name, { icon: drawing, look = "plain", iconOnly = false, run, ...props } = {}) {
  const tag = "button.button." + look + (iconOnly ? ".round" : "");
  return el(tag, { type: "button", onclick: run && (() => run()), title: iconOnly ? name : null, ...props },
    drawing && icon(drawing),
    el(iconOnly ? "span.unseen" : "span", null, name),
  );
}

/** splitWords reads a list that somebody typed. @param {string | undefined} words */
export const splitWords = (words) => (words ?? "").split(/[,،、，;؛；\n]/).map((one) => one.trim()).filter(Boolean);

/** upper begins words as a sentence does. @param {string} words */
export const upper = (words) => words.charAt(0).toUpperCase() + words.slice(1);

/** wordOf is a state of the API in words. @param {string} state */
export const wordOf = (state) => words[/** @type {"active"} */ (state)] ?? state.replaceAll("_", " ");

/**
 * chip says a state in a word.
 * @param {string} word
 * @param {"good" | "warn" | "bad" | "calm" | "quiet"} tone
 */
export const chip = (word, tone) => el("span.chip." + tone, null, word);

/**
 * face shows the initials of a person, who has no picture.
 * @param {string} name
 */
export const face = (name) => el("span.face.hue-" + hue(name), { "aria-hidden": "true" }, initials(name));

/**
 * dot is the colour of a label. The name is beside it.
 * @param {string} color
 */
export const dot = (color) => el("span.dot.label-" + color, { "aria-hidden": "true" });

/** guideLink leads to the guide to the screen that is open, if there is one. */
function guideLink() {
  const guide = guides[location.pathname.slice(root.pathname.length)];
  return guide && el("a.guide", { href: new URL(guide, root).href }, guideText);
}

/**
 * heading is what a page begins with: its one h1, what it is about, and what can be done.
 * @param {string | (() => string)} title
 * @param {{ lead?: Child, actions?: Child, beside?: Child, crumb?: Child }} [more]
 */
export function heading(title, { lead, actions, beside, crumb } = {}) {
  const guide = guideLink();
  return el("header.heading", null,
    crumb && el("p.crumb", null, crumb),
    el("div.heading-line", null, el("h1", { tabindex: "-1" }, title), beside, actions && el("div.actions", null, actions)),
    (lead || guide) && el("p.lead", null, lead, " ", guide));
}

/**
 * section is a part of a page with a heading of its own.
 * @param {string} title
 * @param {{ lead?: Child, actions?: Child }} more
 * @param {...Child} children
 */
export function section(title, { lead, actions }, ...children) {
  return el("section.section", null,
    el("div.heading-line", null, el("h2", null, title), actions && el("div.actions", null, actions)),
    lead && el("p.lead", null, lead),
    children);
}

/**
 * copy puts a text on the clipboard, or selects the element that shows it where the
 * browser gives no clipboard. It reports whether it was copied.
 * @param {string} value
 * @param {HTMLElement} shown
 */
async function copy(value, shown) {
  try {
    await navigator.clipboard.writeText(value);
    return true;
  } catch {
    getSelection()?.selectAllChildren(shown);
    return false;
  }
}

/**
 * copyable shows a text with a button beside it. The text is selected by one click.
 * @param {string} value
 * @param {{ name: string, block?: boolean }} options what it is; block: on a ground of its own, with the word on the button
 */
export function copyable(value, { name, block = false }) {
  const copyStatus = signal("");
  /** @type {HTMLElement} */
  const shown = el("code", { translate: "no", tabindex: block ? "0" : null }, value);
  const run = async () => {
    const copied = await copy(value, shown);
    copyStatus.set(copied ? copyText.copied : copyText.select);
    setTimeout(() => copyStatus.set(""), copied ? 2000 : 8000); // there is something to do
  };
  const press = block
    ? el("button.button", { type: "button", onclick: run }, el("span", null, copyText.copy), el("span.unseen", null, " " + name))
    : button(copyText.copyOf(name), { icon: "copy", look: "bare", iconOnly: true, run });
  return el(block ? "div.copyable.block" : "span.copyable", null, shown, press, el("span.copied", { role: "status" }, () => copyStatus()));
}
