/**
 * What happens elsewhere, as it happens: the organization's events, hints of what changed,
 * and who looks at what; and whether the server can be reached.
 *
 * A hint says that something of a kind has changed (`conversation`, `key`, `user` …), with
 * ids where they are known. It carries no data: who shows such things reads them again.
 * After the connection was lost everything may have changed, and the hint is `*`.
 *
 * One tab of the browser leads: it has the lock, reads the stream, and passes on what
 * comes to the others over a channel. When it is closed, the lock is another's; when it
 * has fallen silent, another takes the lock from it. Where browsers have no locks, which is
 * on plain http away from this machine, each tab leads for itself.
 *
 * A stream that is cut, or silent for longer than the server ever is, is opened again: at
 * once, then after ever longer waits. It goes on after the last event that came.
 */
import { signal } from "./dom.js";
import { listeners } from "./listeners.js";
import { clockOffset, me, root, sandbox, signInAgain } from "./session.js";

/**
 * @typedef {"conversation" | "contact" | "template" | "account" | "delivery" | "job" | "broadcast" | "key" | "user" | "label"
 *   | "quick_reply" | "view" | "rule" | "call"} Kind what a hint is about: those of storage/hints.go
 * @typedef {{ kind: Kind | "*", ids: string[] }} Hint
 * @typedef {{ id: string, name: string, state: "looking" | "typing" }} Colleague
 * @typedef {{ conversation_id: string, people: Colleague[] }} Presence
 * @typedef {{ event: string, data?: any, id?: string }} Message from the server, or between tabs
 */

const firstWait = 1000;
const longestWait = 15_000;
const silence = 40_000; // the server says something every 15 s
const noAnswer = 10_000;
const checkEvery = 2000;
const presenceEvery = 4000;
/** Whose console was not seen for ten minutes gets no conversations. */
const seenEvery = 240_000;

/** "connected", "reconnecting", or "suspended": the server is there, but the organization may not use it */
export const connection = signal("connected");

/** @type {ReturnType<typeof listeners<Hint>>} */
const hintListeners = listeners();
/** @type {ReturnType<typeof listeners<Message>>} */
const eventListeners = listeners();
/** @type {ReturnType<typeof listeners<Presence>>} */
const presenceListeners = listeners();
/** Who is known to look at each conversation, but for oneself. @type {Map<string, Presence>} */
const present = new Map();

const name = "confab " + root.pathname + " " + me.peek().id;
const channel = navigator.locks && window.BroadcastChannel ? new BroadcastChannel(name) : null;
let leads = false;
let leaving = false;
let position = "";
let lastReceived = Date.now();
let wait = firstWait;
let isAnswered = false;
/** Ends the present connection. @type {AbortController | null} */
let opened = null;
/** Ends the wait for the lock. */
let waiting = new AbortController();
/** Ends the wait for the next try. */
let retryNow = () => {};
let isUrgent = false;

/**
 * onChanged calls fn with every hint of some kinds, and after a reconnection. It returns
 * what ends that.
 * @param {Kind[]} kinds
 * @param {(hint: Hint) => void} fn
 */
export function onChanged(kinds, fn) {
  return hintListeners.add((hint) => {
    if (hint.kind === "*" || kinds.includes(hint.kind)) fn(hint);
  });
}

/**
 * together does work at once, and once more afterwards if it is asked for meanwhile; but it
 * does not wait for ever for an answer.
 * @param {() => Promise<unknown>} work
 */
export function together(work) {
  let isBusy = false;
  let isStale = false;
  return async () => {
    isStale = true;
    if (isBusy) return;
    isBusy = true;
    while (isStale) {
      isStale = false;
      await Promise.race([work().catch(() => {}), new Promise((resolve) => setTimeout(resolve, noAnswer))]);
    }
    isBusy = false;
  };
}

/**
 * onEvent calls fn with every event of some types. It returns what ends that.
 * @param {string[]} types
 * @param {(item: any) => void} fn
 */
export function onEvent(types, fn) {
  return eventListeners.add(({ event, data }) => {
    if (types.includes(event)) fn(data);
  });
}

/**
 * onPresence calls fn with who looks at each conversation, oneself left out: now, and
 * whenever that changes. It returns what ends that.
 * @param {(presence: Presence) => void} fn
 */
export function onPresence(fn) {
  present.forEach(fn);
  return presenceListeners.add(fn);
}

/**
 * announce passes a hint on to all who listen in this tab.
 * @param {Kind | "*"} kind
 * @param {...string} ids
 */
export function announce(kind, ...ids) {
  hintListeners.call({ kind, ids });
}

/** connect begins to listen. */
export function connect() {
  addEventListener("online", retry);
  addEventListener("offline", () => reportAnswer(false));
  addEventListener("pagehide", leave);
  addEventListener("pageshow", () => {
    leaving = false;
    sendPresence();
  });
  document.addEventListener("visibilitychange", () => {
    sendPresence();
    check();
    if (!document.hidden) retryNow();
  });
  setInterval(check, checkEvery);
  setInterval(() => leads && postPresence(), seenEvery);

  if (!channel) return lead();
  channel.onmessage = ({ data }) => receive(data);
  channel.postMessage({ event: "ask" });
  waitToLead();
}

/** waitToLead waits until no other tab leads. */
function waitToLead() {
  waiting = new AbortController();
  navigator.locks.request(name, { signal: waiting.signal }, lead).catch(giveUpLead);
}

/** giveUpLead lets the tab lead that has taken the lock. */
function giveUpLead() {
  if (!leads) return;
  leads = false;
  opened?.abort();
  waitToLead();
}

/** lead reads the stream, as long as this tab leads. */
async function lead() {
  leads = true;
  while (leads) {
    const began = Date.now();
    const wasUp = await read();

    // A connection that lasted is opened again before anyone is notified.
    const atOnce = !leads || isUrgent || (wasUp && !leaving && Date.now() - began > firstWait);
    isUrgent = false;
    if (atOnce) continue;
    if (!leaving) share({ event: "lost" });
    await new Promise((resolve) => {
      retryNow = () => resolve(null);
      setTimeout(resolve, wait);
    });
    wait = Math.min(2 * wait, longestWait);
  }
}

/** read reads one connection to its end, and reports whether there was one. */
async function read() {
  opened = new AbortController();
  let wasUp = false;
  isAnswered = false;
  share({ event: "" });
  try {
    const response = await fetch(new URL(sandbox ? "api/stream?clock_offset_ms=" + clockOffset : "api/stream", root), {
      cache: "no-store",
      headers: position ? { "Last-Event-ID": position } : {},
      signal: opened.signal,
    });
    if (response.status === 401) share({ event: "ended", data: { reason: "signed_out" } });
    const isSuspended = response.status === 403 && (await response.json()).error.code === "organization_suspended";
    if (isSuspended) share({ event: "ended", data: { reason: "suspended" } });
    if (!response.ok || !response.body) return false;
    isAnswered = true;

    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ;) {
      const { value, done } = await reader.read();
      if (done) break;
      wasUp = true;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) share(parse(block));
    }
  } catch {
    // It was cut, or never there.
  }
  opened = null;
  return wasUp;
}

/**
 * parse reads one block of server-sent events. Ours have each field once, on one line.
 * @param {string} block
 * @returns {Message}
 */
function parse(block) {
  /** @type {Record<string, string>} */
  const fields = {};
  for (const line of block.split("\n")) {
    const colon = line.indexOf(": ");
    fields[line.slice(0, colon)] = line.slice(colon + 2);
  }
  return { event: fields.event ?? "", id: fields.id, data: fields.data && JSON.parse(fields.data) };
}

/**
 * share passes a message on to all tabs.
 * @param {Message} message
 */
function share(message) {
  channel?.postMessage(message);
  receive(message);
}

/**
 * receive handles a message of the server, or of another tab.
 * @param {Message} message
 */
function receive(message) {
  const { event, data, id } = message;
  if (asked(event)) return;
  lastReceived = Date.now();
  if (id) position = id;
  switch (event) {
    case "": // still there
      break;
    case "here": // the tab that leads, to one that came later
      if (data.connection !== "connected") connection.set(data.connection);
      for (const one of data.present) updatePresence(one);
      break;
    case "ready":
      wait = firstWait;
      for (const one of [...present.keys()]) updatePresence({ conversation_id: one, people: [] });
      connection.set("connected");
      announce("*");
      sendPresence();
      break;
    case "lost":
      if (connection.peek() === "connected") connection.set("reconnecting");
      break;
    case "gap":
      announce("*");
      break;
    case "changed":
      announce(data.kind, ...data.ids);
      break;
    case "presence":
      updatePresence(data);
      break;
    case "ended":
      if (data.reason === "role_changed" || data.reason === "clock_moved") location.reload();
      else if (data.reason === "signed_out" || data.reason === "disabled") signInAgain();
      else if (data.reason === "suspended" && connection.peek() !== "suspended") {
        connection.set("suspended");
        announce("account"); // nothing can be sent from its numbers
      }
      break;
    default:
      eventListeners.call(message);
  }
}

/**
 * asked does what another tab asks of the one that leads, and reports whether it is that.
 * @param {string} event
 */
function asked(event) {
  if (event === "ask") {
    if (leads) channel?.postMessage({ event: "here", data: { connection: connection.peek(), present: [...present.values()] } });
  } else if (event === "reopen") {
    if (leads) reopen();
  } else if (event === "retryNow") retryNow();
  else return false;
  return true;
}

/** reopen opens the stream anew, now. */
function reopen() {
  isUrgent = true;
  opened?.abort();
  retryNow();
}

/** check notices a connection that is dead, as after a sleep, and a tab that leads no more. */
function check() {
  const silent = Date.now() - lastReceived;
  if (leads) {
    if (opened && silent > (isAnswered ? silence : noAnswer)) reopen();
  } else if (silent > 1.5 * silence && !document.hidden && channel) {
    lastReceived = Date.now();
    waiting.abort();
    navigator.locks.request(name, { steal: true }, lead).catch(giveUpLead);
  }
}

/**
 * reportAnswer reports whether a call was answered.
 * @param {boolean} answered
 */
export function reportAnswer(answered) {
  if (answered === (connection.peek() === "connected")) return;
  if (!answered) {
    connection.set("reconnecting");
    retry();
  } else if (leads) retryNow();
  else channel?.postMessage({ event: "retryNow" });
}

/** retry looks at once whether the server is there. */
export function retry() {
  if (leads) reopen();
  else channel?.postMessage({ event: "reopen" });
}

/** @param {Presence} presence */
function updatePresence({ conversation_id, people }) {
  const others = people.filter((one) => one.id !== me.peek().id);
  const now = { conversation_id, people: others };
  if (!others.length && !present.has(conversation_id)) return;
  if (others.length) present.set(conversation_id, now);
  else present.delete(conversation_id);
  presenceListeners.call(now);
}

const tab = String(Math.random()).slice(2);
let looking = { conversation_id: /** @type {string | null} */ (null), typing: false, tab };
let presenceTimer = 0;
let wasPresent = false;

/**
 * reportPresence shows colleagues what is on screen here, and goes on doing so until it is called
 * with null, or the page is hidden or left.
 * @param {string | null} conversation
 * @param {boolean} [typing]
 */
export function reportPresence(conversation, typing = false) {
  if (looking.conversation_id === conversation && looking.typing === typing) return;
  looking = { conversation_id: conversation, typing, tab };
  sendPresence();
}

/** sendPresence sends it once, and again as long as it is true. */
function sendPresence() {
  clearInterval(presenceTimer);
  const isPresent = looking.conversation_id !== null && !document.hidden && !leaving;
  if (isPresent) presenceTimer = setInterval(postPresence, presenceEvery);
  if (isPresent || wasPresent) postPresence();
  wasPresent = isPresent;
}

function postPresence() {
  const isPresent = !document.hidden && !leaving;
  fetch(new URL("api/presence", root), {
    method: "POST",
    keepalive: true,
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(isPresent ? looking : { ...looking, conversation_id: null }),
  }).catch(() => {});
}

/** leave says goodbye when the page is left. */
function leave() {
  leaving = true;
  sendPresence();
}
