/** Writing a note: a text for colleagues, in which @ names one of them. */
import { computed, effect, el, flush, list, signal } from "../../dom.js";
import { button, face, icon } from "../../parts/basics.js";
import { foldWords } from "../../parts/marked.js";
import { toastError } from "../../parts/notices.js";
import { me } from "../../session.js";
import { draftOf, noDraft } from "./drafts.js";
import { noteForm as text } from "texts/composer.js";

const longest = 4096;
const mostPeople = 20;

/** The name that is being typed after an @, before the caret. @param {HTMLTextAreaElement} box */
const typedName = (box) => box.value.slice(0, box.selectionStart).match(/(?:^|\s)@([^@\n]{0,40})$/)?.[1];

/** teamOf are those who can be named. @param {any[]} people */
const teamOf = (people) => people.filter((one) => one.status !== "disabled" && one.name);

/** mentionsIn are those whom a text names by an @: long names first, or Ann would be named by @Ann Lee. @param {string} words @param {any[]} people */
export function mentionsIn(words, people) {
  let rest = words;
  const named = teamOf(people).sort((a, b) => b.name.length - a.name.length).filter(({ name }) => {
    const before = rest;
    rest = rest.replaceAll("@" + name, "");
    return rest !== before;
  });
  return named.map((one) => one.id).slice(0, mostPeople);
}

/** @param {any} at */
export function noteForm(at) {
  const draft = draftOf(at.id + ".note");
  const value = () => draft.value().text;
  const asked = signal(/** @type {string | undefined} */ (undefined));
  const chosen = signal(0);
  const busy = signal(false);
  /** @type {HTMLTextAreaElement} */
  let box;

  const fitting = computed(() => {
    const name = asked();
    if (name === undefined) return [];
    const begins = (/** @type {any} */ one) => one.name !== name && foldWords(one.name).startsWith(foldWords(name));
    return teamOf(at.people()).filter((one) => one.id !== me().id && begins(one)).slice(0, 8);
  });
  const excess = computed(() => [...value()].length - longest);
  const canAdd = () => value().trim() !== "" && excess() <= 0 && !busy();

  const setText = (/** @type {string} */ next) => {
    draft.change({ text: next, error: null });
    flush();
  };
  const type = () => {
    setText(box.value);
    asked.set(typedName(box));
    chosen.set(0);
  };
  const choose = (/** @type {any} */ one) => {
    const end = box.selectionStart;
    box.setRangeText(one.name + " ", end - (asked() ?? "").length, end, "end");
    asked.set(undefined);
    setText(box.value);
    box.focus();
  };
  const submit = async () => {
    if (!canAdd()) return;
    busy.set(true);
    try {
      await at.addNote(value().trim(), mentionsIn(value(), at.people()));
      draft.set(noDraft);
      at.toNewest();
    } catch (error) {
      toastError(error); // the text stays
    }
    busy.set(false);
    box.focus();
  };
  const press = (/** @type {KeyboardEvent} */ event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const total = fitting().length;
    if (by && total) chosen.set((chosen() + by + total) % total);
    else if ((event.key === "Enter" || event.key === "Tab") && total) choose(fitting()[chosen()]);
    else if (event.key === "Escape" && total) asked.set(undefined);
    else if (event.key === "Escape") box.blur();
    else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) void submit();
    else return;
    event.preventDefault();
  };
  const mention = () => {
    box.focus();
    box.setRangeText(/(^|\s)$/.test(box.value.slice(0, box.selectionStart)) ? "@" : " @", box.selectionStart, box.selectionEnd, "end");
    type();
  };

  effect(() => {
    const now = value();
    if (box && box.value !== now) box.value = now; // it was written in another tab, or added
  });
  return el("form.write.note-form", { onsubmit: () => void submit() },
    el("div.write-box", null,
      () => fitting().length > 0 && el("ul.quick", { role: "listbox", id: "mention-people", "aria-label": text.people },
        list(fitting, (one) => one.id, (one) => el("li", {
          role: "option", id: "mention-" + one().id, "aria-selected": () => fitting()[chosen()]?.id === one().id, onclick: () => choose(one()),
        }, face(one().name), el("span", { dir: "auto" }, one().name)))),
      el("textarea", {
        "aria-label": text.note, rows: 1, dir: "auto", placeholder: text.placeholder, value: value(),
        ref: (/** @type {HTMLTextAreaElement} */ node) => (box = node), oninput: type, onkeydown: press,
        "aria-controls": () => (fitting().length ? "mention-people" : null),
        "aria-activedescendant": () => (fitting()[chosen()] ? "mention-" + fitting()[chosen()].id : null),
        "aria-invalid": () => (excess() > 0 ? "true" : null), "aria-describedby": "note-hint",
      }),
      el("div.write-tools", null,
        button(text.mention, { icon: "person", look: "bare", iconOnly: true, run: mention }),
        el("button.button.primary", { type: "submit", "aria-disabled": () => !canAdd() }, icon("lock"), el("span", null, text.add)))),
    el("p.write-note", { id: "note-hint" },
      () => (excess() > 0 ? el("span.wrong", null, text.tooLong(excess())) : el("span", null, text.hint))));
}
