/** What to do when hints say that something has changed, however many of them come. */
import { onDispose } from "../dom.js";
import { onChanged } from "../live.js";

/** How long the next reading waits for more hints. */
const pause = 700;

/**
 * onHints calls fn for hints of some kinds until the current scope ends: at once, and then
 * no sooner than after a pause.
 * @param {import("../live.js").Kind[]} kinds
 * @param {() => void} fn
 * @param {(hint: import("../live.js").Hint) => boolean} [concerns]
 */
export function onHints(kinds, fn, concerns = () => true) {
  let timer = 0;
  let last = 0;
  onDispose(onChanged(kinds, (hint) => {
    if (timer || !concerns(hint)) return;
    timer = setTimeout(() => {
      timer = 0;
      last = Date.now();
      fn();
    }, Math.max(0, last + pause - Date.now()));
  }));
  onDispose(() => clearTimeout(timer));
}
