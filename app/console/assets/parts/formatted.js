/**
 * What people write, with links, bold, italic, strike and code as the network has them:
 * as elements, never as markup.
 *
 * *bold*, _italic_ and ~strike~ are around words, not around spaces, and may hold each
 * other; `code` and ```code``` hold only text. Each mark is looked at once or twice, so
 * that a long text of nothing but marks takes no longer than another.
 */
import { el } from "../dom.js";

/** @typedef {import("../dom.js").Child} Child */

const tags = { "*": "b", _: "i", "~": "s" };
/** Texts that are longer are shown as they are. */
const longest = 8192;
const link = /https?:\/\/[^\s<>"]+|[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{2,63}){1,5}/g;
const address = /https?:\/\/\S+/g;
/** What a link does not end with. */
const tail = ".,;:!?'*_~)]}";
/** The mark of code: written so that it is not taken for the beginning of a text. */
const tick = "\x60";
const fence = tick.repeat(3);
const inWord = /[\p{L}\p{N}]/u;

/**
 * words shows a text.
 * @param {string} text
 * @param {(plain: string) => Child} [rest] shows what has no marks, by its links
 * @returns {Child}
 */
export function words(text, rest = links) {
  return text.length > longest ? text : format(text, "", rest);
}

/**
 * @param {string} text
 * @param {string} inside the marks around it
 * @param {(plain: string) => Child} rest
 * @returns {Child[]}
 */
function format(text, inside, rest) {
  /** @type {Child[]} */
  const parts = [];
  const addresses = [...text.matchAll(address)];
  /** Marks that have no end from here on. */
  const open = new Set();
  let plain = 0;
  for (let at = 0; at < text.length; at++) {
    const mark = text[at];
    const width = mark === tick && text.startsWith(fence, at) ? 3 : 1;
    if (!("*_~" + tick).includes(mark) || open.has(mark + width) || inside.includes(mark)) continue;
    const end = isWithin(addresses, at) && mark !== tick ? -1 : closing(text, at, mark, width);
    if (end < 0) {
      if (end === -2) open.add(mark + width);
      continue;
    }
    const inner = text.slice(at + width, end);
    parts.push(rest(text.slice(plain, at)));
    parts.push(mark === tick ? el(width === 3 ? "code.block" : "code", null, inner) : el(
      tags[/** @type {"*"} */ (mark)],
      null,
      format(inner, inside + mark, rest),
    ));
    at = end + width - 1;
    plain = at + 1;
  }
  parts.push(rest(text.slice(plain)));
  return parts;
}

/**
 * closing finds where a mark ends: -1 if it is none here, -2 if there is none of its kind.
 * @param {string} text
 * @param {number} at
 * @param {string} mark
 * @param {number} width
 */
function closing(text, at, mark, width) {
  const code = mark === tick;
  const from = at + width;
  if (!code && (inWord.test(text[at - 1] ?? "") || !/\S/.test(text[from] ?? ""))) return -1;

  const token = mark.repeat(width);
  const line = width === 3 ? -1 : text.indexOf("\n", from);
  let tries = 0;
  for (let end = text.indexOf(token, from); end >= 0 && (line < 0 || end < line); end = text.indexOf(token, end + 1)) {
    if (++tries > 50) return -1;
    if (end === from) continue;
    if (code || (/\S/.test(text[end - 1]) && !inWord.test(text[end + 1] ?? ""))) return end;
  }
  return text.indexOf(token, from) < 0 ? -2 : -1;
}

/**
 * isWithin reports whether a place lies within one of the addresses of a text.
 * @param {RegExpExecArray[]} addresses
 * @param {number} at
 */
const isWithin = (addresses, at) => addresses.some((one) => at > one.index && at < one.index + one[0].length);

/** withoutTail is a link without the marks and stops that follow it. @param {string} link */
function withoutTail(link) {
  let end = link.length;
  while (end > 0 && tail.includes(link[end - 1])) end--;
  return link.slice(0, end);
}

/** @param {string} text @returns {Child} */
function links(text) {
  /** @type {Child[]} */
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(link)) {
    const target = withoutTail(found[0]);
    parts.push(text.slice(from, found.index), outside(target.includes("://") ? target : "mailto:" + target, target));
    from = found.index + target.length;
  }
  parts.push(text.slice(from));
  return parts;
}

/**
 * outside is a link that leads away, and says where.
 * @param {string} href
 * @param {Child} shown
 */
export const outside = (href, shown) => el("a", { href, title: href, ...away }, shown);

/** away lets a link open beside the console, without a referrer. */
export const away = { target: "_blank", rel: "noopener noreferrer" };
