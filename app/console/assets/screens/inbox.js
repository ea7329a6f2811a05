/** The inbox: who wrote, what was said, and who has to answer. Three panes; one on a small screen. */
import { computed, effect, el, signal, untracked } from "../dom.js";
import { APIError, get, page, patch, post } from "../api.js";
import { bind } from "../keys.js";
import { button } from "../parts/basics.js";
import { confirmAction } from "../parts/dialog.js";
import { toastError } from "../parts/notices.js";
import { empty, failed, resource } from "../parts/states.js";
import { link, navigate, path, query, setQuery } from "../router.js";
import { chosenNumber, me, number, numbers, numbersKnown } from "../session.js";
import { conversations, keep, nameOf } from "./inbox/conversations.js";
import { details as detailsPane } from "./inbox/details.js";
import { unsentIn } from "./inbox/drafts.js";
import { listPane } from "./inbox/list.js";
import { notifyButton } from "./inbox/notify.js";
import { sending } from "./inbox/sending.js";
import { backTo, thread } from "./inbox/thread.js";

const text = {
  title: "Inbox",
  resolve: "Resolve",
  reopen: "Reopen",
  unsent: "Resolve with an unsent message?",
  unsentBody: {
    draft: "Your message was not sent. It stays here as a draft, in this browser.",
    waiting: "Your message has not been sent yet. It goes out from this browser as soon as that is possible.",
  },
  resolveAnyway: "Resolve anyway",
  choose: "Choose a conversation",
  chooseBody: "Press j and k to move through the list, and Enter to open. Press ? for all keys.",
  noNumber: "No number is connected yet",
  noNumberBody: "Connect one, and what people write to it is here.",
  numbers: "Numbers",
  keys: {
    next: "Next conversation",
    previous: "Previous conversation",
    open: "Open conversation",
    reply: "Reply",
    resolve: "Resolve",
    reopen: "Reopen",
    assign: "Assign",
    label: "Label",
    unread: "Mark as unread",
    search: "Search messages",
  },
};

/** @param {AbortSignal} signal */
async function readLabels(signal) {
  const rows = [];
  let cursor = null;
  do {
    /** @type {{ rows: any[], cursor: string | null }} */
    const next = await page("v1/labels", { signal, query: { limit: 100, cursor } });
    rows.push(...next.rows);
    cursor = next.cursor;
  } while (cursor);
  return rows;
}

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
  effect(() => store.narrow({ number: phone(), tab: tab(), label: label() }));
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
    try {
      await store.read(current());
      missing.set(null);
    } catch (error) {
      // A link from a colleague may lead to a conversation of another number.
      const other = error instanceof APIError && error.status === 404 && await numberOf(current());
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
  effect(() => {
    current();
    details.set(false);
    heldUnread.set(false);
  });

  const address = () => `v1/${phone()}/conversations/${current()}`;
  /** @param {Record<string, any>} changes @param {string} [of] the address of the conversation */
  const change = async (changes, of = address()) => {
    try {
      store.merge(await patch(of, changes));
    } catch (error) {
      toastError(error);
    }
  };
  let resolving = "";
  const resolve = async () => {
    const of = address(); // another may be open in a moment
    if (resolving === of) return;
    resolving = of;
    const run = () => change({ status: "resolved" }, of);
    const unsent = await unsentIn(current());
    resolving = "";
    if (!unsent) return run();
    return confirmAction({ title: text.unsent, body: text.unsentBody[unsent], action: text.resolveAnyway, send: run });
  };
  const status = () => () => conversation() && (conversation().status === "resolved"
    ? button(text.reopen, { icon: "inbox", class: "button status", run: () => change({ status: "open" }) })
    : button(text.resolve, { icon: "check", class: "button status", run: resolve }));

  const back = () => link(keep("inbox"));
  const place = () => {
    const id = current();
    return {
      id,
      number: phone(),
      conversation,
      personName,
      back,
      status,
      details,
      merge: store.merge,
      heldUnread,
      people,
      labels,
      change,
      refusal,
    };
  };
  const isThere = computed(() => (conversation() ? current() : ""));
  const lacksNumber = computed(() => numbersKnown() && !phone());
  const body = el("div.inbox", { "data-pane": () => (details() ? "details" : current() || lacksNumber() ? "thread" : "list") },
    el("div.inbox-head", null, el("h1", { tabindex: "-1" }, text.title), notifyButton()),
    listPane({ store, current, labels: () => labels.data() ?? [], refusal }),
    () => {
      if (isThere()) return untracked(() => thread(place()));
      if (missing()) return el("div.thread", null, el("header.thread-head", null, backTo(back)), failed(missing(), find));
      return el("div.thread.choose", null, !current() && (lacksNumber() ? noNumber() : choose()));
    },
    () => isThere() && untracked(() => detailsPane(place())));

  bindKeys({ current, conversation, change, resolve, store, phone, heldUnread, details });
  return { title: () => (conversation() ? nameOf(conversation().contact) : text.title), body };
}

const choose = () => empty({ icon: "inbox", title: text.choose, body: text.chooseBody });
const noNumber = () => empty({
  icon: "numbers",
  title: text.noNumber,
  body: text.noNumberBody,
  action: el("a.button", { href: link("numbers") }, text.numbers),
});

/** @param {any} at */
function bindKeys({ current, conversation, change, resolve, store, phone, heldUnread, details }) {
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
  const inDetails = (/** @type {string} */ selector, /** @type {boolean} */ press) => {
    details.set(true);
    queueMicrotask(() => {
      const node = document.querySelector(selector);
      if (!(node instanceof HTMLElement)) return;
      node.focus();
      if (press) node.click();
    });
  };
  const unread = async () => {
    heldUnread.set(true);
    try {
      store.merge(await post(`${phone()}/conversations/${current()}/unread`));
    } catch (error) {
      toastError(error);
    }
  };
  const withOpen = (/** @type {() => void} */ run) => () => conversation() && run();
  bind(text.title, [
    ["j", text.keys.next, () => move(1)],
    ["k", text.keys.previous, () => move(-1)],
    ["Enter", text.keys.open, () => document.activeElement instanceof HTMLElement && document.activeElement.click()],
    ["r", text.keys.reply, () => focus(".composer textarea, .composer button")],
    ["e", text.keys.resolve, withOpen(resolve)],
    ["o", text.keys.reopen, withOpen(() => change({ status: "open" }))],
    ["a", text.keys.assign, withOpen(() => inDetails("#assignee", false))],
    ["l", text.keys.label, withOpen(() => inDetails("#add-label", true))],
    ["u", text.keys.unread, withOpen(unread)],
    ["/", text.keys.search, () => {
      if (current() && innerWidth < 700) navigate(keep("inbox"));
      queueMicrotask(() => focus("#search-messages"));
    }],
  ]);
}
