/**
 * What was sent from here and has not reached the server yet. It is kept in this browser,
 * an entry for each message, so that it survives a reload, a lost connection and a killed
 * server. Each entry has an idempotency key: however often it is sent, by however many
 * tabs, the server takes it once.
 *
 * An entry waits, or was refused. One that waits is sent again when the connection is
 * back. A text that was refused becomes the draft of its conversation again, with the reason,
 * unless there is another. Anything else that was refused stays, with the reason, until
 * somebody sends it again or takes it away.
 */
import { signal } from "../../dom.js";
import { APIError, newKey, post } from "../../api.js";
import { onChanged } from "../../live.js";
import { toastError } from "../../parts/notices.js";
import { me } from "../../session.js";

/**
 * @typedef {object} Entry
 * @property {string} key
 * @property {string} number
 * @property {string} conversation
 * @property {any} body of the call
 * @property {number} at
 * @property {boolean} [tried]
 * @property {{ code: string, message: string, provider_code: null }} [error]
 */

const text = { stale: "It is not known whether this was sent yesterday. Look at the other side before you send it again." };
const prefix = `confab.outbox.${me.peek().id}.`;
const delay = 2000;
/** The server remembers keys for a day. */
const keyLife = 23 * 3_600_000;

/** @returns {Entry[]} */
function stored() {
  try {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(prefix));
    return keys.map((key) => JSON.parse(localStorage.getItem(key) ?? "")).sort((a, b) => a.at - b.at);
  } catch {
    return [];
  }
}

/** @type {import("../../dom.js").Signal<Entry[]>} */
export const outbox = signal(stored());

/** @type {Set<(message: any, entry: Entry) => void>} */
const listeners = new Set();
/** @type {Set<() => void>} */
const refusalListeners = new Set();
/** @type {Promise<void> | null} */
let running = null;
let timer = 0;

/** @param {Entry} entry */
function keep(entry) {
  outbox.update((all) => [...all.filter((one) => one.key !== entry.key), entry].sort((a, b) => a.at - b.at));
  try {
    localStorage.setItem(prefix + entry.key, JSON.stringify(entry));
  } catch {
    // It may be forbidden, or full: then it lasts as long as the page.
  }
}

/** discard takes an entry away. @param {Entry} entry */
export function discard(entry) {
  outbox.update((all) => all.filter((one) => one.key !== entry.key));
  try {
    localStorage.removeItem(prefix + entry.key);
  } catch {
    // It was never kept.
  }
}

/**
 * send sends a message, now or as soon as that can be.
 * @param {string} number
 * @param {string} conversation
 * @param {any} body
 */
export function send(number, conversation, body) {
  keep({ key: newKey(), number, conversation, body: { messaging_product: "chat", ...body }, at: Date.now() });
  flush();
}

/** onSent calls fn with each message that the server has taken. @param {(message: any, entry: Entry) => void} fn */
export function onSent(fn) {
  listeners.add(fn);
  return () => void listeners.delete(fn);
}

/** onRefused calls fn when the server has refused a message. @param {() => void} fn */
export function onRefused(fn) {
  refusalListeners.add(fn);
  return () => void refusalListeners.delete(fn);
}

/** settled waits for the messages being sent. */
export const settled = () => running ?? Promise.resolve();

/** flush sends what waits, one after the other. */
export function flush() {
  running ??= sendAll().catch(reportError).finally(() => (running = null));
  return running;
}

async function sendAll() {
  for (let entry = next(); entry; entry = next()) {
    if (entry.tried && Date.now() - entry.at > keyLife) {
      keep({ ...entry, error: { code: "unknown", message: text.stale, provider_code: null } });
      continue;
    }
    if (!entry.tried) keep((entry = { ...entry, tried: true }));
    try {
      const message = await post(`v1/${entry.number}/messages`, entry.body, { idempotencyKey: entry.key });
      listeners.forEach((fn) => fn(message, /** @type {Entry} */ (entry)));
      discard(entry);
    } catch (error) {
      if (!(error instanceof APIError)) throw error;
      // A request whose answer was cut off may have been accepted: the key shows that.
      const { status, code } = error;
      const isLater = status < 400 || status > 499 || status === 401 || status === 429 || code === "idempotency_in_progress";
      if (isLater) return void retryLater(error.lost);
      if (entry.body.type === "reaction") {
        toastError(error); // there is no place in the thread for one that failed
        discard(entry);
        continue;
      }
      keep({ ...entry, error: { code: error.code, message: error.message, provider_code: null } });
      refusalListeners.forEach((fn) => fn());
    }
  }
}

const next = () => outbox.peek().find((one) => !one.error);

/** @param {boolean} lost then the connection mostly reports when it is back */
function retryLater(lost) {
  clearTimeout(timer);
  timer = setTimeout(flush, lost ? 5 * delay : delay);
}

onChanged([], () => void flush());
addEventListener("storage", (event) => {
  if (!event.key?.startsWith(prefix)) return;
  outbox.set(stored());
  clearTimeout(timer);
  timer = setTimeout(flush, delay); // the tab that wrote it may be gone
});
flush();

/**
 * Drafts: a text per conversation, kept in this browser; of one that was refused, also why.
 * @typedef {{ text: string, error: Entry["error"] | null }} Draft
 */
const draftKey = (/** @type {string} */ conversation) => `confab.draft.${me.peek().id}.${conversation}`;
const reasonKey = (/** @type {string} */ conversation) => `confab.refused.${me.peek().id}.${conversation}`;

/** @param {string} conversation @returns {Draft} */
export function readDraft(conversation) {
  try {
    const error = JSON.parse(localStorage.getItem(reasonKey(conversation)) ?? "null");
    return { text: localStorage.getItem(draftKey(conversation)) ?? "", error };
  } catch {
    return { text: "", error: null };
  }
}

/** @param {string} conversation @param {Draft} draft */
export function keepDraft(conversation, { text, error }) {
  const put = (/** @type {string} */ key, /** @type {string} */ value) =>
    (value ? localStorage.setItem(key, value) : localStorage.removeItem(key));
  try {
    put(draftKey(conversation), text);
    put(reasonKey(conversation), error ? JSON.stringify(error) : "");
  } catch {
    // It lasts as long as the page.
  }
}

/** hasUnsent reports whether something for a conversation was written and not sent. @param {string} conversation */
export const hasUnsent = (conversation) =>
  readDraft(conversation).text !== "" || outbox.peek().some((one) => one.conversation === conversation && one.error);
