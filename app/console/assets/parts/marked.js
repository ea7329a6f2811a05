/** The words that were looked for, marked in a line of what was found. */
import { el } from "../dom.js";

/** fold is a letter as a search sees it: without case and accents. @param {string} letter */
const fold = (letter) => letter.toLocaleLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");

/** foldWords is fold for a whole text. @param {string} text */
export const foldWords = (text) => [...text].map(fold).join("");

/** How much of a text stands before the first word that is marked. */
const before = 32;

/**
 * ranges are where the words of a query begin in a text, and where they end.
 * @param {string[]} letters
 * @param {string} query
 */
function ranges(letters, query) {
  const folded = letters.map(fold);
  const isLetter = (/** @type {string | undefined} */ one) => one !== undefined && /[\p{L}\p{N}]/u.test(one);
  const words = foldWords(query).match(/[\p{L}\p{N}]+/gu) ?? [];
  /** @type {[number, number][]} */
  const found = [];
  for (let at = 0; at < letters.length; at++) {
    if (!isLetter(letters[at]) || isLetter(letters[at - 1])) continue;
    let end = at;
    while (isLetter(letters[end])) end++;
    const word = folded.slice(at, end).join("");
    if (words.some((one) => word.startsWith(one))) found.push([at, end]);
    at = end;
  }
  return found;
}

/**
 * marked is a line of a text that begins shortly before the first word of a query.
 * @param {string} text
 * @param {string} query
 * @returns {import("../dom.js").Child}
 */
export function marked(text, query) {
  const letters = [...text.replace(/\s+/g, " ").slice(0, 8000)];
  const found = ranges(letters, query);
  const first = found[0]?.[0] ?? 0;
  const start = first > before ? letters.indexOf(" ", first - before) + 1 || first : 0;
  /** @type {any[]} */
  const parts = [start > 0 && "…"];
  let at = start;
  for (const [from, to] of found.filter(([from]) => from >= start && from < start + 200)) {
    parts.push(letters.slice(at, from).join(""), el("mark", null, letters.slice(from, to).join("")));
    at = to;
  }
  return [...parts, letters.slice(at, start + 240).join("")];
}
