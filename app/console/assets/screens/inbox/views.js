/** Saved views: lists of conversations under a name, one's own and those that an admin shares. */
import { computed, effect, when } from "../../dom.js";
import { patch, post, remove } from "../../api.js";
import { button } from "../../parts/basics.js";
import { confirmAction } from "../../parts/dialog.js";
import { formDialog, options } from "../../parts/form.js";
import { everyRow } from "../../parts/lists.js";
import { menu } from "../../parts/menu.js";
import { resource } from "../../parts/states.js";
import { navigate, path, query } from "../../router.js";
import { chosenNumber, isAdmin, me, number } from "../../session.js";
import { keep, tabs } from "./conversations.js";
import { views as text } from "texts/inbox.js";

const most = 200;

/** filtersOf are the filters of a view, as the server's list takes them. @param {any} view @returns {Record<string, string>} */
export function filtersOf(view) {
  const { status, assigned_to: who, label_id: label, unread, waiting, snoozed, mentioned } = view.filter;
  const given = {
    status,
    assigned_to: who,
    label_id: label,
    unread: unread ? "true" : "",
    waiting: waiting ? "true" : "",
    snoozed: snoozed === undefined ? "" : String(snoozed),
    mentioned,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value));
}

/** sortOf is how the list is ordered: as somebody chose, else as the view says; those who wait, the longest first. @param {any} view @param {string} tab */
export function sortOf(view, tab) {
  const chosen = query().get("sort") ?? (view ? view.sort ?? "" : tab === "waiting" ? "waiting" : "");
  return chosen === "waiting" ? "waiting" : "";
}

/** filterOf is what a tab and a label choose, as a view keeps it. @param {string} tab @param {string} label */
function filterOf(tab, label) {
  const { status, assigned_to: who, unread, waiting, snoozed, mentioned } = tabs[tab] ?? tabs.open;
  return {
    status,
    assigned_to: who,
    unread: unread && true,
    waiting: waiting && true,
    snoozed: snoozed === undefined ? undefined : snoozed === "true",
    mentioned,
    label_id: label || undefined,
  };
}

export function views() {
  const rows = resource((/** @type {AbortSignal} */ signal) => everyRow("v1/views", {}, most, signal), ["view"]);
  const known = computed(() => [.../** @type {any[]} */ (rows.data() ?? [])].sort((a, b) => a.name.localeCompare(b.name)));
  const isOfNumber = (/** @type {any} */ one) => !one?.phone_number_id || one.phone_number_id === number()?.phone_number_id;
  const all = computed(() => known().filter(isOfNumber));
  const open = computed(() => known().find((one) => one.id === query().get("view")) ?? null);
  const leave = () => navigate(keep(path(), { view: "" }));
  // A view of another number leads to that number; whoever then chooses another leaves the view.
  let shown = "";
  effect(() => {
    const one = open();
    if (!number()) return; // the numbers are not known yet
    if (isOfNumber(one)) shown = one?.id ?? "";
    else if (shown === one.id) queueMicrotask(leave);
    else chosenNumber.set(one.phone_number_id);
  });
  const fields = () => [
    { name: "name", label: text.name, required: true, props: { maxlength: 50, autocomplete: "off", dir: "auto" } },
    ...(isAdmin ? [{ name: "for", param: "shared", label: text.for, type: "radios", value: "me", options: options(text.people) }] : []),
  ];
  const valuesOf = (/** @type {any} */ { for: who, ...rest }) => ({ ...rest, ...(isAdmin && { shared: who === "all" }) });

  /** @param {{ tab: () => string, label: () => string, sort: () => string }} at */
  const save = ({ tab, label, sort }) => formDialog(text.save, {
    fields: fields(),
    submit: text.done,
    send: (values) => post("v1/views", { ...valuesOf(values), filter: filterOf(tab(), label()), sort: sort() || null }),
    done: async (made) => {
      await rows.reload();
      navigate(keep(path(), { view: made.id, tab: "", label: "", sort: "" }));
    },
  });
  const edit = (/** @type {any} */ one) => formDialog(text.rename, {
    fields: fields(),
    values: { name: one.name, for: one.shared ? "all" : "me" },
    submit: text.done,
    send: (values) => patch("v1/views/" + one.id, valuesOf(values)),
    done: () => void rows.reload(),
  });
  const drop = (/** @type {any} */ one) => confirmAction({
    title: text.deleteTitle(one.name),
    body: one.shared ? text.sharedBody : text.deleteBody,
    action: text.delete,
    send: async () => {
      await remove("v1/views/" + one.id);
      leave();
      await rows.reload();
    },
  });

  return {
    all,
    open,
    /** tools are what can be done: save what is shown, or change the view that is open. @param {{ tab: () => string, label: () => string, sort: () => string }} at */
    tools: (at) => when(() => Boolean(open()), () => {
      if (!isAdmin && open()?.owner_id !== me.peek().id) return null;
      const more = button(text.options, { icon: "more", look: "bare", iconOnly: true });
      menu(more, text.options, () => [
        { name: text.rename, run: () => void edit(open()) },
        { name: text.delete, danger: true, run: () => void drop(open()) },
      ]);
      return more;
    }, () => button(text.save, { icon: "plus", look: "bare", iconOnly: true, run: () => void save(at) })),
  };
}
