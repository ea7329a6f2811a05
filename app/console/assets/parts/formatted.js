/** Texts as the network writes them: bold, italic, strike and code, and the places of variables. */
import { el } from "../dom.js";

const tags = { "*": "b", _: "i", "~": "s" };
const pattern = /\x60{3}([^\x60]+)\x60{3}|(?<![\p{L}\p{N}])([*_~])(?=\S)((?:(?!\2)[^\n])*?)(?<=\S)\2(?![\p{L}\p{N}])|\{\{\s*\w+\s*\}\}/gu;

/**
 * formatted is a text with its marks turned into elements. Nothing in it becomes markup.
 * @param {string} text
 * @returns {import("../dom.js").Child[]}
 */
export function formatted(text) {
  const out = [];
  let at = 0;
  for (const found of text.matchAll(pattern)) {
    const [whole, code, mark, inner] = found;
    out.push(text.slice(at, found.index));
    at = found.index + whole.length;
    if (code) out.push(el("code", null, code));
    else if (mark) out.push(el(tags[/** @type {"*"} */ (mark)], null, formatted(inner)));
    else out.push(el("span.hole", null, whole));
  }
  return [...out, text.slice(at)];
}
