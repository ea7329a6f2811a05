/** The thread of a conversation: its head, its messages and its composer. */
import { computed, effect, el, flush, list, onDispose, signal, untracked, when } from "../../dom.js";
import { post } from "../../api.js";
import { dayOf } from "../../format.js";
import { onChanged, reportPresence } from "../../live.js";
import { button } from "../../parts/basics.js";
import { follow } from "../../parts/lists.js";
import { failed, skeleton } from "../../parts/states.js";
import { toastError } from "../../parts/notices.js";
import { step as stepFocus } from "../../parts/popover.js";
import { query, setQuery } from "../../router.js";
import { me } from "../../session.js";
import { changeLine, changes } from "./changes.js";
import { composer } from "./composer.js";
import { nameOf } from "./conversations.js";
import { draftOf } from "./drafts.js";
import { head } from "./head.js";
import { article, stateOf, timeOf, waiting } from "./message.js";
import { messages } from "./messages.js";
import { notes } from "./notes.js";
import { outbox } from "./outbox.js";
import { react } from "./reactions.js";
import { thread as text } from "texts/thread.js";

const near = 600;
const bottom = 40;
const again = 2000;

/**
 * @typedef {object} Place
 * @property {string} id
 * @property {string} number
 * @property {() => any} conversation
 * @property {(id: string | null) => string} personName
 * @property {() => string} back where the list is
 * @property {(focus?: string) => Promise<void>} resolve
 * @property {() => void} reopen
 * @property {() => void} markUnread
 * @property {import("../../dom.js").Signal<boolean>} details whether they are shown
 * @property {(fresh: any) => void} merge
 * @property {import("../../dom.js").Signal<boolean>} heldUnread somebody marked it so by hand
 * @property {() => void} drawn is called when its messages are on the page
 * @property {(changes: Record<string, any>) => Promise<boolean>} change
 * @property {() => string | null} seen the newest message that was on the page
 * @property {(message: string) => void} see
 * @property {() => any[]} people
 * @property {import("../../dom.js").Signal<boolean>} isNote whether a note is written, and no reply
 * @property {() => void} writeReply goes to where a reply is written
 */

/** @param {Place} at */
export function thread(at) {
  const { id, number, conversation } = at;
  const store = messages(number, id, () => conversation()?.unread_count ?? 0);
  const name = () => nameOf(conversation()?.contact);
  const draft = draftOf(id);
  const atBottom = signal(true);
  const firstUnread = markUnread(store, conversation);
  const hit = () => query().get("message") ?? "";

  /** @type {HTMLElement} */
  let log;
  const goTo = async (/** @type {string} */ target) => {
    const found = store.byProviderID(target) ?? store.find(target);
    const isMissing = () => !document.getElementById(found?.id ?? "");
    if (found && isMissing()) store.showEnd(); // it may not have been drawn yet
    flush();
    if (isMissing()) await store.begin(found?.id ?? target);
    flush();
    const node = document.getElementById((store.byProviderID(target) ?? store.find(target))?.id ?? "");
    node?.scrollIntoView({ block: "center" });
    node?.focus({ preventScroll: true });
    node?.classList.add("found");
    setTimeout(() => node?.classList.remove("found"), 2000);
  };

  const context = {
    number,
    name,
    personName: at.personName,
    byProviderID: store.byProviderID,
    goTo,
    reactions: store.reactions,
    reply: (/** @type {any} */ m) => {
      draft.change({ replyTo: m.message_id });
      at.writeReply();
    },
    canEdit: draft.canEdit,
    edit: (/** @type {any} */ entry) => {
      draft.edit(entry);
      at.writeReply();
    },
    react: (/** @type {any} */ m, /** @type {HTMLElement} */ opener) =>
      react(m, opener, { number, conversation: conversation(), mine: store.reactions().get(m.message_id)?.get("outbound")?.emoji }),
    hit,
    changed: store.merge,
  };

  const draw = (/** @type {() => void} */ change) => (log?.isConnected ? drawStill(log, change) : change());
  const lines = changes(number, id, draw);
  const written = notes(number, id, draw, at.people);
  const happened = computed(() => [...lines.all(), ...written.all()].sort((a, b) => (a.created_at < b.created_at ? -1 : 1)));
  const { rows, last } = rowsOf(store, id, firstUnread, happened);
  effect(() => void (store.lastID() && at.see(store.lastID())));
  const newCount = countNew(store, atBottom);
  const body = el("section.thread", { "aria-label": () => text.region(name()) },
    head(at, () => lines.all().some((one) => one.type === "handed_over")),
    el("div.log", {
      role: "log",
      "aria-label": text.log,
      tabindex: "0",
      ref: (/** @type {HTMLElement} */ node) => (log = node),
      onscroll: scrolled,
      onkeydown: (/** @type {KeyboardEvent} */ event) => walk(event, log),
    },
      when(store.ready, () => null, () => skeleton(6)),
      () => store.failure() && !store.newest() && failed(store.failure(), () => store.begin()),
      el("div.message-list", null, list(rows, (row) => row.m.id, (row) => article(row, context)),
        list(last, (one) => one.id + (one.note?.updated_at ?? ""), (one) => changeLine(one())))),
    when(() => !atBottom() || !store.endsNow(), () => el("div.to-newest", null,
      button(text.newest, { look: "plain", icon: "down", iconOnly: true, run: toNewest }),
      () => newCount() > 0 && el("span.chip.good", { role: "status" }, text.fresh(newCount())))),
    composer({ ...at, name, store, draft, toNewest, addNote: written.add }));

  async function toNewest() {
    if (query().get("message")) setQuery({ message: "" });
    if (!store.endsNow()) await store.begin();
    store.showEnd();
    flush();
    log.scrollTop = log.scrollHeight;
  }

  let moving = false;
  function scrolled() {
    const rest = log.scrollHeight - log.scrollTop - log.clientHeight;
    atBottom.set(rest < bottom);
    if (moving || !store.ready() || !log.isConnected) return;
    if (log.scrollTop < near && store.hasOlder()) keepPlace(store.showOlder);
    else if (rest < near && !store.endsNow()) keepPlace(store.showNewer);
  }

  /** keepPlace lets the page grow or move without moving the messages in view. @param {() => Promise<boolean>} change */
  async function keepPlace(change) {
    moving = true;
    const pinned = { node: /** @type {Element | undefined} */ (undefined), top: 0 };
    const pin = () => {
      const edge = log.getBoundingClientRect().top;
      pinned.node = [...log.querySelectorAll("article")].find((one) => one.getBoundingClientRect().bottom > edge);
      pinned.top = pinned.node?.getBoundingClientRect().top ?? 0;
    };
    pin();
    log.addEventListener("scroll", pin);
    const changed = await change().catch(() => false);
    log.removeEventListener("scroll", pin);
    flush();
    if (pinned.node?.isConnected) log.scrollTop += pinned.node.getBoundingClientRect().top - pinned.top;
    moving = false;
    // There may be room for more; what failed is tried again.
    if (changed) requestAnimationFrame(scrolled);
    else if (store.hasOlder()) setTimeout(scrolled, again);
  }

  // Who reads the newest message goes on reading the newest.
  const observer = new ResizeObserver(() => {
    if (atBottom.peek() && store.endsNow()) log.scrollTop = log.scrollHeight;
  });
  queueMicrotask(() => [log, log.lastElementChild].forEach((node) => node && observer.observe(node)));
  onDispose(() => observer.disconnect());

  startAt(store, hit, firstUnread, goTo, () => log, () => requestAnimationFrame(() => setTimeout(() => {
    at.drawn();
    scrolled();
  })));
  followChanges(at, store, lines);
  followChanges(at, store, written);
  keepRead(at, store, atBottom, written.isMentioned);
  onDispose(() => reportPresence(null, false));
  reportPresence(id, false);
  return body;
}

/**
 * markUnread finds the first message that was unread when the thread was opened.
 * @param {ReturnType<typeof messages>} store
 * @param {() => any} conversation
 */
function markUnread(store, conversation) {
  const first = signal("");
  let unread = -1;
  effect(() => {
    if (unread < 0 && conversation()) unread = conversation().unread_count;
    if (unread < 1 || !store.ready() || first.peek()) return;
    first.set(store.unread(unread)?.id ?? "");
    unread = 0;
  });
  return first;
}

/**
 * followChanges reads what happened to the conversation as far back as its messages are shown,
 * and again when it is another's, or has another state or other labels, and after a break.
 * @param {Place} at
 * @param {ReturnType<typeof messages>} store
 * @param {Pick<ReturnType<typeof changes>, "needs" | "reach" | "refresh">} lines
 */
function followChanges(at, store, lines) {
  const oldest = computed(() => (store.ready() && store.shown()[0]?.created_at) || "");
  effect(() => {
    const time = oldest();
    if (time && lines.needs(time)) untracked(() => lines.reach(time));
  });

  const state = computed(() => {
    const one = at.conversation();
    const labels = one?.labels.map((/** @type {any} */ label) => label.id);
    return one && [one.status, one.snoozed_until, one.assignee?.id, one.holder.type, one.holder.id, ...labels].join(" ");
  });
  follow(state, () => state() && lines.refresh());
  onDispose(onChanged([], () => void lines.refresh()));
}

/**
 * drawStill draws something new without moving what is being read: the end, or what is at the top of the page.
 * @param {HTMLElement} log
 * @param {() => void} draw
 */
function drawStill(log, draw) {
  const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 2;
  const { top: edge } = log.getBoundingClientRect();
  const pinned = [...log.querySelectorAll("article")].find((one) => one.getBoundingClientRect().bottom > edge);
  const before = pinned?.getBoundingClientRect().top ?? 0;
  draw();
  flush();
  if (isAtEnd) log.scrollTop = log.scrollHeight;
  else if (pinned?.isConnected) log.scrollTop += pinned.getBoundingClientRect().top - before;
}

/**
 * walk moves through the messages by arrows. Tab leaves them for the composer: there may be
 * dozens of buttons in between.
 * @param {KeyboardEvent} event
 * @param {HTMLElement} log
 */
function walk(event, log) {
  const target = /** @type {HTMLElement} */ (event.target);
  const message = target.closest("article");
  if (event.key === "Tab" && !event.shiftKey) {
    const inside = message ? [...message.querySelectorAll("a[href], button, input, video")] : [];
    if (inside.indexOf(target) < inside.length - 1) return;
    const next = log.closest(".thread")?.querySelector(".to-newest button, .composer :is(textarea, .button, a)");
    if (!(next instanceof HTMLElement)) return;
    event.preventDefault();
    next.focus();
    return;
  }
  if (target !== log && target !== message) return;
  const all = [...log.querySelectorAll("article")];
  if (message || event.key !== "ArrowUp") return void (message && stepFocus(event, all));
  event.preventDefault();
  all.at(-1)?.focus();
}

/**
 * rowsOf lists what the thread shows: messages, each after what happened before it, and after
 * them what waits in the outbox; last is what happened since. A row that stays the same stays
 * the same object, so that only what changed is drawn.
 * @param {ReturnType<typeof messages>} store
 * @param {string} id
 * @param {() => string} firstUnread
 * @param {() => import("./changes.js").Change[]} happened the oldest first
 */
function rowsOf(store, id, firstUnread, happened) {
  /** @type {Map<string, import("./message.js").Row>} */
  let before = new Map();
  const last = signal(/** @type {import("./changes.js").Change[]} */ ([]));
  const rows = computed(() => {
    const shown = store.shown().map((m) => ({ m, entry: undefined }));
    const waits = store.endsNow() ? outbox().filter((one) => one.conversation === id && one.body.type !== "reaction") : [];
    const all = [...shown, ...waits.map((entry) => ({ m: waiting(entry, me().id), entry }))];
    const lines = [...happened()];
    const until = (/** @type {string} */ time) => {
      const rest = lines.findIndex((one) => one.created_at > time);
      return lines.splice(0, rest < 0 ? lines.length : rest);
    };
    if (store.hasOlder() && all[0]) until(all[0].m.created_at); // they stand between older messages

    let day = "";
    /** @type {any} */
    let previous = null;
    const rows = all.map(({ m, entry }) => {
      const today = dayOf(Date.parse(timeOf(m)));
      const isLast = entry || stateOf(m) === "scheduled";
      const changed = until(isLast ? "~" : m.created_at);
      const follows = previous?.direction === m.direction && previous?.sent_by === m.sent_by && today === day;
      const row = {
        m,
        entry,
        day: today === day ? "" : today,
        isUnread: m.id === firstUnread(),
        follows: follows && changed.length === 0,
        changed,
      };
      day = today;
      previous = m;
      const old = before.get(m.id);
      return old && isSame(old, row) ? old : row;
    });
    before = new Map(rows.map((row) => [row.m.id, row]));
    last.set(store.endsNow() ? lines : []);
    return rows;
  });
  return { rows, last };
}

/** isSame reports whether two rows look the same. @param {import("./message.js").Row} a @param {import("./message.js").Row} b */
const isSame = (a, b) => a.entry === b.entry && (a.entry || a.m === b.m) && a.day === b.day && a.isUnread === b.isUnread
  && a.follows === b.follows && a.changed.map(versionOf).join() === b.changed.map(versionOf).join();
const versionOf = (/** @type {import("./changes.js").Change} */ one) => one.id + (one.note?.updated_at ?? "");

/**
 * countNew counts what came while somebody reads further up.
 * @param {ReturnType<typeof messages>} store
 * @param {() => boolean} atBottom
 */
function countNew(store, atBottom) {
  let seen = "";
  return computed(() => {
    if (atBottom() || !seen) seen = store.lastID();
    return store.shown().filter((m) => m.id > seen && m.direction === "inbound").length;
  });
}

/**
 * startAt shows the message that was searched for, the first unread one, or the newest.
 * @param {ReturnType<typeof messages>} store
 * @param {() => string} hit
 * @param {() => string} firstUnread
 * @param {(id: string) => void} goTo
 * @param {() => HTMLElement} log
 * @param {() => void} then
 */
function startAt(store, hit, firstUnread, goTo, log, then) {
  let shown = "";
  let began = false;
  effect(() => {
    if (!store.ready()) return;
    const wanted = hit();
    untracked(() => queueMicrotask(() => {
      if (wanted && wanted !== shown) goTo(wanted);
      else if (!began) {
        flush();
        const line = document.getElementById(firstUnread())?.parentElement;
        log().scrollTop = log().scrollHeight;
        const top = (line?.offsetTop ?? Infinity) - log().offsetTop - bottom;
        if (top < log().scrollTop) log().scrollTop = top;
        then(); // messages above may be drawn now
      }
      shown = wanted;
      began = true;
    }));
  });
}

/**
 * keepRead marks a conversation as read while its newest message is on screen.
 * @param {Place} at
 * @param {ReturnType<typeof messages>} store
 * @param {() => boolean} atBottom
 * @param {import("../../dom.js").Signal<boolean>} isMentioned it may have mentions of the person, who has then read them
 */
function keepRead(at, store, atBottom, isMentioned) {
  const visible = signal(!document.hidden);
  const look = () => visible.set(!document.hidden);
  document.addEventListener("visibilitychange", look);
  onDispose(() => document.removeEventListener("visibilitychange", look));

  let asked = "";
  let isOpened = false;
  effect(() => {
    if (!at.conversation() || !store.ready() || !visible()) return;
    const unread = at.conversation().unread_count;
    if (unread === 0) asked = "";
    const isSeen = atBottom() || !isOpened;
    isOpened = true;
    if ((unread === 0 && !isMentioned()) || !isSeen || at.heldUnread()) return;
    const state = unread + " " + at.conversation().last_message_at;
    if (state === asked && !isMentioned()) return;
    asked = state;
    isMentioned.set(false);
    post(`${at.number}/conversations/${at.id}/read`).then(at.merge, (error) => {
      asked = "";
      if (!error.lost) toastError(error);
    });
  });
}
