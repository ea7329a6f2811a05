/** Quick replies: answers that are given often, one keystroke away. */
import { computed, effect, el, list, scope, signal } from "../../dom.js";
import { namesIn } from "../../parts/interactive.js";
import { everyRow } from "../../parts/lists.js";
import { fillName } from "../../parts/merge_fields.js";
import { link } from "../../router.js";
import { quickReplies as text } from "texts/composer.js";

/** shown is a quick reply in a line. @param {any} one */
const shown = (one) => one.text + (one.interactive ? ` [${namesIn(one.interactive)}]` : "");

/** @type {any[] | null} */
let known = null;

/**
 * openQuickReplies shows the list above the text; the text after the / narrows it.
 * @param {object} at
 * @param {import("../../dom.js").Signal<any>} at.picker the list open above the text
 * @param {HTMLTextAreaElement} at.box
 * @param {() => string} at.name of the person
 * @param {(text: string) => void} at.insert
 * @param {(text: string) => void} at.setText
 * @param {() => string} at.value
 * @param {(interactive: any) => void} at.add adds buttons or a list
 */
export function openQuickReplies({ picker, box, name, insert, setText, value, add }) {
  box.focus();
  if (picker()) return;
  const asked = () => value().match(/^\/(\S*)$/)?.[1];
  const close = () => {
    dispose();
    picker.set(null);
  };
  const choose = (/** @type {any} */ one) => {
    const filled = fillName(one.text, name());
    close();
    if (asked() !== undefined) setText("");
    insert(filled);
    if (one.interactive) add(one.interactive);
  };
  const [opened, dispose] = scope(() => choice(() => asked()?.toLowerCase() ?? "", choose));

  picker.set({
    view: opened.view,
    active: () => opened.chosen() && "quick-" + opened.chosen().id,
    filter: () => asked() === undefined && value() !== "" && close(),
    close,
    /** @param {KeyboardEvent} event */
    press(event) {
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (by && opened.chosen()) opened.move(by);
      else if ((event.key === "Enter" || event.key === "Tab") && opened.chosen()) choose(opened.chosen());
      else if (event.key === "Escape") close();
      else return false;
      return true;
    },
  });
}

/**
 * choice is the list of those that fit, and which of them is chosen.
 * @param {() => string} typed
 * @param {(one: any) => void} choose
 */
function choice(typed, choose) {
  const all = signal(known);
  const at = signal(0);
  const fits = (/** @type {any} */ one) => `${one.shortcut} ${one.text}`.toLowerCase().includes(typed());
  const fitting = computed(() => (all() ?? []).filter(fits).slice(0, 50));
  const chosen = () => fitting()[Math.min(at(), fitting().length - 1)];
  effect(() => {
    typed();
    at.set(0);
  });
  everyRow("v1/quick_replies", {}, 1000).then((rows) => all.set((known = rows)), () => all.set(known ?? []));

  const view = el("ul.quick", { role: "listbox", id: "quick-replies", tabindex: "0", "aria-label": text.list },
    list(fitting, (one) => one.id, (one) => el("li", {
      role: "option",
      id: "quick-" + one().id,
      "aria-selected": () => chosen()?.id === one().id,
      onclick: () => choose(one()),
    },
      el("b", null, "/" + one().shortcut), el("span", { dir: "auto" }, () => shown(one())))),
    () => all() && fitting().length === 0 && el("li.none", { role: "presentation" },
      all()?.length ? text.none : [text.empty, " ", el("a", { href: link("settings/quick-replies") }, text.make)],
    ));
  return { view, chosen, move: (/** @type {number} */ by) => at.set((at() + by + fitting().length) % fitting().length) };
}
