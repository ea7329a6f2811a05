/**
 * Drafts: what somebody has begun to write in a conversation. They are kept in this browser,
 * and are taken away when the person signs out.
 *
 * A text that the server refused becomes the draft again, whole and with the reason: at once,
 * when the conversation is opened, or when somebody asks for it. But it is never mixed into what
 * was begun since, and what may have been sent is no draft.
 */
import { onDispose, signal } from "../../dom.js";
import { leaving, me } from "../../session.js";
import { hasFiles } from "./attachments.js";
import { discard, onRefused, outbox, settled } from "./outbox.js";

/**
 * @typedef {import("./outbox.js").Entry} Entry
 * @typedef {object} Draft
 * @property {string} text
 * @property {string} replyTo the provider's id of the message that it answers, or ""
 * @property {string} sendAt when it is to be sent, or ""
 * @property {any} interactive buttons or a list below the text, or null
 * @property {Entry["error"] | null} error why it was refused
 */

/** @type {Draft} */
export const noDraft = { text: "", replyTo: "", sendAt: "", interactive: null, error: null };

const prefix = `confab.draft.${me.peek().id}.`;
/** How long resolving waits for what is being sent. */
const moment = 1000;

/** Those of this page, also where the browser stores nothing. @type {Map<string, import("../../dom.js").Signal<Draft>>} */
const drafts = new Map();

/** @param {string} conversation @returns {Draft} */
function read(conversation) {
  let stored = "";
  try {
    stored = localStorage.getItem(prefix + conversation) ?? "";
    const draft = JSON.parse(stored || "{}");
    if (Object(draft) === draft) return { ...noDraft, ...draft };
  } catch {
    // It may be forbidden, or of a time when it was the text alone.
  }
  return { ...noDraft, text: stored };
}

/** @param {string} conversation @param {Draft} draft */
function store(conversation, draft) {
  if (leaving.peek() === "gone") return;
  try {
    if (draft.text) localStorage.setItem(prefix + conversation, JSON.stringify(draft));
    else localStorage.removeItem(prefix + conversation);
  } catch {
    // It lasts as long as the page.
  }
}

/** known is the draft of a conversation. @param {string} conversation */
function known(conversation) {
  const draft = drafts.get(conversation) ?? signal(read(conversation));
  drafts.set(conversation, draft);
  return draft;
}

// What is written in another tab is shown here too, unless somebody writes here.
addEventListener("storage", ({ key }) => {
  const conversation = key?.startsWith(prefix) ? key.slice(prefix.length) : "";
  if (!document.hasFocus()) drafts.get(conversation)?.set(read(conversation));
});

/** @param {Entry} entry */
const isSurelyUnsent = (entry) =>
  Boolean(entry.error) && entry.error?.code !== "unknown" && (entry.body.type === "text" || entry.body.type === "interactive");

/** draftOf is the draft of the conversation that is open. @param {string} id */
export function draftOf(id) {
  const draft = known(id);
  const set = (/** @type {Draft} */ next) => {
    draft.set(next);
    store(id, next);
  };
  const isFree = () => !draft().text && !draft().replyTo && !hasFiles(id);

  /** edit makes a refused text the draft. @param {Entry} entry */
  const edit = (entry) => {
    const { text, interactive = null, context, scheduled_at: sendAt = "" } = entry.body;
    const words = text?.body ?? interactive.body.text;
    discard(entry); // first: there may be room for one of them only
    set({ text: words, replyTo: context?.message_id ?? "", sendAt, interactive, error: entry.error ?? null });
  };
  const takeBack = (/** @type {Entry | undefined} */ entry) => {
    if (entry?.conversation === id && isSurelyUnsent(entry) && isFree()) edit(entry);
  };
  onDispose(onRefused(takeBack));
  takeBack(outbox.peek().find((one) => one.conversation === id && isSurelyUnsent(one)));

  return {
    value: () => draft(),
    set,
    /** @param {Partial<Draft>} more */
    change: (more) => set({ ...draft.peek(), ...more }),
    edit,
    /** Whether an entry may become the draft. @param {Entry} entry */
    canEdit: (entry) => isSurelyUnsent(entry) && isFree(),
  };
}

/**
 * unsentIn says what of a conversation was written and not sent: a "draft", which may have been refused, a message
 * that is "waiting", or "". What is just being sent has a moment.
 * @param {string} conversation
 */
export async function unsentIn(conversation) {
  const messages = () => outbox.peek().filter((one) => one.conversation === conversation && one.body.type !== "reaction");
  if (known(conversation).peek().text || hasFiles(conversation) || messages().some((one) => one.error)) return "draft";
  if (messages().length > 0) await Promise.race([settled(), new Promise((resolve) => setTimeout(resolve, moment))]);
  return messages().some((one) => one.error) ? "draft" : messages().length > 0 ? "waiting" : "";
}

/** @returns {string[]} the names under which drafts are stored */
function storedNames() {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(prefix));
  } catch {
    return [];
  }
}

/** countUnsent counts the messages that wait to be sent, or were refused. */
export function countUnsent() {
  const refused = storedNames().filter((key) => read(key.slice(prefix.length)).error);
  return outbox.peek().length + refused.length;
}

/** forgetWords takes away what the person wrote here, for good: whoever comes next must not read it. */
export function forgetWords() {
  outbox.peek().forEach(discard);
  leaving.set("gone");
  storedNames().forEach((key) => localStorage.removeItem(key));
}
