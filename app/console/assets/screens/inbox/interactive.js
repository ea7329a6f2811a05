/** Buttons and lists in the composer. */
import { el } from "../../dom.js";
import { button } from "../../parts/basics.js";
import { formDialog } from "../../parts/form.js";
import { buttonFields, fill, listFields, namesIn, read } from "../../parts/interactive.js";
import { interactive as text } from "texts/composer.js";

/** openButtons asks for 1 to 3 buttons. @param {any} given those that there are @param {(made: any) => void} done */
export const openButtons = (given, done) =>
  formDialog(text.buttons, { fields: buttonFields(), values: fill(given), submit: text.add, send: async (values) => read(values), done });

/** openList asks for the rows of a list. @param {any} given @param {(made: any) => void} done */
export const openList = (given, done) =>
  formDialog(text.list, { fields: listFields(), values: fill(given), submit: text.add, send: async (values) => read(values), done });

/** attached shows what can be tapped below the text that is being written. @param {any} given @param {() => void} remove */
export const attached = (given, remove) => el("div.answered", null,
  el("p.quote", { dir: "auto" }, el("b", null, given.type === "list" ? text.list : text.buttons), el("span", null, namesIn(given))),
  button(given.type === "list" ? text.removeList : text.removeButtons, { icon: "close", look: "bare", iconOnly: true, run: remove }));
