/** The labels of conversations: a box for each label. */
import { el, list } from "../../dom.js";
import { dot, button } from "../../parts/basics.js";
import { popover, step } from "../../parts/popover.js";
import { isAdmin } from "../../session.js";
import { labels as text } from "texts/inbox.js";

/**
 * openLabels shows a box for each label. The first of them has the focus.
 * @param {Element} beside
 * @param {object} at
 * @param {() => any[] | undefined} at.labels
 * @param {(id: string) => boolean} at.has
 * @param {(id: string, on: boolean) => void} at.toggle
 * @param {() => Promise<any>} [at.make] makes a label where there is none yet
 */
export function openLabels(beside, at) {
  popover(beside, {
    role: "group",
    "aria-label": text.labels,
    onkeydown: (/** @type {any} */ event) => {
      const { target, currentTarget } = event;
      if (step(event, [...currentTarget.querySelectorAll("input, button")])) return;
      if (event.key !== "Enter" || target.type !== "checkbox") return;
      event.preventDefault();
      target.click();
    },
  }, (close) => {
    const make = async () => {
      close();
      await at.make?.();
      if (beside.isConnected) openLabels(beside, at);
    };
    return el("div.label-choice", null,
      list(() => at.labels() ?? [], (one) => one.id, (one) => el("label", null,
        el("input", {
          type: "checkbox",
          checked: () => at.has(one().id),
          onchange: (/** @type {any} */ event) => at.toggle(one().id, event.target.checked),
        }),
        () => dot(one().color), el("span", { dir: "auto" }, () => one().name))),
      () => at.labels()?.length === 0 && el("p.none", null, text.none),
      isAdmin && at.make && button(text.make, { icon: "plus", look: "bare", run: make }));
  });
}
