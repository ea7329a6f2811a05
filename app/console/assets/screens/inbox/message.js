/** One message of a thread: its bubble, its state, what can be done with it. */
import { computed, el, untracked } from "../../dom.js";
import { remove } from "../../api.js";
import { clockOf, dayOf, priceOf, stamp } from "../../format.js";
import { button, icon, wordOf } from "../../parts/basics.js";
import { menu } from "../../parts/menu.js";
import { toastError } from "../../parts/notices.js";
import { link } from "../../router.js";
import { isAdmin } from "../../session.js";
import { changeLine } from "./changes.js";
import { content, summary } from "./content.js";
import { recipient } from "./conversations.js";
import { discard, send } from "./outbox.js";
import { message as text, failures as reasonText } from "texts/thread.js";

/** reason says why a message was not sent. @param {any} error */
export function reason({ code, message, provider_code: number }) {
  return reasonText[/** @type {131056} */ (number)] ?? reasonText[/** @type {"undeliverable"} */ (code)] ?? message.replace(/\.$/, "");
}

const ticks = {
  queued: "clock",
  pending: "clock",
  scheduled: "clock",
  sent: "check",
  delivered: "checks",
  read: "checks",
  failed: "warning",
};

/**
 * stateOf is the state of an outbound message, in the word that people see.
 * @param {any} m
 */
export const stateOf = (m) => (m.status === "pending" ? "queued" : m.status === "queued" && m.scheduled_at ? "scheduled" : m.status);

/** timeOf is when a message was, or is to be. @param {any} m @returns {string} */
export const timeOf = (m) => (stateOf(m) === "scheduled" ? m.scheduled_at : m.created_at);

/**
 * tick shows how far a message came, and says it to those who cannot see it.
 * @param {any} m
 */
export function tick(m) {
  const state = stateOf(m);
  const word = wordOf(state);
  return el("span.tick." + state, { title: m.pricing ? `${word} · ${priceOf(m.pricing)}` : word },
    icon(ticks[/** @type {"sent"} */ (state)] ?? "clock"),
    el("span.unseen", null, word),
  );
}

/**
 * @typedef {object} Context
 * @property {string} number
 * @property {() => string} name of the person
 * @property {(id: string | null) => string} personName of the team
 * @property {(id: string) => any} byProviderID
 * @property {(id: string) => void} goTo
 * @property {() => Map<string, Map<string, any>>} reactions
 * @property {(m: any) => void} reply
 * @property {(entry: import("./outbox.js").Entry) => boolean} canEdit
 * @property {(entry: import("./outbox.js").Entry) => void} edit
 * @property {(m: any, opener: HTMLElement) => void} react
 * @property {() => string} hit the id of a message that was searched for
 * @property {(m: any) => void} changed
 */

/**
 * @typedef {{ m: any, entry?: import("./outbox.js").Entry, day: string, isUnread: boolean, follows: boolean, changed: import("./changes.js").Change[] }} Row
 */

/**
 * article shows a message, with what happened, the day and the line of the unread before it.
 * @param {() => Row} row
 * @param {Context} at
 */
export function article(row, at) {
  const m = () => row().m;
  const { id, direction } = m();
  const isOfDay = (/** @type {any} */ change) => dayOf(Date.parse(change.created_at)) === dayOf(Date.parse(timeOf(m())));
  return el("div.turn", null,
    () => row().changed.filter((one) => !isOfDay(one)).map((one) => changeLine(one, dayOf(Date.parse(timeOf(m()))))),
    () => row().day && el("p.day", null, el("span", null, row().day)),
    () => row().changed.filter(isOfDay).map((one) => changeLine(one)),
    () => row().isUnread && el("p.unread-line", null, el("span", null, text.unread)),
    el("article", {
      id,
      tabindex: "-1",
      class: () => [
        "message",
        direction,
        m().type === "sticker" && "bare",
        m().status === "failed" && "failed",
        row().follows && "follows",
        m().is_revoked && "revoked",
      ].filter(Boolean).join(" "),
      "aria-current": () => (at.hit() === id ? "true" : null),
    },
      el("div.bubble", null,
        () => quote(m(), at),
        drawn(m),
        () => foot(m(), at),
        () => m().error && m().status === "failed" && failure(row(), at),
        () => chips(m(), at)),
      tools(row, at)));
}

/**
 * drawn shows what a message holds. It is built again only when that changes: a new tick must
 * not stop a voice message.
 * @param {() => any} m
 */
function drawn(m) {
  const held = computed(() => JSON.stringify([m().type, m()[m().type], m().media]));
  return () => held() && untracked(() => content(m()));
}

/** @param {any} m @param {Context} at */
function foot(m, at) {
  return el("p.foot", null,
    author(m, at),
    m.is_revoked && el("span", null, text.deleted),
    m.edited_at && el("span", null, text.edited),
    stamp(timeOf(m), clockOf),
    m.direction === "outbound" && tick(m));
}

/** author is who of the team wrote it, or what. @param {any} m @param {Context} at */
function author(m, at) {
  if (m.direction !== "outbound") return null;
  const name = m.sent_by ? at.personName(m.sent_by) : text.sources[/** @type {"api"} */ (m.source)];
  return name && el("span.author", { dir: "auto" }, name);
}

/** @param {any} m @param {Context} at */
function quote(m, at) {
  const target = m.context?.message_id ?? m.context?.id;
  if (!target || typeof target !== "string") return null;
  const found = at.byProviderID(target);
  const who = !found ? "" : found.direction === "inbound" ? at.name() : at.personName(found.sent_by) || text.you;
  return el("button.quote", { type: "button", title: text.quoted, onclick: () => at.goTo(target), dir: "auto" },
    who && el("b", null, who), el("span", null, found ? summary(found) : text.missing));
}

/** @param {Row} row @param {Context} at */
function failure({ m, entry }, at) {
  const number = m.error.provider_code ?? m.error.code;
  const again = () => {
    if (entry) discard(entry);
    const { messaging_product: _, ...body } = entry?.body ?? {
      ...recipient({ ...m, phone_number: m.to }),
      type: m.type,
      [m.type]: m[m.type],
      ...(m.context?.message_id && { context: m.context }),
    };
    send(at.number, m.conversation_id, body);
  };
  const action = (/** @type {string} */ name, /** @type {() => void} */ run) =>
    [el("button.textual", { type: "button", onclick: run }, name), " "];
  return el("p.failure", null, icon("warning"), el("span", null,
    m.error.code === "unknown" ? m.error.message + " " : text.notSent + reason(m.error) + " (" + number + "). ",
    m.error.code !== "message_cancelled" && action(text.again, again),
    () => entry && at.canEdit(entry) && action(text.edit, () => at.edit(entry)),
    entry && action(text.drop, () => discard(entry))));
}

/** @param {any} m @param {Context} at */
function chips(m, at) {
  const sides = at.reactions().get(m.message_id);
  const all = [...(sides ?? [])].filter(([, one]) => one.emoji);
  const who = (
    /** @type {string} */ side,
    /** @type {any} */ one,
  ) => (side === "inbound" ? at.name() : one.m?.sent_by ? at.personName(one.m.sent_by) : text.you);
  return all.length > 0 && el("p.reactions", null, all.map(([side, one]) => {
    const label = text.reactedBy(one.emoji, who(side, one));
    return el("span", { title: label, role: "img", "aria-label": label }, one.emoji);
  }));
}

/** tools is what can be done with a message. @param {() => Row} row @param {Context} at */
function tools(row, at) {
  const m = () => row().m;
  const isSent = () => Boolean(m().message_id) && !m().is_revoked;
  const tool = (/** @type {string} */ name, /** @type {string} */ drawing, /** @type {() => void} */ run) => button(name, {
    icon: drawing,
    look: "bare",
    iconOnly: true,
    "aria-disabled": () => !isSent() || null,
    run: () => isSent() && run(),
  });
  const react = tool(text.react, "smile", () => at.react(m(), react));
  return el("div.tools", null, tool(text.reply, "reply", () => at.reply(m())), react, moreButton(row, at));
}

/** @param {() => Row} row @param {Context} at */
function moreButton(row, at) {
  const opener = button(text.more, { icon: "dots", look: "bare", iconOnly: true });
  menu(opener, text.more, () => {
    const { m, entry } = row();
    const isWaiting = m.direction === "outbound" && m.status === "queued" && !entry?.tried;
    return [
      ...(isAdmin && !entry ? [{ name: text.trace, icon: "log", href: link("trace/" + m.id) }] : []),
      { name: text.copy, icon: "copy", run: () => void navigator.clipboard?.writeText(summary(m)) },
      ...(isWaiting ? [{ name: text.cancel, icon: "close", run: () => void (entry ? discard(entry) : cancel(m, at)) }] : []),
    ];
  });
  return opener;
}

/** @param {any} m @param {Context} at */
async function cancel(m, at) {
  try {
    at.changed(await remove(`v1/${at.number}/messages/${m.id}`));
  } catch (error) {
    toastError(error);
  }
}

/**
 * waiting is an entry of the outbox as a message.
 * @param {import("./outbox.js").Entry} entry
 * @param {string} sender
 */
export const waiting = (entry, sender) => ({
  id: "outbox-" + entry.key,
  direction: "outbound",
  status: entry.error ? "failed" : "queued",
  created_at: new Date(entry.at).toISOString(),
  conversation_id: entry.conversation,
  sent_by: sender,
  source: "console",
  ...entry.body,
  error: entry.error,
});
