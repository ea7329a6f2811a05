/**
 * What happens elsewhere: whether the server can be reached, and hints of what changed.
 *
 * A hint says that something of a kind has changed (`conversation`, `key`, `user` …), with
 * ids where they are known. It carries no data: who shows such things reads them again.
 * After the connection was lost everything may have changed, and the hint is `*`.
 *
 * Until the server has a stream for consoles, connect has nothing to open: a call that is
 * answered says that the server is there, one that is not says that it is gone, and then
 * it is asked again, after ever longer waits, until it answers.
 */
import { signal } from "./dom.js";
import { root } from "./session.js";

/** @typedef {{ kind: string, ids: string[] }} Hint */

const firstWait = 1000;
const longestWait = 15_000;

/** "connected" or "reconnecting" */
export const connection = signal("connected");

/** @type {Set<(hint: Hint) => void>} */
const listeners = new Set();
let wait = firstWait;
let timer = 0;

/**
 * onChanged calls fn with every hint of some kinds, and after a reconnection. It returns
 * what ends that.
 * @param {string[]} kinds
 * @param {(hint: Hint) => void} fn
 */
export function onChanged(kinds, fn) {
  /** @param {Hint} hint */
  const listener = (hint) => {
    if (hint.kind === "*" || kinds.includes(hint.kind)) fn(hint);
  };
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}

/**
 * announce passes a hint on to all who listen.
 * @param {string} kind
 * @param {...string} ids
 */
export function announce(kind, ...ids) {
  for (const listener of [...listeners]) listener({ kind, ids });
}

/** connect begins to listen, and looks at once when the machine wakes up or is online again. */
export function connect() {
  addEventListener("online", retry);
  addEventListener("offline", () => reportAnswer(false));
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && connection.peek() !== "connected") retry();
  });
}

/**
 * reportAnswer tells whether a call was answered.
 * @param {boolean} answered
 */
export function reportAnswer(answered) {
  if (!answered) {
    connection.set("reconnecting");
    if (!timer) timer = setTimeout(retry, wait);
    return;
  }
  clearTimeout(timer);
  timer = 0;
  wait = firstWait;
  if (connection.peek() === "connected") return;
  connection.set("connected");
  announce("*");
}

/** retry asks whether the server is there again. Any answer will do. */
export async function retry() {
  if (connection.peek() === "connected") return;
  clearTimeout(timer);
  timer = 0;
  wait = Math.min(2 * wait, longestWait);
  const answered = await fetch(new URL("api/v1/health", root), { cache: "no-store" }).then(() => true, () => false);
  reportAnswer(answered);
}

/**
 * onEvent calls fn with every event of some types, as the organization's stream has it.
 * @param {string[]} types
 * @param {(item: any) => void} fn
 */
export function onEvent(types, fn) {
  return () => void [types, fn];
}

/** @param {(seen: { conversation_id: string, people: { id: string, name: string, state: string }[] }) => void} fn */
export function onPresence(fn) {
  return () => void fn;
}

/**
 * lookAt tells colleagues which conversation is on screen, and whether something is typed.
 * @param {string | null} conversation
 * @param {boolean} typing
 */
export function lookAt(conversation, typing) {
  void [conversation, typing];
}
