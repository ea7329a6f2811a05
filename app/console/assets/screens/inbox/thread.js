/** The thread of a conversation: its head, its messages and its composer. */
import { computed, effect, el, flush, list, onDispose, signal, untracked, when } from "../../dom.js";
import { post } from "../../api.js";
import { count, dayOf } from "../../format.js";
import { reportPresence, onPresence } from "../../live.js";
import { button, face, icon } from "../../parts/basics.js";
import { failed, skeleton } from "../../parts/states.js";
import { toastError } from "../../parts/notices.js";
import { query, setQuery } from "../../router.js";
import { me } from "../../session.js";
import { composer } from "./composer.js";
import { nameOf } from "./conversations.js";
import { draftOf } from "./drafts.js";
import { article, timeOf, waiting } from "./message.js";
import { messages } from "./messages.js";
import { outbox } from "./outbox.js";
import { react } from "./reactions.js";

const text = {
  region: (/** @type {string} */ name) => "Conversation with " + name,
  log: "Messages",
  back: "Back",
  details: "Details",
  newest: "Newest messages",
  fresh: (/** @type {number} */ n) => count(n) + " new",
  looking: " looking at this too",
  typing: " typing",
  is: [" is", " are"],
  and: " and ",
};

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
 * @property {() => import("../../dom.js").Child} status the button that resolves or reopens
 * @property {import("../../dom.js").Signal<boolean>} details whether they are shown
 * @property {(fresh: any) => void} merge
 * @property {import("../../dom.js").Signal<boolean>} heldUnread somebody marked it so by hand
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
      queueMicrotask(() => /** @type {HTMLElement | null} */ (body.querySelector(".composer textarea"))?.focus());
    },
    canEdit: draft.canEdit,
    edit: draft.edit,
    react: (/** @type {any} */ m, /** @type {HTMLElement} */ opener) => react(
      m,
      opener,
      { number, conversation: conversation(), mine: store.reactions().get(m.message_id)?.get("outbound")?.emoji },
    ),
    hit,
    changed: store.merge,
  };

  const rows = rowsOf(store, id, firstUnread);
  const newCount = countNew(store, atBottom);
  const body = el("section.thread", { "aria-label": () => text.region(name()) },
    head(at, name),
    el("div.log", {
      role: "log",
      "aria-label": text.log,
      tabindex: "0",
      ref: (/** @type {HTMLElement} */ node) => (log = node),
      onscroll: scrolled,
    },
      when(store.ready, () => null, () => skeleton(6)),
      () => store.failure() && !store.newest() && failed(store.failure(), () => store.begin()),
      el("div.message-list", null, list(rows, (row) => row.m.id, (row) => article(row, context)))),
    when(() => !atBottom() || !store.endsNow(), () => el("div.to-newest", null,
      button(text.newest, { look: "plain", icon: "down", iconOnly: true, run: toNewest }),
      () => newCount() > 0 && el("span.chip.good", { role: "status" }, text.fresh(newCount())))),
    composer({ ...at, name, store, draft, toNewest }));

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

  startAt(store, hit, firstUnread, goTo, () => log, () => requestAnimationFrame(() => setTimeout(scrolled)));
  keepRead(at, store, atBottom);
  onDispose(() => reportPresence(null, false));
  reportPresence(id, false);
  return body;
}

/** backTo leads to the list, where only one of them fits. @param {() => string} href */
export const backTo = (href) =>
  el("a.button.bare.round.back", { href }, icon("back"), el("span.unseen", null, text.back));

/** @param {Place} at @param {() => string} name */
function head(at, name) {
  const { conversation } = at;
  return el("header.thread-head", null,
    backTo(at.back),
    () => face(name()),
    el("div.thread-name", null,
      el("h2", { dir: "auto" }, name),
      el("p", null, el("span", null, () => conversation()?.contact.name && conversation()?.contact.phone_number), presence(at.id))),
    at.status(),
    button(text.details,
      {
        icon: "panel",
        look: "bare",
        iconOnly: true,
        class: "button bare round details-button",
        "aria-expanded": () => at.details(),
        run: () => at.details.update((on) => !on),
      },
    ));
}

/** presence says which colleagues have a conversation open. @param {string} id */
function presence(id) {
  const people = signal(/** @type {any[]} */ ([]));
  onDispose(onPresence(({ conversation_id: of, people: now }) => {
    if (of === id) people.set(now.filter((one) => one.id !== me.peek().id));
  }));
  const presenceText = (/** @type {any[]} */ all, /** @type {string} */ what) =>
    all.map((one) => one.name).join(text.and) + text.is[Number(all.length > 1)] + what;
  return el("span.presence", { role: "status", dir: "auto" }, () => {
    const typing = people().filter((one) => one.state === "typing");
    return typing.length > 0 ? presenceText(typing, text.typing) : people().length > 0 ? presenceText(people(), text.looking) : "";
  });
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
 * rowsOf lists what the thread shows: messages, and after them what waits in the outbox.
 * A row that stays the same stays the same object, so that only what changed is drawn.
 * @param {ReturnType<typeof messages>} store
 * @param {string} id
 * @param {() => string} firstUnread
 */
function rowsOf(store, id, firstUnread) {
  /** @type {Map<string, import("./message.js").Row>} */
  let before = new Map();
  return computed(() => {
    const shown = store.shown().map((m) => ({ m, entry: undefined }));
    const waits = store.endsNow() ? outbox().filter((one) => one.conversation === id && one.body.type !== "reaction") : [];
    const all = [...shown, ...waits.map((entry) => ({ m: waiting(entry, me().id), entry }))];
    let day = "";
    /** @type {any} */
    let last = null;
    const rows = all.map(({ m, entry }) => {
      const today = dayOf(Date.parse(timeOf(m)));
      const row = {
        m,
        entry,
        day: today === day ? "" : today,
        isUnread: m.id === firstUnread(),
        follows: last?.direction === m.direction && last?.sent_by === m.sent_by && today === day,
      };
      day = today;
      last = m;
      const old = before.get(m.id);
      const same = old && old.entry === entry && (entry || old.m === m) && old.day === row.day && old.isUnread === row.isUnread
        && old.follows === row.follows;
      return same ? old : row;
    });
    before = new Map(rows.map((row) => [row.m.id, row]));
    return rows;
  });
}

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
 */
function keepRead(at, store, atBottom) {
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
    if (unread === 0 || !isSeen || at.heldUnread()) return;
    const state = unread + " " + at.conversation().last_message_at;
    if (state === asked) return;
    asked = state;
    post(`${at.number}/conversations/${at.id}/read`).then(at.merge, (error) => {
      asked = "";
      if (!error.lost) toastError(error);
    });
  });
}
