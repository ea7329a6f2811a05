/** What a screen shows when there is nothing, not yet, or not at all. */
import { computed, el, onDispose, signal, untracked } from "../dom.js";
import { APIError, get, latest } from "../api.js";
import { onChanged, together } from "../live.js";
import { button, copyable, icon } from "./basics.js";
import { problems, states as text } from "texts/parts.js";

/** How often what changes all the time is read again, in milliseconds. */
export const pace = 1000;

/** How long a screen stays as it is before it says that it loads. */
const delay = 150;

/**
 * empty says what will be here and how to get the first one.
 * @param {{ icon: string, title: string, body: import("../dom.js").Child, action?: import("../dom.js").Child, level?: string }} options
 */
export function empty({ icon: drawing, title, body, action, level = "h2" }) {
  return el("div.empty", null,
    el("span.empty-icon", null, icon(drawing)),
    el(level, null, title),
    el("div.prose", null, body),
    action && el("div.actions", null, action),
  );
}

/**
 * skeleton is shown in place of rows that are being loaded. It shows only after a moment.
 * @param {number} [rows]
 */
export function skeleton(rows = 4) {
  const shown = signal(false);
  const timer = setTimeout(() => shown.set(true), delay);
  onDispose(() => clearTimeout(timer));
  return el("div.skeleton", { role: "status", "aria-label": text.loading },
    () => shown() && Array.from({ length: rows }, () => el("div.skeleton-row", null, el("span"), el("span"))),
  );
}

/**
 * failed says what happened, whether anything was lost, and what to do.
 * @param {unknown} error
 * @param {() => void} retry
 * @param {string} [level] of the heading
 */
export function failed(error, retry, level = "h2") {
  const [title, body] = explain(error);
  const requestID = error instanceof APIError ? error.requestID : null;
  return el("div.empty.failed", { role: "alert" },
    el("span.empty-icon", null, icon(error instanceof APIError && error.status === 403 ? "lock" : "warning")),
    el(level, null, title),
    el("div.prose", null, el("p", null, body)),
    requestID && el("p.reference", null, text.reference + " ", copyable(requestID, { name: text.request })),
    el("div.actions", null, button(text.again, { run: retry })));
}

/** isGone reports whether an error is that something is not there. @param {any} error */
const isGone = (error) => error?.status === 404;

/** @param {unknown} error */
function explain(error) {
  if (!(error instanceof APIError)) return [text.failedTitle, text.pageFailed];
  if (error.lost) return [text.lostTitle, text.lost];
  if (isGone(error)) return [text.goneTitle, text.gone];
  if (error.code === "permission_denied") return [text.deniedTitle, text.denied];
  return [text.failedTitle, error.message + " " + text.failed];
}

/**
 * wrongText is what the server says of a field, for who sees it beside the field.
 * @param {APIError} error
 */
export function wrongText({ message, param }) {
  return param && message.startsWith(param + " ") ? problems.of(message.slice(param.length + 1)) : message;
}

/**
 * problem is what went wrong with a form as a whole.
 * @param {unknown} error
 */
export function problem(error) {
  const known = error instanceof APIError;
  return el("div.problem", { role: "alert" },
    el("p", null, known ? error.message : text.pageFailed),
    known && error.requestID && el("p.reference", null, text.reference + " ", copyable(error.requestID, { name: text.request })));
}

/**
 * @template T
 * @typedef {{ data: () => T | undefined, error: () => unknown, reload: () => Promise<void>, set: (data: T) => void }} Resource
 */

/**
 * resource reads something, and reads it again when a hint says that it has changed. What
 * was read stays until there is something newer; what is read from an address, until it is
 * something else, because a hint may be about another thing of its kind, and what is drawn
 * again loses the focus and what was typed.
 * @template T
 * @param {string | ((signal: AbortSignal) => Promise<T>)} read where, or how
 * @param {import("../live.js").Kind[]} [kinds] of hints
 * @param {number} [pace] how long it waits, in milliseconds, before it follows further hints
 * @returns {Resource<T>}
 */
export function resource(read, kinds = [], pace = 0) {
  const data = signal(/** @type {T | undefined} */ (undefined));
  const error = signal(/** @type {unknown} */ (null));
  let running = new AbortController();
  let newest = Promise.resolve();

  /** @param {T} fresh */
  const show = (fresh) => {
    if (typeof read === "string") fresh = latest(data.peek(), fresh); // a change may have been answered meanwhile
    if (typeof read !== "string" || JSON.stringify(fresh) !== JSON.stringify(data.peek())) data.set(fresh);
  };
  // It ends when what is shown is no older than the call.
  const reload = () => (newest = readAgain());
  const readAgain = async () => {
    running.abort();
    const mine = (running = new AbortController());
    try {
      const fresh = await (typeof read === "string" ? get(read, mine) : read(mine.signal));
      if (mine.signal.aborted) return newest;
      show(fresh);
      error.set(null);
    } catch (failure) {
      if (mine.signal.aborted) return newest;
      if (!(failure instanceof APIError)) reportError(failure);
      error.set(failure);
    }
  };

  let isOver = false;
  onDispose(onChanged(kinds, together(async () => {
    if (isOver) return;
    await reload();
    if (pace) await new Promise((resolve) => setTimeout(resolve, pace));
  })));
  onDispose(() => (isOver = true));
  onDispose(() => {
    running.abort();
    newest = Promise.resolve();
  });
  reload();
  return { data, error, reload, set: data.set };
}

/**
 * loaded shows a resource: a skeleton, what went wrong, or what render makes of it. render
 * is called once, and gets the data as a signal: newer data changes the elements in place.
 * What could not be read again stays, unless it is gone.
 * @template T
 * @param {Resource<T>} from
 * @param {(data: () => T) => import("../dom.js").Child} render
 * @param {number} [rows] of the skeleton
 * @param {string} [level] of the heading when it failed: "h1" where it is the whole screen
 * @returns {() => import("../dom.js").Child}
 */
export function loaded(from, render, rows, level) {
  const phase = computed(() => (from.data() !== undefined && !isGone(from.error()) ? "ready" : from.error() ? "failed" : "loading"));
  return () => {
    switch (phase()) {
      case "ready":
        return untracked(() => render(/** @type {() => T} */ (from.data)));
      case "failed":
        from.set(/** @type {any} */ (undefined)); // now that it is not shown any more
        return () => failed(from.error(), from.reload, level);
      default:
        return skeleton(rows);
    }
  };
}
