/** The head of a thread: who it is with, who else is there, and what ends it. */
import { el, onDispose, signal, when } from "../../dom.js";
import { post } from "../../api.js";
import { onPresence } from "../../live.js";
import { andOf } from "../../format.js";
import { button, chip, face, icon } from "../../parts/basics.js";
import { menu } from "../../parts/menu.js";
import { toastError } from "../../parts/notices.js";
import { goesOn, me } from "../../session.js";
import { openAssign } from "./assign.js";
import { nameOf } from "./conversations.js";
import { openSnooze, untilText } from "./snooze.js";
import { head as text } from "texts/thread.js";

/** backTo leads to the list, where only one of them fits. @param {() => string} href */
export const backTo = (href) =>
  el("a.button.bare.round.back", { href }, icon("back"), el("span.unseen", null, text.back));

/** @param {import("./thread.js").Place} at @param {() => boolean} hadBot a bot has held it */
export function head(at, hadBot) {
  const { conversation } = at;
  const name = () => nameOf(conversation()?.contact);
  return el("header.thread-head", null,
    backTo(at.back),
    () => face(name()),
    el("div.thread-name", null,
      el("h2", { dir: "auto", tabindex: "-1" }, name),
      el("p", null, el("span", null, () => conversation()?.contact.name && conversation()?.contact.phone_number), presence(at.id))),
    () => conversation()?.snoozed_until && chip(text.snoozed(untilText(conversation().snoozed_until)), "warn"),
    ending(at),
    button(text.details,
      {
        icon: "panel",
        look: "bare",
        iconOnly: true,
        class: "button bare round details-button",
        "aria-expanded": () => at.details(),
        run: () => at.details.update((on) => !on),
      },
    ),
    holder(at, hadBot));
}

/**
 * holder says who holds the conversation, if a bot does or did: while a person does, no bot writes there.
 * @param {import("./thread.js").Place} at
 * @param {() => boolean} hadBot
 */
function holder({ id, number, conversation, merge, people, personName }, hadBot) {
  const held = () => conversation()?.holder ?? { type: "none", id: null };
  const isOwn = () => held().type === "user" && held().id === me().id;
  const who = () =>
    isOwn() ? text.you : held().type === "agent" ? text.bot(held().id) : held().id ? personName(held().id) : text.phoneApp;
  const give = async (/** @type {{ type: string, id?: string }} */ to) => {
    try {
      merge(await post(`v1/${number}/conversations/${id}/hand_over`, { to }));
    } catch (error) {
      toastError(error);
    }
  };
  /** @type {Element} */
  const over = button(text.handOver, {
    run: () => openAssign(over, {
      people,
      assigned: () => (held().type === "user" ? held().id : null),
      choose: (person) => void give(person ? { type: "user", id: person } : { type: "none" }),
    }),
  });
  return when(() => held().type === "agent" || (held().type === "user" && hadBot()), () => el("div.holder", null,
    () => chip(text.held(who()), "calm"),
    when(() => !isOwn(), () => button(text.takeOver, { run: () => void give({ type: "user", id: me().id }) })),
    over));
}

/** ending is the button that resolves or reopens, and the menu of what else can be done. @param {import("./thread.js").Place} at */
function ending({ conversation, resolve, reopen, markUnread, change, seen }) {
  const more = button(text.more, { icon: "down", iconOnly: true });
  const snooze = (/** @type {string} */ until) => void change({ snoozed_until: until, seen: seen() });
  menu(more, text.more, () => [
    ...(conversation()?.status === "resolved" ? [] : [{ name: text.snooze, icon: "clock", run: () => openSnooze(more, snooze) }]),
    ...(conversation()?.snoozed_until ? [{ name: text.wake, icon: "clock", run: () => void change({ snoozed_until: null }) }] : []),
    { name: text.unread, icon: "inbox", run: markUnread, keys: "u" },
    {
      name: text.goOn,
      group: "",
      checked: goesOn() === "on",
      toggles: true,
      run: () => goesOn.set(goesOn.peek() === "on" ? "off" : "on"),
    },
  ]);
  return el("div.joined", null,
    when(() => conversation()?.status === "resolved",
      () => button(text.reopen, { icon: "inbox", run: reopen }),
      () => button(text.resolve, { icon: "check", run: () => void resolve() }),
    ),
    more);
}

/** presence says which colleagues have a conversation open. @param {string} id */
function presence(id) {
  const people = signal(/** @type {any[]} */ ([]));
  onDispose(onPresence(({ conversation_id: of, people: now }) => {
    if (of === id) people.set(now.filter((one) => one.id !== me.peek().id));
  }));
  const presenceText = (/** @type {any[]} */ all, /** @type {(names: string, n: number) => string} */ said) =>
    said(andOf(all.map((one) => one.name)), all.length);
  return el("span.presence", { role: "status", dir: "auto" }, () => {
    const typing = people().filter((one) => one.state === "typing");
    return typing.length > 0 ? presenceText(typing, text.typing) : people().length > 0 ? presenceText(people(), text.looking) : "";
  });
}
