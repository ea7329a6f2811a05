/** Notices at the edge of the window: what was done, what went wrong, a lost connection. */
import { el, list, signal } from "../dom.js";
import { APIError } from "../api.js";
import { connection, retry } from "../live.js";
import { button, icon } from "./basics.js";
import { sending as sendingText } from "texts/composer.js";
import { notices as text, connection as lostText } from "texts/parts.js";

const shownFor = 6000;

/**
 * @typedef {{ name: string, run: () => void }} Action
 * @typedef {{ id: number, message: string, tone: "good" | "bad", detail: string, action: Action | null }} Toast
 */

const toasts = signal(/** @type {Toast[]} */ ([]));
let last = 0;

/** @param {number} id */
const dismiss = (id) => toasts.update((all) => all.filter((one) => one.id !== id));

/** @param {Omit<Toast, "id">} one */
function add(one) {
  const id = ++last;
  toasts.update((all) => [...all.filter((each) => each.message !== one.message).slice(-3), { id, ...one }]);
  return id;
}

/**
 * toast says what was done, for a while.
 * @param {string} message
 * @param {{ name: string, run: () => void } | null} [action]
 */
export function toast(message, action = null) {
  const id = add({ message, tone: "good", detail: "", action });
  const leave = () => {
    // It stays while somebody looks at it.
    const node = document.querySelector(`[data-toast="${id}"]`);
    if (node?.matches(":hover, :focus-within")) setTimeout(leave, 1000);
    else dismiss(id);
  };
  setTimeout(leave, shownFor);
}

/**
 * toastError says what went wrong, until it is dismissed.
 * @param {unknown} error
 */
export function toastError(error) {
  if (error instanceof DOMException && error.name === "AbortError") return;
  if (!(error instanceof APIError)) reportError(error);
  const known = error instanceof APIError;
  add({ message: known ? error.message : text.failed, tone: "bad", detail: known && error.requestID ? error.requestID : "", action: null });
}

/** toastFailure says what was not done, and why, until it is dismissed. @param {string} message */
export const toastFailure = (message) => void add({ message, tone: "bad", detail: "", action: null });

/** toastRegion is where toasts appear. It is there from the start, so that they are read out. */
export function toastRegion() {
  return el("section.toasts", { "aria-label": text.region, "aria-live": "polite" },
    list(toasts, (one) => one.id, (one) => {
      const { id, message, tone, detail, action } = one();
      return el("div.toast." + tone, { "data-toast": id, role: tone === "bad" ? "alert" : null },
        icon(tone === "bad" ? "warning" : "check"),
        el("p", null, message, detail && el("small", null, detail)),
        action && button(action.name, { look: "bare", run: () => { dismiss(id); action.run(); } }),
        button(text.dismiss, { icon: "close", look: "bare", iconOnly: true, run: () => dismiss(id) }));
    }));
}

/** connectionBar shows when the server is gone, and how it reconnects; or that the organization is suspended. */
export function connectionBar() {
  return el("div.connection", { role: "status" }, () =>
    connection() !== "connected" && el("div.connection-bar", null,
      el("span.pulse"),
      el("span", null, connection() === "suspended" ? sendingText.reasons.organization_suspended : lostText.lost),
      button(lostText.now, { look: "bare", run: retry }),
    ));
}
