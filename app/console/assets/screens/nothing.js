/** Addresses that show nothing, or not to this person. */
import { el } from "../dom.js";
import { empty } from "../parts/states.js";
import { link } from "../router.js";
import { nothing as text } from "texts/shell.js";

/** @type {import("../router.js").Build} */
export default function nothing() {
  const home = el("a.button", { href: link("inbox") }, text.back);
  return {
    title: text.title,
    body: el("div.page", null, empty({ icon: "search", level: "h1", title: text.title, body: el("p", null, text.body), action: home })),
  };
}
