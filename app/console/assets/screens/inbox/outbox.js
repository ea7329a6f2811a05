/**
 * What was sent from here and has not reached the server yet. It is kept in this browser,
 * an entry for each message, so that it survives a reload, a lost connection and a killed
 * server. Each entry has an idempotency key: however often it is sent, by however many
 * tabs, the server takes it once.
 *
 * An entry waits, or was refused. One that waits is sent again when the connection is
 * back. One that was refused stays, with the reason, until somebody sends it again or takes
 * it away; a text may become the draft of its conversation again (drafts.js).
 */
import { effect, signal } from "../../dom.js";
import { APIError, newKey, post } from "../../api.js";
import { onChanged } from "../../live.js";
import { toastError } from "../../parts/notices.js";
import { leaving, me } from "../../session.js";
import { outbox as text } from "texts/composer.js";

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

const prefix = `confab.outbox.${me.peek().id}.`;
const delay = 2000;
/** How long the server has to answer: after a sleep, or through a dead proxy, it never does. */
const patience = 30_000;
/** The server remembers keys for a day. */
const keyLife = 23 * 3_600_000;

/** These errors come before the server looks whether it has taken a key already. */
const beforeKey = [
  "organization_suspended", "permission_denied", "feature_not_available", "feature_not_entitled", "resource_not_found",
];

/** What the browser did not store, because that is forbidden or full: it lasts as long as the page. @type {Map<string, Entry>} */
const unstored = new Map();

/** @param {Entry} a @param {Entry} b */
const byAge = (a, b) => a.at - b.at;

/** read lists what there is, the oldest first. @returns {Entry[]} */
function read() {
  /** @type {Entry[]} */
  let stored = [];
  try {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(prefix));
    // Another tab may take one away meanwhile.
    stored = keys.map((key) => JSON.parse(localStorage.getItem(key) ?? "null")).filter(Boolean);
  } catch {
    // It may be forbidden.
  }
  return [...stored, ...unstored.values()].sort(byAge);
}

/** @type {import("../../dom.js").Signal<Entry[]>} */
export const outbox = signal(read());

/** @type {Set<(message: any, entry: Entry) => void>} */
const listeners = new Set();
/** @type {Set<(entry: Entry) => void>} */
const refusalListeners = new Set();
/** @type {Promise<void> | null} */
let running = null;
let timer = 0;

/** @param {Entry} entry */
function keep(entry) {
  if (leaving.peek() === "gone") return;
  try {
    localStorage.setItem(prefix + entry.key, JSON.stringify(entry));
    unstored.delete(entry.key);
  } catch {
    unstored.set(entry.key, entry);
  }
  outbox.update((all) => [...all.filter((one) => one.key !== entry.key), entry].sort(byAge));
}

/** change changes an entry, unless another tab has sent it or taken it away, and reports whether it did. @param {Entry} entry */
function change(entry) {
  const isThere = read().some((one) => one.key === entry.key);
  if (isThere) keep(entry);
  else discard(entry);
  return isThere;
}

/** discard takes an entry away. @param {Entry} entry */
export function discard(entry) {
  unstored.delete(entry.key);
  try {
    localStorage.removeItem(prefix + entry.key);
  } catch {
    // It was never stored.
  }
  outbox.update((all) => all.filter((one) => one.key !== entry.key));
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

/** onRefused calls fn with each message that the server has refused. @param {(entry: Entry) => void} fn */
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
    const isRepeated = Boolean(entry.tried);
    if (isRepeated && Date.now() - entry.at > keyLife) {
      change({ ...entry, error: unknown });
      continue;
    }
    if (!isRepeated && !change((entry = { ...entry, tried: true }))) continue;
    const late = AbortSignal.timeout(patience);
    try {
      const message = await post(`v1/${entry.number}/messages`, entry.body, { idempotencyKey: entry.key, signal: late });
      listeners.forEach((fn) => fn(message, /** @type {Entry} */ (entry)));
      discard(entry);
    } catch (error) {
      if (late.aborted) return void retryLater(false);
      if (!(error instanceof APIError)) throw error;
      // A request whose answer was cut off may have been accepted: the key shows that.
      const { status, code } = error;
      const isLater = status < 400 || status > 499 || status === 401 || status === 429 || code === "idempotency_in_progress";
      if (isLater) return void retryLater(error.lost);
      refuse(entry, error, isRepeated);
    }
  }
}

const unknown = { code: "unknown", message: text.unknown, provider_code: null };

/** refuse keeps an entry with the reason. @param {Entry} entry @param {APIError} error @param {boolean} isRepeated */
function refuse(entry, error, isRepeated) {
  if (entry.body.type === "reaction") {
    toastError(error); // there is no place in the thread for one that failed
    return discard(entry);
  }
  const isUnknown = isRepeated && beforeKey.includes(error.code);
  const refused = { ...entry, error: isUnknown ? unknown : { code: error.code, message: error.message, provider_code: null } };
  if (change(refused)) refusalListeners.forEach((fn) => fn(refused));
}

const next = () => (leaving.peek() ? undefined : outbox.peek().find((one) => !one.error));

/** @param {boolean} lost then the connection mostly reports when it is back */
function retryLater(lost) {
  clearTimeout(timer);
  timer = setTimeout(flush, lost ? 5 * delay : delay);
}

onChanged([], () => void flush());
addEventListener("storage", (event) => {
  if (!event.key?.startsWith(prefix)) return;
  outbox.set(read());
  clearTimeout(timer);
  timer = setTimeout(flush, delay); // the tab that wrote it may be gone
});
addEventListener("beforeunload", (event) => {
  if (unstored.size > 0 && !leaving.peek()) event.preventDefault();
});

// Nothing is sent while somebody is asked whether to sign out, nor afterwards.
effect(() => {
  if (leaving() === "") flush();
  if (leaving() !== "gone") return;
  unstored.clear();
  outbox.set([]);
});
