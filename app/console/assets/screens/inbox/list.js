/** The left pane: tabs, filter, search, and the list of conversations. */
import { computed, effect, el, flush, list, signal, when } from "../../dom.js";
import { ageOf, count, initials, now, spanOf, stamp } from "../../format.js";
import { button, copyable, dot, face, icon } from "../../parts/basics.js";
import { searchbox } from "../../parts/lists.js";
import { empty, failed, skeleton } from "../../parts/states.js";
import { link, navigate, path, query, setQuery } from "../../router.js";
import { counts, number, sandbox } from "../../session.js";
import { summary } from "./content.js";
import { keep, nameOf, tabs } from "./conversations.js";
import { tick } from "./message.js";
import { results } from "./search.js";
import { refusalText } from "./sending.js";

const text = {
  tabs: "Inbox",
  names: { open: "Open", mine: "Mine", unassigned: "Unassigned", unread: "Unread", resolved: "Resolved", all: "All" },
  filter: "Filter by label",
  anyLabel: "Any label",
  search: "Search messages",
  list: "Conversations",
  fresh: (/** @type {number} */ n) => count(n) + " new",
  you: "You: ",
  unread: (/** @type {number} */ n) => count(n) + " unread",
  left: (/** @type {string} */ span) => span + " left to answer",
  closed: "closed",
  assigned: (/** @type {string} */ name) => "Assigned to " + name,
  noConversations: "Nobody has written yet",
  noConversationsBody: "As soon as somebody writes to your number, the conversation is here.",
  trigger: "confab trigger inbound --from +15550002222 --text hello",
  command: "command",
  done: "All done here",
  doneBody: "No conversation is in this tab.",
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
 * @param {() => import("./sending.js").Refusal | null} at.refusal why nothing can be sent from this number
 */
export function listPane({ store, current, labels, refusal }) {
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
    el("div.list-body", { role: "tabpanel", id: "conversations", "aria-labelledby": () => "tab-" + tab() },
      when(words, () => results(words, store, current), () => rows(store, current))));
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
 * @param {() => string} current
 */
function rows(store, current) {
  const from = signal(0);
  /** @type {HTMLElement} */
  let pane;
  const visible = computed(() => (store.shown() ?? []).slice(from(), from() + most));
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
      el("ul.conversations", { "aria-label": text.list, role: "list", ref: pad },
        list(visible, (one) => one.id, (one) => conversationRow(one, current)))),
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

/**
 * @param {() => any} one
 * @param {() => string} current
 */
function conversationRow(one, current) {
  const id = one().id;
  const name = () => nameOf(one().contact);
  return el("li.row", { class: () => [
    "row",
    one().unread_count > 0 && "unread",
    current() === id && "current",
  ].filter(Boolean).join(" ") },
    () => face(name()),
    el("div.row-text", null,
      el("a",
        {
          href: () => link(keep("inbox/" + id)),
          dir: "auto",
          "aria-current": () => (current() === id ? "true" : null),
          "aria-describedby": "about-" + id,
          "data-conversation": id,
        },
        name,
      ),
      el("span.row-labels", { "aria-hidden": "true" }, () => one().labels.map((/** @type {any} */ label) => dot(label.color)))),
    el("span.row-age", null, () => stamp(one().last_message_at, ageOf)),
    el("p.row-last", { id: "about-" + id }, () => lastMessage(one()),
      el("span.unseen", null, () => one().labels.map((/** @type {any} */ label) => ", " + label.name).join(""))),
    el("span.row-end", null, () => [
      windowOf(one()),
      one().assignee && el("span.face.tiny",
        { title: text.assigned(one().assignee.name ?? ""), role: "img", "aria-label": text.assigned(one().assignee.name ?? "") },
        initials(one().assignee.name ?? "?"),
      ),
      one().unread_count > 0 && el("b.count", { role: "img", "aria-label": text.unread(one().unread_count) }, count(one().unread_count)),
    ]));
}

/** @param {any} one */
function lastMessage({ last_message: m }) {
  if (!m) return "";
  const out = m.direction === "outbound";
  const drawings = {
    image: "image",
    video: "film",
    audio: "mic",
    document: "templates",
    location: "place",
    contacts: "person",
    sticker: "smile",
  };
  const drawing = drawings[/** @type {"image"} */ (m.type)];
  return [out && tick(m), drawing && icon(drawing), el("span", { dir: "auto" }, (out ? text.you : "") + summary(m))];
}

/** windowOf says how much of the 24 hours is left. @param {any} one */
function windowOf(one) {
  const left = Date.parse(one.service_window_expires_at ?? "") - now();
  return left > 0 ? el("span.window", { title: text.left(spanOf(left)) }, spanOf(left)) : el("span.window.quiet", null, text.closed);
}
