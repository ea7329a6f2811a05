/** The left pane: tabs, filter, search, and the list of conversations. */
import { computed, effect, el, flush, list, signal, when } from "../../dom.js";
import { count } from "../../format.js";
import { along } from "../../keys.js";
import { button, copyable, icon } from "../../parts/basics.js";
import { searchbox } from "../../parts/lists.js";
import { menu } from "../../parts/menu.js";
import { step as stepFocus } from "../../parts/popover.js";
import { empty, failed, skeleton } from "../../parts/states.js";
import { navigate, path, query, setQuery } from "../../router.js";
import { counts, number, sandbox } from "../../session.js";
import { keep, tabs } from "./conversations.js";
import { conversationRow } from "./row.js";
import { results } from "./search.js";
import { selectionBar } from "./selection.js";
import { refusalText } from "./sending.js";
import { list as text } from "texts/inbox.js";

/** How high a row is, and how many are on the page at once. */
const rowHeight = 64;
const most = 90;
const step = 30;

/**
 * @param {object} at
 * @param {ReturnType<typeof import("./conversations.js").conversations>} at.store
 * @param {() => string} at.current
 * @param {() => any[]} at.labels
 * @param {() => any[]} at.people
 * @param {(id: string | null) => string} at.personName
 * @param {ReturnType<typeof import("./selection.js").selection>} at.selected
 * @param {() => import("./sending.js").Refusal | null} at.refusal why nothing can be sent from this number
 * @param {ReturnType<typeof import("./views.js").views>} at.saved
 * @param {() => string} at.sort
 */
export function listPane({ store, current, labels, people, personName, selected, refusal, saved, sort }) {
  const words = () => query().get("search") ?? "";
  const tab = () => (tabs[query().get("tab") ?? ""] ? /** @type {string} */ (query().get("tab")) : "open");
  const labelOfView = () => saved.open()?.filter.label_id ?? "";
  return el("section.list-pane", { "aria-label": text.tabs },
    el("div", { role: "status" }, () => refusalNotice(refusal())),
    el("div.search", { role: "search" },
      icon("search"), searchbox(text.search, { id: "search-messages" }), el("kbd", { "aria-hidden": "true" }, "/")),
    tabList(() => (saved.open() ? saved.open().id : tab()), saved),
    el("div.list-tools", null,
      el("select", {
        "aria-label": text.filter,
        value: () => (labels(), query().get("label") ?? labelOfView()),
        onchange: (/** @type {any} */ event) => setQuery({ label: event.target.value }),
      },
        el("option", { value: "", disabled: () => labelOfView() !== "" }, text.anyLabel),
        list(labels, (one) => one.id, (one) => el("option", { value: one().id }, () => one().name))),
      el("select", {
        "aria-label": text.sort,
        value: () => sort() || "newest",
        onchange: (/** @type {any} */ event) => setQuery({ sort: event.target.value }),
      },
        Object.entries(text.sorts).map(([id, name]) => el("option", { value: id }, name))),
      saved.tools({ tab, label: () => query().get("label") ?? "", sort })),
    selectionBar({
      selected,
      number: () => number()?.phone_number_id ?? "",
      merge: store.merge,
      read: store.read,
      people,
      labels,
    }),
    el("div.list-body", { role: "tabpanel", id: "conversations", "aria-labelledby": () => "tab-" + (saved.open()?.id ?? tab()) },
      when(words, () => results(words, store, current), () => rows(store, { current, selected, personName }))));
}

/** @param {import("./sending.js").Refusal | null} refusal */
const refusalNotice = (refusal) => refusal && el("p.notice", null, refusalText(refusal));

/** How many saved views are tabs; the others are in a menu. */
const viewTabs = 3;

/** @param {() => string} chosen a tab or a view @param {ReturnType<typeof import("./views.js").views>} saved */
function tabList(chosen, saved) {
  const names = Object.entries(text.names);
  // The one that is open is always a tab.
  const shownViews = computed(() => {
    const all = saved.all();
    const at = all.findIndex((one) => one.id === chosen());
    return at < viewTabs ? all.slice(0, viewTabs) : [...all.slice(0, viewTabs - 1), all[at]];
  });
  const others = computed(() => saved.all().filter((one) => !shownViews().includes(one)));
  const open = (/** @type {string} */ next) => {
    const isView = next.startsWith("viw_");
    navigate(keep(path(), {
      tab: isView || next === "open" ? "" : next,
      view: isView ? next : "",
      label: isView ? "" : query().get("label") ?? "",
      search: "",
      sort: "",
    }));
  };
  const ids = () => [...names.map(([id]) => id), ...shownViews().map((one) => one.id)];
  const move = (/** @type {KeyboardEvent} */ event) => {
    const by = along(event);
    if (!by) return;
    event.preventDefault();
    const all = ids();
    open(all[(all.indexOf(chosen()) + by + all.length) % all.length]);
    flush();
    document.getElementById("tab-" + chosen())?.focus();
  };
  const tab = (/** @type {string} */ id, /** @type {any} */ name, /** @type {any} */ more) => el("button", {
    type: "button", role: "tab", id: "tab-" + id, "aria-selected": () => chosen() === id, "aria-controls": "conversations",
    tabindex: () => (chosen() === id ? "0" : "-1"), "aria-describedby": more ? "count-" + id : null, onclick: () => open(id),
  }, name, more);
  const number = (/** @type {string} */ id) => el("small", { id: "count-" + id, "aria-hidden": "true" },
    () => (counts()[id] === undefined ? "" : count(counts()[id])));
  const more = button(text.more, { look: "bare", icon: "down" });
  menu(more, text.more, () => others().map((one) => ({ name: one.name, run: () => open(one.id) })));
  return el("div.tabs", null,
    el("div.tab-list", { role: "tablist", "aria-label": text.tabs, onkeydown: move },
      names.map(([id, name]) => tab(id, name, number(id))),
      list(shownViews, (one) => one.id, (one) => tab(one().id, el("span", { dir: "auto" }, () => one().name), null))),
    when(() => others().length > 0, () => more));
}

/**
 * @param {ReturnType<typeof import("./conversations.js").conversations>} store
 * @param {Omit<import("./row.js").Context, "tabStop">} at
 */
function rows(store, at) {
  const from = signal(0);
  const focused = signal("");
  /** @type {HTMLElement} */
  let pane;
  const visible = computed(() => (store.shown() ?? []).slice(from(), from() + most));
  // Tab reaches one row only, so that what follows the list is near; arrows, j and k reach the others.
  const tabStop = computed(() => [focused(), at.current()].find((id) => visible().some((one) => one.id === id)) ?? visible()[0]?.id ?? "");
  const focus = (/** @type {any} */ event) => focused.set(event.target.dataset.conversation ?? "");
  const move = (/** @type {any} */ event) => event.target.dataset.conversation && stepFocus(event, [...pane.querySelectorAll("a")]);
  const after = computed(() => Math.max(0, (store.shown()?.length ?? 0) - from() - most));
  const scrolled = () => {
    store.setScrolled(pane.scrollTop > 4);
    const first = Math.floor(pane.scrollTop / rowHeight) - (most - step) / 2;
    from.set(Math.max(0, Math.floor(first / step) * step));
    if (pane.scrollHeight - pane.scrollTop - pane.clientHeight < 10 * rowHeight) store.more();
  };
  const toTop = () => {
    pane.scrollTop = 0;
    scrolled();
  };
  effect(() => {
    if (store.shown() === null && pane) pane.scrollTop = 0;
  });
  const pad = (/** @type {HTMLElement} */ node) => effect(() => {
    node.style.paddingBlock = `${from() * rowHeight}px ${after() * rowHeight}px`;
  });
  const phase = computed(() => {
    const shown = store.shown();
    if (shown) return shown.length > 0 ? "rows" : "empty";
    return store.failure() ? "failed" : number() ? "loading" : "nothing";
  });
  return [
    () => store.fresh() > 0 && el("p.fresh", { role: "status" }, button(text.fresh(store.fresh()), { look: "primary", run: toTop })),
    el("div.scroll", { ref: (/** @type {HTMLElement} */ node) => (pane = node), onscroll: scrolled, onpointermove: store.hold },
      () => {
        if (phase() === "failed") return failed(store.failure(), store.load);
        if (phase() === "empty") return noConversations();
        return phase() === "loading" && skeleton(6);
      },
      el("ul.conversations", { "aria-label": text.list, role: "list", ref: pad, onfocusin: focus, onkeydown: move },
        list(visible, (one) => one.id, (one) => conversationRow(one, { ...at, tabStop })))),
  ];
}

function noConversations() {
  const nothing = (counts().all ?? 0) === 0;
  if (!nothing) return empty({ icon: "check", title: text.done, body: text.doneBody });
  return empty({
    icon: "inbox",
    title: text.noConversations,
    body: text.noConversationsBody,
    action: sandbox && copyable(text.trigger, { name: text.command }),
  });
}
