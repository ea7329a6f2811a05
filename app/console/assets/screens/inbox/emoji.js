/** The emoji picker: emoji in groups, and a search by the words that people have for them. */
import { computed, el, signal } from "../../dom.js";
import { along } from "../../keys.js";
import { foldWords } from "../../parts/marked.js";
import { popover } from "../../parts/popover.js";
import { emoji as text, groups } from "texts/emoji.js";

/** @type {Record<string, string>} */
const words = Object.assign({}, ...Object.values(groups));

/** What people react with most. */
const quick = ["👍", "❤️", "😂", "😮", "😢", "🙏"];
/** @param {string} emoji */
const isQuick = (emoji) => quick.includes(emoji);

/** All there are, and those to react with: first what people react with most. */
export const all = Object.values(groups).map((one) => Object.keys(one));
const toReact = [groups.faces, groups.hands, groups.things].map((one) => Object.keys(one));
export const reactions = [toReact.flat().filter(isQuick), ...toReact.map((set) => set.filter((one) => !isQuick(one)))];

/** find lists the emoji that have a word beginning with each that was typed. @param {string[][]} sets @param {string} typed */
function find(sets, typed) {
  const wanted = foldWords(typed.trim()).split(/\s+/);
  const fits = (/** @type {string} */ emoji) => wanted.every((word) => (" " + foldWords(words[emoji])).includes(" " + word));
  return sets.flat().filter(fits);
}

/**
 * openPicker shows emoji beside a button.
 * @param {HTMLElement} opener
 * @param {string} name
 * @param {string[][]} sets
 * @param {(emoji: string) => void} choose
 */
export function openPicker(opener, name, sets, choose) {
  const typed = signal("");
  const shown = computed(() => (typed().trim() ? [find(sets, typed())] : sets));
  popover(opener, { role: "dialog", "aria-label": name, class: "menu popover emoji" }, (close) => {
    const pick = (/** @type {string} */ emoji) => {
      close();
      choose(emoji);
    };
    const press = (/** @type {KeyboardEvent} */ event) => {
      const first = shown()[0]?.[0];
      if (event.key === "Enter" && typed().trim() && first && event.target instanceof HTMLInputElement) pick(first);
      else if (!move(event)) return;
      event.preventDefault();
    };
    return el("div", { onkeydown: press },
      el("input", {
        type: "search", "aria-label": text.search, placeholder: text.search, autocomplete: "off",
        oninput: (/** @type {any} */ event) => typed.set(event.target.value),
      }),
      el("div.emoji-sets", null, () => shown().map((set) => el("div", null, set.map((emoji) =>
        el("button", { type: "button", title: words[emoji], onclick: () => pick(emoji) }, emoji))))),
      el("p.none", { role: "status" }, () => (shown().flat().length === 0 ? text.none : "")));
  });
}

/** move goes through the emoji by arrows, up and down by rows, and from and to the search. It reports whether it did. @param {KeyboardEvent} event */
function move(event) {
  const box = /** @type {HTMLElement} */ (event.currentTarget);
  const buttons = [...box.querySelectorAll("button")];
  const at = buttons.indexOf(/** @type {any} */ (document.activeElement));
  if (at < 0) {
    if (event.key !== "ArrowDown") return false;
    buttons[0]?.focus();
    return true;
  }
  const { x, y } = buttons[at].getBoundingClientRect();
  const inRow = (/** @type {HTMLElement[]} */ row) => {
    const { y: top } = row[0]?.getBoundingClientRect() ?? { y: 0 };
    return row.filter((one) => one.getBoundingClientRect().y === top)
      .reduce((near, one) => (Math.abs(one.getBoundingClientRect().x - x) < Math.abs(near.getBoundingClientRect().x - x) ? one : near), row[0]);
  };
  const by = along(event);
  const to = by ? () => buttons[at + by] : {
    ArrowDown: () => inRow(buttons.slice(at).filter((one) => one.getBoundingClientRect().y > y)),
    ArrowUp: () => inRow(buttons.slice(0, at).reverse().filter((one) => one.getBoundingClientRect().y < y)) ?? box.querySelector("input"),
  }[event.key];
  to?.()?.focus();
  return Boolean(to);
}
