/** Tests of parts/formatted.js, run in a browser. Each is a function; a thrown error is a failure. */
import { append, el } from "./dom.js";
import { words } from "./parts/formatted.js";

/** @param {string} text */
const shown = (text) => {
  const place = el("p");
  append(place, words(text));
  return place;
};

/** @param {string} text @param {string} want */
function shows(text, want) {
  const got = shown(text).innerHTML.replace(/ (title|target|rel)="[^"]*"/g, "");
  if (got !== want) throw new Error(`${text}: got ${got}, want ${want}`);
}

export const tests = {
  "marks are around words"() {
    shows("a *b* c", "a <b>b</b> c");
    shows("*a _b_*", "<b>a <i>b</i></b>");
    shows("a*b*c", "a*b*c");
    shows("* a*", "* a*");
  },

  "a mark within a link is part of it"() {
    shows("https://x.test/_a_ _b_", `<a href="https://x.test/_a">https://x.test/_a</a>_ <i>b</i>`);
    shows("https://x.test/?_a=_b _c_", `<a href="https://x.test/?_a=_b">https://x.test/?_a=_b</a> <i>c</i>`);
    shows("https:// _c_", "https:// <i>c</i>");
  },
};
