/** The left pane: tabs, filter, search, and the list of conversations. */
import { computed, effect, el, flush, list, signal, when } from "../../dom.js";
import { count } from "../../format.js";
import { button, copyable, icon } from "../../parts/basics.js";
import { searchbox } from "../../parts/lists.js";
import { step as stepFocus } from "../../parts/popover.js";
import { empty, failed, skeleton } from "../../parts/states.js";
import { navigate, path, query, setQuery } from "../../router.js";
import { counts, number, sandbox } from "../../session.js";
import { keep, tabs } from "./conversations.js";
import { conversationRow } from "./row.js";
import { results } from "./search.js";
import { selectionBar } from "./selection.js";
import { refusalText } from "./sending.js";

const text = {
  tabs: "Inbox",
  names: { open: "Open", mine: "Mine", unassigned: "Unassigned", unread: "Unread", resolved: "Resolved", all: "All" },
  filter: "Filter by label",
  anyLabel: "Any label",
  search: "Search messages",
  list: "Conversations",
  fresh: (/** @type {number} */ n) => count(n) + " new",
  noConversations: "Nobody has written yet",
  noConversationsBody: "When someone writes to your number, the conversation appears here.",
  trigger: "confab trigger inbound --from +15550002222 --text hello",
  command: "command",
  done: "All done here",
  doneBody: "There are no conversations in this tab.",
};

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
 */
export function listPane({ store, current, labels, people, personName, selected, refusal }) {
  const words = () => query().get("search") ?? "";
  const tab = () => (tabs[query().get("tab") ?? ""] ? /** @type {string} */ (query().get("tab")) : "open");
  return el("section.list-pane", { "aria-label": text.tabs },
    el("div", { role: "status" }, () => refusalNotice(refusal())),
    el("div.search", { role: "search" },
      icon("search"), searchbox(text.search, { id: "search-messages" }), el("kbd", { "aria-hidden": "true" }, "/")),
    tabList(tab),
    el("select.label-filter", {
      "aria-label": text.filter,
      value: () => (labels(), query().get("label") ?? ""),
      onchange: (/** @type {any} */ event) => setQuery({ label: event.target.value }),
    },
      el("option", { value: "" }, text.anyLabel),
      list(labels, (one) => one.id, (one) => el("option", { value: one().id }, () => one().name))),
    selectionBar({
      selected,
      number: () => number()?.phone_number_id ?? "",
      merge: store.merge,
      read: store.read,
      people,
      labels,
    }),
    el("div.list-body", { role: "tabpanel", id: "conversations", "aria-labelledby": () => "tab-" + tab() },
      when(words, () => results(words, store, current), () => rows(store, { current, selected, personName }))));
}

/** @param {import("./sending.js").Refusal | null} refusal */
const refusalNotice = (refusal) => refusal && el("p.notice", null, refusalText(refusal));

/** @param {() => string} tab */
function tabList(tab) {
  const names = Object.entries(text.names);
  const open = (/** @type {string} */ next) => navigate(keep(path(), { tab: next === "open" ? "" : next, search: "" }));
  const move = (/** @type {KeyboardEvent} */ event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const at = names.findIndex(([id]) => id === tab());
    open(names[(at + by + names.length) % names.length][0]);
    flush();
    document.getElementById("tab-" + tab())?.focus();
  };
  return el("div.tabs", { role: "tablist", "aria-label": text.tabs, onkeydown: move }, names.map(([id, name]) => el("button", {
    type: "button", role: "tab", id: "tab-" + id, "aria-selected": () => tab() === id, "aria-controls": "conversations",
    tabindex: () => (tab() === id ? "0" : "-1"), "aria-describedby": "count-" + id, onclick: () => open(id),
  }, name, el("small", { id: "count-" + id, "aria-hidden": "true" }, () => (counts()[id] === undefined ? "" : count(counts()[id]))))));
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
