/**
 * Keyboard shortcuts: single keys ("?"), one after the other ("g i"), and with Ctrl or ⌘
 * ("mod+k", "mod+shift+enter"). Single keys never do anything while somebody types or a dialog,
 * a menu or a popover is open, and can be switched off.
 */
import { onDispose, signal } from "./dom.js";
import { singleKeys } from "./session.js";

/** @typedef {{ keys: string, name: string, group: string, run: () => void }} Shortcut */

/** All that can be pressed now, for the dialog that lists them. */
export const shortcuts = signal(/** @type {Shortcut[]} */ ([]));

/** How long the first of two keys is remembered. */
const delay = 1500;

let first = "";
let pressed = 0;

/**
 * bind adds shortcuts until the current scope ends.
 * @param {string} group
 * @param {[keys: string, name: string, run: () => void][]} added
 */
export function bind(group, added) {
  const own = added.map(([keys, name, run]) => ({ keys, name, group, run }));
  shortcuts.update((all) => [...all, ...own]);
  onDispose(() => shortcuts.update((all) => all.filter((one) => !own.includes(one))));
}

/**
 * along is where an arrow key leads in a row of things: 1 to the next, -1 to the one before. The next
 * is on the left in a page that is read from there. Other keys lead nowhere, which is 0.
 * @param {KeyboardEvent} event
 */
export const along = ({ key }) => ({ ArrowRight: 1, ArrowLeft: -1 }[key] ?? 0) * (document.dir === "rtl" ? -1 : 1);

/** listen begins to handle keys. */
export function listen() {
  let done = "";
  document.addEventListener("keydown", (event) => {
    done = "";
    if (event.defaultPrevented || event.isComposing) return;
    const run = find(event);
    if (!run) return;
    event.preventDefault();
    done = event.key;
    run();
  });
  // Tools that type for people send the character apart from the key: it is not to land
  // in the field that the shortcut has focused.
  document.addEventListener("keypress", (event) => {
    if (done && event.key === done) event.preventDefault();
  });
}

/** @param {KeyboardEvent} event */
function find(event) {
  if ((event.ctrlKey || event.metaKey) && !event.altKey) return match((event.shiftKey ? "mod+shift+" : "mod+") + event.key.toLowerCase());
  if (event.ctrlKey || event.metaKey || event.altKey || singleKeys.peek() === "off") return null;
  if (isTyping(event.target) || document.querySelector("dialog[open], :popover-open")) return null;
  if (["Shift", "Control", "Alt", "Meta"].includes(event.key)) return null;

  // When it was pressed, not when there was time to look: a page that is busy forgets no key.
  const run = match(first && event.timeStamp - pressed < delay ? first + " " + event.key : event.key);
  first = !run && shortcuts.peek().some((one) => one.keys.startsWith(event.key + " ")) ? event.key : "";
  pressed = event.timeStamp;
  return run;
}

/** The one that was bound last wins: a screen's over the frame's. @param {string} keys */
const match = (keys) => shortcuts.peek().findLast((one) => one.keys === keys)?.run ?? null;

/** @param {EventTarget | null} target */
function isTyping(target) {
  const fields = "input:not([type=checkbox], [type=radio]), textarea, select, [role=combobox]";
  return target instanceof HTMLElement && (target.isContentEditable || target.matches(fields));
}
