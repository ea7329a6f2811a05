/**
 * Screens by their addresses. Every screen, filter and open item has one: back, forward,
 * reload and a link sent to a colleague all work.
 *
 * A link inside the console is an ordinary link; a click on it is answered here, without
 * loading the page again. A screen is built when its address is opened, and ends when
 * another is. What follows the ? belongs to the screen: it reads query, and is not built
 * again when that changes.
 */
import { computed, effect, onDispose, scope, signal } from "./dom.js";
import { lost } from "./api.js";
import { onChanged, reportAnswer } from "./live.js";
import { root, unread } from "./session.js";
import { failed, skeleton } from "./parts/states.js";

/**
 * @typedef {{ title: string | (() => string), body: Node }} Screen
 * @typedef {(place: { params: Record<string, string> }) => Screen} Build
 * @typedef {{ pattern: string, load: () => Promise<Build>, screen?: string }} Route routes that share a screen are one
 */

/** The address below /console/. */
const here = signal(read());
/** The path of the screen that is open, without what follows the ?. */
export const path = computed(() => here().path);
/** What follows the ?. */
export const query = computed(() => here().query);

function read() {
  const url = new URL(location.href);
  return { path: url.pathname.slice(root.pathname.length).replace(/\/$/, ""), query: url.searchParams };
}

/**
 * link is the address of a screen, for href.
 * @param {string} to below /console/
 */
export const link = (to) => new URL(to, root).pathname + new URL(to, root).search;

/** Pages that are not screens: they are loaded. */
const pages = /^(api|assets|sign-in|sign-out|second-factor|welcome)(\/|\?|$)/;

/** @type {Map<number, number>} */
const scrolled = new Map();
let entry = 0;
/** @type {() => void} */
let show = () => {};

/**
 * navigate opens a screen.
 * @param {string} to below /console/
 * @param {{ replace?: boolean }} [options] replace: back does not lead here again
 */
export function navigate(to, { replace = false } = {}) {
  if (replace) history.replaceState({ entry }, "", link(to));
  else history.pushState({ entry: ++entry }, "", link(to));
  show();
}

/**
 * setQuery changes what follows the ?. Empty values are left out.
 * @param {Record<string, string>} values
 */
export function setQuery(values) {
  const next = new URLSearchParams(query());
  for (const [name, value] of Object.entries(values)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  const text = next.toString();
  navigate(path() + (text && "?" + text), { replace: true });
}

/**
 * onQuery calls fn when the address asks for something that is done once, as in ?new=1,
 * and takes the question off.
 * @param {string} name
 * @param {() => void} fn
 */
export function onQuery(name, fn) {
  effect(() => {
    if (!query().get(name)) return;
    queueMicrotask(() => {
      setQuery({ [name]: "" });
      fn();
    });
  });
}

/**
 * start shows the screen of the current address in outlet, and those that follow.
 * @param {(path: string) => { route: Route, params: Record<string, string> } | { redirect: string }} find
 * @param {HTMLElement} outlet
 */
export function start(find, outlet) {
  let shown = "";
  let visits = 0;
  let dispose = () => {};

  show = async () => {
    const at = read();
    const found = find(at.path);
    if ("redirect" in found) return navigate(found.redirect, { replace: true });
    here.set(at);

    const { route, params } = found;
    const id = route.screen ?? route.pattern + JSON.stringify(params);
    if (id === shown) return;
    const isFirst = shown === "";
    shown = id;
    const visit = ++visits;

    // The screen before stays until the next one is there, or takes its time.
    const slow = setTimeout(() => replace(() => ({ title: document.title, body: skeleton() })), 150);
    let build;
    try {
      build = await route.load();
    } catch {
      // Browsers may remember that a module could not be loaded: only a fresh page helps.
      reportAnswer(false);
      build = () => {
        onDispose(onChanged([], () => location.reload()));
        return { title: "", body: failed(lost(), () => location.reload(), "h1") };
      };
    }
    clearTimeout(slow);
    if (visit !== visits) return;

    replace(() => build({ params }));
    outlet.removeAttribute("aria-busy");
    outlet.scrollTop = scrolled.get(entry) ?? 0;
    if (!isFirst) /** @type {HTMLElement} */ (outlet.querySelector("h1") ?? outlet).focus({ preventScroll: true });
  };

  /** @param {() => Screen} build */
  function replace(build) {
    dispose();
    const [screen, end] = scope(() => {
      const made = build();
      effect(() => setTitle(typeof made.title === "function" ? made.title() : made.title));
      return made;
    });
    dispose = end;
    outlet.replaceChildren(screen.body);
  }

  history.scrollRestoration = "manual";
  entry = history.state?.entry ?? 0;
  history.replaceState({ entry }, "");
  outlet.addEventListener("scroll", () => scrolled.set(entry, outlet.scrollTop), { passive: true });
  addEventListener("popstate", (event) => {
    entry = event.state?.entry ?? 0;
    document.querySelectorAll("dialog").forEach((one) => one.close()); // it belongs to the screen that is left
    show();
  });
  document.addEventListener("click", follow);
  show();
}

/**
 * The title carries the unread count and the name of the open screen.
 * @param {string} title
 */
function setTitle(title) {
  document.title = (unread() > 0 ? `(${unread()}) ` : "") + (title ? title + " · " : "") + "confab";
}

/**
 * follow opens a link to a screen, unless it is to open elsewhere.
 * @param {MouseEvent} event
 */
function follow(event) {
  if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const anchor = event.target instanceof Element && event.target.closest("a[href]");
  if (!(anchor instanceof HTMLAnchorElement) || anchor.target || anchor.hasAttribute("download")) return;
  if (!anchor.href.startsWith(root.href) || anchor.getAttribute("href")?.startsWith("#")) return;
  const to = anchor.href.slice(root.href.length);
  if (pages.test(to)) return;
  event.preventDefault();
  anchor.closest("dialog")?.close(); // it belongs to the screen that is left
  if (link(to) !== location.pathname + location.search) navigate(to);
}
