/**
 * Who is signed in, and where: what the page was given when it was served, what the whole
 * console shares, and what the person prefers in this browser. Nothing secret is ever kept
 * in the browser, and nothing that the person wrote once it has signed out. Where it keeps
 * nothing, a choice holds until the page is closed.
 */
import { computed, effect, signal } from "./dom.js";

/**
 * preference is a signal that this browser remembers.
 * @param {string} name
 * @param {string} initial
 */
export function preference(name, initial) {
  const key = "confab." + name;
  let stored = null;
  try {
    stored = localStorage.getItem(key);
  } catch {
    // It may be forbidden.
  }
  const value = signal(stored ?? initial);
  const set = value.set;
  value.set = (next) => {
    set(next);
    try {
      localStorage.setItem(key, next);
    } catch {
      // It may be forbidden, or full.
    }
  };
  return value;
}

/** "system", "light" or "dark" */
export const theme = preference("theme", "system");

/** "on" or "off": whether single keys do something. Ctrl-K always does. */
export const singleKeys = preference("single_keys", "on");

/** "on" or "off": whether the next conversation opens when one was resolved. */
export const goesOn = preference("go_on", "on");

/** "on" or "off": whether a new message makes a sound while the console is in the background. */
export const sound = preference("sound", "off");

/** The business number that is looked at: its phone_number_id, or "" for the first. */
export const chosenNumber = preference("number", "");

/** "on" or "off": whether the inbox of a sandbox has the phone beside it. */
export const phoneBeside = preference("phone_beside", "off");

/** applyTheme keeps the page in the chosen theme; theme.js does it before the first paint. */
export function applyTheme() {
  effect(() => {
    if (theme() === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme();
  });
}

/**
 * @typedef {{ id: string, name: string, email: string | null, role: "admin" | "agent", available: boolean, notify_about: string }} User
 * @typedef {{ phone_number_id: string, phone_number: string | null, name: string | null, status: string, customer_id: string | null }} Account
 * @typedef {{ user: User, organization: { id: string, name: string }, sandbox: boolean, clock_offset_ms: number, screens: string[], guides: Record<string, string> }} Start
 */

/** The address of /console/, with any prefix of a proxy. */
export const root = new URL("../", import.meta.url);

/**
 * "asked" while somebody is asked whether to sign out although messages wait, "gone" once the
 * person signs out. Then nothing that was written is stored or sent any more.
 */
export const leaving = signal(/** @type {"" | "asked" | "gone"} */ (""));
addEventListener("pageshow", ({ persisted }) => {
  if (persisted && leaving.peek() === "gone") location.reload(); // it was come back to
});

/** signInAgain leaves for the page of signing in, which leads back to this one. */
export function signInAgain() {
  const here = location.href.slice(root.href.length);
  location.assign(new URL("sign-in?next=" + encodeURIComponent(here), root));
}

/** The address of the API for programs. */
export const publicAPI = new URL("../v1/", root);

/** @type {Start} */
const start = JSON.parse(document.body.dataset.start ?? "null") ?? {
  user: { id: "", name: "", email: null, role: "agent", available: true, notify_about: "mine_and_unassigned" },
  organization: { id: "", name: "" },
  sandbox: false,
  clock_offset_ms: 0,
  screens: [],
  guides: {},
};

export const { organization, sandbox, screens, guides } = start;

/** How far the clock of a sandbox was moved when the page was loaded. */
export const clockOffset = start.clock_offset_ms;

/** presentTime is the time by the server's clock, which a sandbox can move. */
export const presentTime = () => Date.now() + clockOffset;

/** The person who is signed in; its name may change. */
export const me = signal(start.user);

export const isAdmin = start.user.role === "admin";

/** The business numbers, in any state: those that are disconnected come last. */
export const numbers = signal(/** @type {Account[]} */ ([]));

/** accountName is how a number is called. @param {Account} [account] */
export const accountName = (account) => [account?.name, account?.phone_number ?? account?.phone_number_id].filter(Boolean).join(" · ");

/** numberName is what a number is called, by its id. @param {string} id */
export function numberName(id) {
  const one = numbers().find((each) => each.phone_number_id === id);
  return one?.name ?? one?.phone_number ?? id;
}

/** Whether the numbers have been read from the server. */
export const numbersKnown = signal(false);

/** The number that is looked at, or null while there is none. */
export const number = computed(() => numbers().find((one) => one.phone_number_id === chosenNumber()) ?? numbers()[0] ?? null);

/** How many open conversations of that number have unread messages. */
export const unread = signal(0);

/** How many conversations of that number each tab of the inbox has. */
export const counts = signal(/** @type {Record<string, number>} */ ({}));
