/** Popovers: something to choose from, beside what it belongs to, until it is closed. */
import { append, el, scope } from "../dom.js";
import { place } from "./menu.js";

/**
 * popover shows something beside an element. Esc, a click elsewhere and the focus going
 * elsewhere close it. The focus then goes back to where it was, unless it has moved on.
 * @param {Element} beside
 * @param {import("../dom.js").Props} props its role and name
 * @param {(close: () => void) => import("../dom.js").Child} build
 */
export function popover(beside, props, build) {
  const before = /** @type {any} */ (document.activeElement);
  /** @type {HTMLElement} */
  const node = el("div.menu.popover", { popover: "auto", tabindex: "-1", ...props });
  const close = () => node.hidePopover();
  const [, dispose] = scope(() => append(node, build(close)));
  const isOpener = beside.hasAttribute("aria-expanded");

  node.addEventListener("focusout", ({ relatedTarget: next }) => {
    if (next instanceof Node && !node.contains(next) && node.matches(":popover-open")) close();
  });
  node.addEventListener("toggle", (event) => {
    if (/** @type {ToggleEvent} */ (event).newState !== "closed") return;
    const isInside = node.contains(document.activeElement) || document.activeElement === document.body;
    if (isOpener) beside.setAttribute("aria-expanded", "false");
    dispose();
    node.remove();
    if (isInside && before?.isConnected) before.focus();
  });

  (beside.closest("dialog, main") ?? document.body).append(node);
  if (isOpener) beside.setAttribute("aria-expanded", "true");
  node.showPopover();
  place(node, beside);
  const first = node.querySelector("input, button, a");
  /** @type {HTMLElement} */ (first ?? node).focus();
}

/**
 * step moves the focus among elements by arrows and to the ends. It reports whether it did.
 * @param {KeyboardEvent} event
 * @param {HTMLElement[]} all
 */
export function step(event, all) {
  const at = all.indexOf(/** @type {any} */ (document.activeElement));
  const to = { ArrowDown: Math.min(at + 1, all.length - 1), ArrowUp: Math.max(at - 1, 0), Home: 0, End: all.length - 1 }[event.key];
  if (to === undefined || all.length === 0 || event.ctrlKey || event.metaKey || event.altKey) return false;
  event.preventDefault();
  all[to].focus();
  return true;
}
