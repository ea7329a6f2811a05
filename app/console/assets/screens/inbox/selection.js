/** Several conversations at once: which are selected, and the bar of what can be done with them. */
import { computed, el, signal, when } from "../../dom.js";
import { patch, post, remove } from "../../api.js";
import { listOf } from "../../format.js";
import { button } from "../../parts/basics.js";
import { confirmAction } from "../../parts/dialog.js";
import { toast, toastFailure } from "../../parts/notices.js";
import { openAssign } from "./assign.js";
import { nameOf } from "./conversations.js";
import { unsentIn } from "./drafts.js";
import { openLabels } from "./labels.js";
import { openSnooze } from "./snooze.js";
import { selection as text } from "texts/inbox.js";

/** How many can be selected, how many calls run at once, and how many failures are named. */
const most = 100;
const atOnce = 4;
const named = 3;

/**
 * selection is which of the conversations that are shown are selected.
 * @param {() => any[] | null} shown
 */
export function selection(shown) {
  const chosen = signal(/** @type {Set<string>} */ (new Set()));
  let anchor = "";
  const rows = computed(() => (shown() ?? []).filter((one) => chosen().has(one.id)));
  const set = (/** @type {Set<string>} */ next) => {
    if (next.size > most) return toast(text.most(most));
    chosen.set(next);
  };
  return {
    rows,
    /** Whether any are: rows changes with everything that happens in the list. */
    isActive: computed(() => rows().length > 0),
    has: (/** @type {string} */ id) => chosen().has(id),
    clear: () => chosen.set(new Set()),
    drop: (/** @type {string[]} */ ids) => chosen.set(new Set([...chosen.peek()].filter((id) => !ids.includes(id)))),
    /** toggle selects one, or not any more. @param {string} id */
    toggle(id) {
      anchor = id;
      const next = new Set(chosen.peek());
      if (!next.delete(id)) next.add(id);
      set(next);
    },
    /** extend selects all from the last that was selected to this one. @param {string} id */
    extend(id) {
      const ids = (shown() ?? []).map((one) => one.id);
      const [from, to] = [ids.indexOf(anchor), ids.indexOf(id)];
      if (from < 0 || !chosen.peek().has(anchor)) return this.toggle(id);
      set(new Set([...chosen.peek(), ...ids.slice(Math.min(from, to), Math.max(from, to) + 1)]));
    },
  };
}

/**
 * selectionBar is what can be done with those that are selected.
 * @param {object} at
 * @param {ReturnType<typeof selection>} at.selected
 * @param {() => string} at.number
 * @param {(...fresh: any[]) => void} at.merge
 * @param {(id: string) => Promise<any>} at.read
 * @param {() => any[]} at.people
 * @param {() => any[]} at.labels
 */
export function selectionBar({ selected, number, merge, read, people, labels }) {
  const path = (/** @type {string} */ id) => `v1/${number()}/conversations/${id}`;
  const busy = signal(false);

  /**
   * changeAll does something with each, and says what it was and what failed.
   * @param {"assign" | "label" | "snooze" | "resolve"} what
   * @param {any[]} all
   * @param {(one: any) => Promise<any>} run
   */
  const changeAll = async (what, all, run) => {
    const waiting = [...all];
    /** @type {{ one: any, error: any }[]} */
    const failures = [];
    const work = async () => {
      for (let one = waiting.shift(); one; one = waiting.shift()) {
        await run(one).then((fresh) => fresh && merge(fresh), (error) => failures.push({ one, error }));
      }
    };
    busy.set(true);
    await Promise.all(Array.from({ length: atOnce }, work));
    busy.set(false);

    const failedIDs = new Set(failures.map(({ one }) => one.id));
    const done = all.filter(({ id }) => !failedIDs.has(id));
    if (what === "resolve" || what === "snooze") selected.drop(done.map(({ id }) => id));
    if (done.length > 0) toast(text.done[what](done.length));
    if (failures.length > 0) toastFailure(text.failed[what](failures.length, all.length) + failureText(failures));
  };

  let before = Promise.resolve();
  /**
   * each does something with all that are selected now, once what was begun before is done.
   * @param {Parameters<typeof changeAll>[0]} what
   * @param {Parameters<typeof changeAll>[2]} run
   */
  const each = (what, run) => {
    const all = selected.rows();
    return (before = before.then(() => changeAll(what, all, run)));
  };

  const assign = button(text.assign, {
    icon: "person",
    "aria-haspopup": "dialog",
    "aria-expanded": "false",
    run: () => openAssign(assign, {
      people,
      assigned: () => null,
      choose: (person) => void each("assign", ({ id }) => patch(path(id), { assigned_to: person })),
    }),
  });
  const has = (/** @type {string} */ label) => {
    const rows = selected.rows();
    return rows.length > 0 && rows.every((one) => one.labels.some((/** @type {any} */ each) => each.id === label));
  };
  const label = button(text.label, {
    icon: "label",
    "aria-haspopup": "true",
    "aria-expanded": "false",
    run: () => openLabels(label, {
      labels,
      has,
      toggle: (chosen, on) => void each("label", async ({ id }) => {
        await (on ? post(path(id) + "/labels", { label_id: chosen }) : remove(`${path(id)}/labels/${chosen}`));
        return read(id);
      }),
    }),
  });
  // What somebody has not seen is neither put off nor ended.
  const seen = (/** @type {any} */ one) => one.last_message?.id ?? null;
  const snooze = button(text.snooze, {
    icon: "clock",
    "aria-haspopup": "dialog",
    "aria-expanded": "false",
    run: () => openSnooze(snooze, (until) => void each("snooze", (one) => patch(path(one.id), { snoozed_until: until, seen: seen(one) }))),
  });
  const resolve = async () => {
    const run = () => each("resolve", (one) => patch(path(one.id), { status: "resolved", seen: seen(one) }));
    const unsent = (await Promise.all(selected.rows().map((one) => unsentIn(one.id)))).filter(Boolean).length;
    if (unsent === 0) return run();
    return confirmAction({ title: text.unsent, body: text.unsentBody(unsent), action: text.resolveAnyway, send: run });
  };

  return when(selected.isActive, () => el("div.selected", {
    role: "toolbar", "aria-label": text.bar, "aria-busy": () => busy(),
  },
    button(text.clear, { icon: "close", look: "bare", iconOnly: true, run: selected.clear }),
    el("b", { role: "status" }, () => text.selected(selected.rows().length)),
    assign, label, snooze, button(text.resolve, { icon: "check", run: () => void resolve() })));
}

/** failureText names what failed, and why. @param {{ one: any, error: any }[]} failures */
function failureText(failures) {
  const names = failures.slice(0, named).map(({ one }) => nameOf(one.contact));
  const rest = failures.length - named;
  const reasons = new Set(failures.map(({ error }) => error.message));
  return listOf(names) + (rest > 0 ? text.others(rest) : "") + ". " + [...reasons].join(" ");
}
