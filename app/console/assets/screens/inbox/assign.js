/** Whose a conversation is: a list of the team to choose from, with a search. */
import { computed, el, list, signal } from "../../dom.js";
import { face } from "../../parts/basics.js";
import { foldWords } from "../../parts/marked.js";
import { popover } from "../../parts/popover.js";
import { me } from "../../session.js";
import { assign as text } from "texts/inbox.js";

/**
 * openAssign lets somebody be chosen, or nobody.
 * @param {Element} beside
 * @param {object} at
 * @param {() => any[]} at.people
 * @param {() => string | null} at.assigned who it is now; null: it may be anybody
 * @param {(person: string | null) => void} at.choose
 */
export function openAssign(beside, { people, assigned, choose }) {
  popover(beside, { role: "dialog", "aria-label": text.assign }, (close) => {
    const typed = signal("");
    const chosen = signal(""); // by id: the list may change while it is open
    const at = () => Math.max(0, shown().findIndex(({ id }) => id === chosen()));
    const fits = (/** @type {any} */ one) => foldWords(`${one.name} ${one.email ?? ""}`).includes(foldWords(typed().trim()));
    // Whoever opens it mostly takes the conversation, or gives it to somebody else.
    const shown = computed(() => {
      const team = people().filter((one) => one.status !== "disabled" && one.id !== assigned());
      const [own, others] = [team.filter((one) => one.id === me().id), team.filter((one) => one.id !== me().id)];
      const nobody = assigned() === "" ? [] : [{ id: "", name: text.nobody }];
      return [...own, ...others, ...nobody].filter(fits);
    });

    const take = (/** @type {any} */ one) => {
      close();
      if (one) choose(one.id || null);
    };
    const press = (/** @type {KeyboardEvent} */ event) => {
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const total = shown().length;
      if (by && total > 0) chosen.set(shown()[(at() + by + total) % total].id);
      else if (event.key === "Enter" && !event.isComposing) take(shown()[at()]);
      else return;
      event.preventDefault();
      queueMicrotask(() => document.getElementById("person-" + shown()[at()]?.id)?.scrollIntoView({ block: "nearest" }));
    };
    return [
      el("input", {
        type: "search", "aria-label": text.search, placeholder: text.search, autocomplete: "off", spellcheck: "false",
        "aria-controls": "assign-people", "aria-activedescendant": () => (shown()[at()] ? "person-" + shown()[at()].id : null),
        onkeydown: press,
        oninput: (/** @type {any} */ event) => {
          typed.set(event.target.value);
          chosen.set(shown()[0]?.id ?? "");
        },
      }),
      el("ul.assign-people", { id: "assign-people", role: "listbox", tabindex: "0", "aria-label": text.people, onkeydown: press },
        list(shown, (one) => one.id, (one) => el("li", {
          role: "option",
          id: "person-" + one().id,
          "aria-selected": () => shown()[at()]?.id === one().id,
          onclick: () => take(one()),
          onmousemove: () => chosen.set(one().id),
        },
          () => (one().id ? face(one().name ?? one().email) : el("span.face.nobody", { "aria-hidden": "true" })),
          el("span", { dir: "auto" }, () => one().name ?? one().email),
          one().id === me().id && el("small", { "aria-hidden": "true" }, text.you)))),
      el("p.none", { role: "status" }, () => (shown().length === 0 ? text.none : "")),
    ];
  });
}
