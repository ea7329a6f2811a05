/** The inbox: who wrote, what was said, and who has to answer. Three panes; one on a small screen. */
import { computed, effect, el, flush, signal, untracked } from "../dom.js";
import { APIError, get, patch, post, remove } from "../api.js";
import { bind } from "../keys.js";
import { confirmAction } from "../parts/dialog.js";
import { readLabels } from "../parts/lists.js";
import { toastError } from "../parts/notices.js";
import { empty, failed, resource } from "../parts/states.js";
import { link, navigate, path, query, setQuery } from "../router.js";
import { chosenNumber, goesOn, me, number, numbers, numbersKnown } from "../session.js";
import { openAssign } from "./inbox/assign.js";
import { conversations, keep, nameOf, tabs } from "./inbox/conversations.js";
import { unsentIn } from "./inbox/drafts.js";
import { backTo } from "./inbox/head.js";
import { openLabels } from "./inbox/labels.js";
import { listPane } from "./inbox/list.js";
import { selection } from "./inbox/selection.js";
import { sending } from "./inbox/sending.js";
import { thread } from "./inbox/thread.js";
import { filtersOf, sortOf, views } from "./inbox/views.js";
import { inbox as text } from "texts/inbox.js";

/** numberOf finds the business number of a conversation. @param {string} id */
async function numberOf(id) {
  for (const { phone_number_id: one } of numbers()) {
    const found = one !== number()?.phone_number_id && await get(`v1/${one}/conversations/${id}`).catch(() => null);
    if (found) return one;
  }
  return "";
}

/** @type {import("../router.js").Build} */
export default function inbox() {
  const current = computed(() => path().match(/^inbox\/(.+)/)?.[1] ?? "");
  const phone = computed(() => number()?.phone_number_id ?? "");
  const store = conversations(current);
  const labels = resource(readLabels, ["label"]);
  const people = resource("people", ["user"]);
  const personName = (/** @type {string | null} */ id) =>
    (id === me().id ? me().name : (people.data() ?? []).find((/** @type {any} */ one) => one.id === id)?.name ?? "");
  const tab = computed(() => query().get("tab") ?? "open");
  const label = computed(() => query().get("label") ?? "");
  const saved = views();
  const sort = computed(() => sortOf(saved.open(), tab()));
  const wanted = computed(() => (saved.open() ? filtersOf(saved.open()) : tabs[tab()] ?? tabs.open));
  effect(() => store.narrow({ number: phone(), wanted: wanted(), label: label(), sort: sort() }));
  effect(() => {
    if (label() && labels.data()?.every((one) => one.id !== label())) queueMicrotask(() => setQuery({ label: "" })); // it is gone
  });
  effect(() => {
    current();
    store.arrange();
  });

  const missing = signal(/** @type {unknown} */ (null));
  const conversation = computed(() => /** @type {any} */ (store.get(current())));
  const isKnown = computed(() => Boolean(conversation()));
  let jumps = false;
  const find = async () => {
    const id = current();
    try {
      await store.read(id);
      if (id === current()) missing.set(null);
    } catch (error) {
      // A link from a colleague may lead to a conversation of another number.
      const other = error instanceof APIError && error.status === 404 && await numberOf(id);
      if (id !== current()) return;
      jumps = Boolean(other);
      if (other) chosenNumber.set(other);
      else missing.set(error);
    }
  };
  let before = { id: "", phone: "" };
  effect(() => {
    const now = { id: current(), phone: phone() };
    const isSwitched = now.id === before.id && before.phone !== "" && now.phone !== before.phone;
    if (now.id && isSwitched && !jumps) queueMicrotask(() => navigate(keep("inbox"), { replace: true }));
    jumps = false;
    before = now;
  });
  effect(() => {
    missing.set(null);
    if (current() && phone() && !isKnown()) find();
  });

  const refusal = sending(phone);

  const details = signal(false);
  const heldUnread = signal(false);
  const isNote = signal(false);
  effect(() => {
    current();
    details.set(false);
    heldUnread.set(false);
    isNote.set(false);
  });
  /** writeReply goes to where a reply is written, also from a note: what is meant as the one must not become the other. */
  const writeReply = () => {
    isNote.set(false);
    details.set(false); // they may cover it
    flush();
    const field = document.querySelector(".composer textarea") ?? document.querySelector(".composer .button");
    if (field instanceof HTMLElement) field.focus();
  };

  const selected = selection(store.shown);
  effect(() => {
    phone();
    tab();
    saved.open();
    label();
    selected.clear();
  });

  /** change reports whether the server has taken it. @param {Record<string, any>} changes */
  const change = async (changes, id = current()) => {
    try {
      store.merge(await patch(`v1/${phone()}/conversations/${id}`, changes));
      return true;
    } catch (error) {
      toastError(error);
      return false;
    }
  };

  // The newest message on the page: who resolves or snoozes has seen no other.
  const seen = signal({ id: "", message: "" });
  const seenIn = (/** @type {string} */ id) => (seen().id === id ? seen().message : store.get(id)?.last_message?.id) || null;

  // What is to have the focus once the next conversation is there.
  let focusNext = "";
  /** goOn opens the conversation that follows one in the list, else the one before it. @param {string} id @param {string} following */
  const goOn = (id, following) => {
    if (goesOn() === "on" && following && current() === id) navigate(keep("inbox/" + following));
    else focusNext = "";
  };
  let resolving = "";
  /** resolve asks first where something was not sent. @param {string} [focus] goes there in the next conversation */
  const resolve = async (focus = "", id = current()) => { // another may be open in a moment
    if (resolving === id) return;
    resolving = id;
    const following = nextOf(store.shown() ?? [], id);
    const run = async () => {
      if (!await change({ status: "resolved", seen: seenIn(id) }, id)) return;
      focusNext = focus;
      goOn(id, following);
    };
    const unsent = await unsentIn(id);
    resolving = "";
    if (!unsent) return run();
    await confirmAction({ title: text.unsent, body: text.unsentBody[unsent], action: text.resolveAnyway, send: run });
  };
  const reopen = () => void change({ status: "open" });
  const markUnread = async () => {
    heldUnread.set(true);
    try {
      store.merge(await post(`${phone()}/conversations/${current()}/unread`));
    } catch (error) {
      toastError(error);
    }
  };
  const toggleLabel = async (/** @type {string} */ id, /** @type {boolean} */ on) => {
    const of = `v1/${phone()}/conversations/${current()}`;
    try {
      await (on ? post(of + "/labels", { label_id: id }) : remove(`${of}/labels/${id}`));
      store.merge(await get(of));
    } catch (error) {
      toastError(error);
    }
  };
  const chooseAssignee = (/** @type {Element} */ beside) => openAssign(beside, {
    people: () => people.data() ?? [],
    assigned: () => conversation()?.assignee?.id ?? "",
    choose: (person) => void change({ assigned_to: person }),
  });
  const chooseLabels = (/** @type {Element} */ beside) => openLabels(beside, {
    labels: labels.data,
    has: (id) => conversation()?.labels.some((/** @type {any} */ one) => one.id === id),
    toggle: toggleLabel,
    make: async () => {
      const made = await later()?.newLabel();
      if (made) await toggleLabel(made.id, true);
    },
  });

  // Details and notifications come when list and thread are there.
  const drawn = signal("");
  effect(() => {
    if (drawn() || (!current() && store.shown())) untracked(loadLater);
  });

  const back = () => link(keep("inbox"));
  const place = () => {
    const id = current();
    return {
      id,
      number: phone(),
      conversation,
      personName,
      back,
      resolve: (focus = "") => resolve(focus, id),
      reopen,
      markUnread,
      details,
      merge: store.merge,
      heldUnread,
      drawn: () => {
        drawn.set(id);
        // It is asked for now, because that makes the browser lay the page out.
        if (document.activeElement === document.body) heading()?.focus({ preventScroll: true });
      },
      openAssign: chooseAssignee,
      openLabels: chooseLabels,
      toggleLabel,
      change,
      refusal,
      people: () => people.data() ?? [],
      isNote,
      writeReply,
      seen: () => seenIn(id),
      see: (/** @type {string} */ message) => seen.set({ id, message }),
    };
  };
  const heading = () => /** @type {HTMLElement | null} */ (body.querySelector(".thread-name h2"));
  const showThread = () => {
    const node = thread(place());
    const wanted = focusNext;
    focusNext = "";
    if (wanted) queueMicrotask(() => node.querySelector(wanted)?.focus({ preventScroll: true }));
    return node;
  };
  const isThere = computed(() => (conversation() ? current() : ""));
  const lacksNumber = computed(() => numbersKnown() && !phone());
  const body = el("div.inbox", { "data-pane": () => (details() ? "details" : current() || lacksNumber() ? "thread" : "list") },
    el("div.inbox-head", null, el("h1", { tabindex: "-1" }, text.title), () => later()?.notifyButton()),
    listPane({
      store,
      current,
      labels: () => labels.data() ?? [],
      people: () => people.data() ?? [],
      personName,
      selected,
      refusal,
      saved,
      sort,
    }),
    () => {
      if (isThere()) return untracked(showThread);
      if (missing()) return el("div.thread", null, el("header.thread-head", null, backTo(back)), failed(missing(), find));
      return el("div.thread.choose", null, !current() && (lacksNumber() ? noNumber() : choose()));
    },
    () => isThere() && el("aside.details", { "aria-label": text.details },
      () => drawn() === isThere() && later() && untracked(() => later()?.details(place()))));

  bindKeys({ current, conversation, writeReply, resolve, reopen, markUnread, selected, chooseAssignee, chooseLabels });
  return { title: () => (conversation() ? nameOf(conversation().contact) : text.title), body };
}

const choose = () => empty({ icon: "inbox", title: text.choose, body: text.chooseBody });
const noNumber = () => empty({
  icon: "numbers",
  title: text.noNumber,
  body: text.noNumberBody,
  action: el("a.button", { href: link("numbers") }, text.numbers),
});

/** What is loaded later; null until then. */
const later = signal(/** @type {typeof import("./inbox/later.js") | null} */ (null));
const loadLater = async () => {
  if (later.peek()) return;
  const found = await import("../screens.js").catch(() => null); // the connection bar shows that it failed
  later.set(found?.laterInInbox ?? null);
};

/**
 * nextOf is the conversation to go on with: the next of the list that is not resolved, else the one before.
 * @param {any[]} rows
 * @param {string} id
 */
function nextOf(rows, id) {
  const at = rows.findIndex((one) => one.id === id);
  const isOpen = (/** @type {any} */ one) => one.id !== id && one.status !== "resolved";
  return (rows.slice(at + 1).find(isOpen) ?? rows.slice(0, Math.max(at, 0)).findLast(isOpen))?.id ?? "";
}

/** @param {any} at */
function bindKeys({ current, conversation, writeReply, resolve, reopen, markUnread, selected, chooseAssignee, chooseLabels }) {
  const links = () => /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".conversations a")]);
  const move = (/** @type {number} */ by) => {
    const all = links();
    const focused = all.findIndex((one) => one === document.activeElement);
    const at = focused >= 0 ? focused : all.findIndex((one) => one.hasAttribute("aria-current"));
    all[Math.max(0, Math.min(all.length - 1, at + by))]?.focus();
  };
  const focus = (/** @type {string} */ selector) => {
    const node = document.querySelector(selector);
    if (node instanceof HTMLElement) node.focus();
  };
  /** beside finds where to open something: at its button if that is on the page, else at the head of the thread. @param {string} selector */
  const beside = (selector) => {
    const opener = document.querySelector(selector);
    return opener?.checkVisibility() ? opener : document.querySelector(".thread-head .joined");
  };
  const select = () => {
    const row = document.activeElement instanceof HTMLElement && document.activeElement.dataset.conversation;
    const id = row || current();
    if (id) selected.toggle(id);
  };
  const withOpen = (/** @type {() => void} */ run) => () => conversation() && run();
  bind(text.title, [
    ["j", text.keys.next, () => move(1)],
    ["k", text.keys.previous, () => move(-1)],
    ["Enter", text.keys.open, () => document.activeElement instanceof HTMLElement && document.activeElement.click()],
    ["r", text.keys.reply, writeReply],
    ["x", text.keys.select, select],
    ["Escape", text.keys.clear, selected.clear],
    ["e", text.keys.resolve, withOpen(() => void resolve())],
    ["o", text.keys.reopen, withOpen(reopen)],
    ["a", text.keys.assign, withOpen(() => chooseAssignee(beside("#assignee")))],
    ["l", text.keys.label, withOpen(() => chooseLabels(beside("#add-label")))],
    ["u", text.keys.unread, withOpen(markUnread)],
    ["/", text.keys.search, () => {
      if (current() && !document.querySelector("#search-messages")?.checkVisibility()) navigate(keep("inbox"));
      queueMicrotask(() => focus("#search-messages"));
    }],
  ]);
}
