/** Menus: a list of things to do, under the button that opens it. */
import { append, el, scope } from "../dom.js";
import { icon } from "./basics.js";

/**
 * @typedef {object} Item
 * @property {string} name
 * @property {string} [icon]
 * @property {string} [href] leads there
 * @property {() => void} [run]
 * @property {boolean} [checked] one of several choices, and whether it is the chosen one
 * @property {boolean} [toggles] a choice of its own, that is checked or not
 * @property {boolean} [danger]
 * @property {string} [group] a line is before it, with this name
 * @property {string} [keys] that do the same
 */

const gap = 6;

/**
 * menu lets a button open a menu. The items are made when it opens.
 * @param {HTMLElement} opener
 * @param {string} name
 * @param {() => Item[]} items
 * @param {Element} [beside] what it opens beside, if not the button itself
 */
export function menu(opener, name, items, beside = opener) {
  opener.setAttribute("aria-haspopup", "menu");
  opener.setAttribute("aria-expanded", "false");

  // Pressing the button of an open menu closes it: it is closed before the click comes.
  let wasOpen = false;
  opener.addEventListener("pointerdown", () => (wasOpen = opener.getAttribute("aria-expanded") === "true"));
  opener.addEventListener("click", () => {
    if (!wasOpen) open();
    wasOpen = false;
  });
  opener.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    open(event.key === "ArrowUp" ? -1 : 0);
  });

  function open(first = 0) {
    if (opener.getAttribute("aria-expanded") === "true") return;
    /** @type {HTMLElement} */
    const node = el("div.menu", { role: "menu", "aria-label": name, popover: "auto" });
    const [, dispose] = scope(() => append(
      node,
      items().map((item) => [item.group !== undefined && el("p.menu-group", { role: "presentation" }, item.group), entry(item, node)]),
    ));
    (opener.closest("dialog, main, footer") ?? document.body).append(node);
    opener.setAttribute("aria-expanded", "true");

    node.addEventListener("toggle", (event) => {
      if (/** @type {ToggleEvent} */ (event).newState !== "closed") return;
      const inside = node.contains(document.activeElement) || document.activeElement === document.body;
      opener.setAttribute("aria-expanded", "false");
      dispose();
      node.remove();
      if (inside && opener.isConnected) opener.focus();
    });
    node.addEventListener("keydown", (event) => move(event, node));
    node.showPopover();
    place(node, beside);
    entries(node).at(first)?.focus();
  }
}

/**
 * @param {Item} item
 * @param {HTMLElement} node
 */
function entry(item, node) {
  const hint = item.keys ? "menu-keys-" + item.keys : null;
  const props = {
    "aria-describedby": hint,
    role: item.checked === undefined ? "menuitem" : item.toggles ? "menuitemcheckbox" : "menuitemradio",
    "aria-checked": item.checked === undefined ? null : String(item.checked),
    tabindex: "-1",
    onclick: () => {
      node.hidePopover();
      item.run?.();
    },
  };
  const content = [
    icon(item.checked ? "check" : item.checked === false ? "none" : item.icon ?? "none"),
    el("span", null, item.name),
    item.keys && el("kbd", { id: hint, "aria-hidden": "true" }, item.keys),
  ];
  return item.href ? el("a.menu-item", { ...props, href: item.href }, content) : el(
    "button.menu-item" + (item.danger ? ".danger" : ""),
    { ...props, type: "button" },
    content,
  );
}

/** @param {HTMLElement} node @returns {HTMLElement[]} */
const entries = (node) => [...node.querySelectorAll("[role^=menuitem]")].filter((one) => one instanceof HTMLElement);

/**
 * move goes through the entries: by arrows, to the ends, and by first letters.
 * @param {KeyboardEvent} event
 * @param {HTMLElement} node
 */
function move(event, node) {
  const all = entries(node);
  const at = all.findIndex((one) => one === document.activeElement);
  const to = {
    ArrowDown: () => all[(at + 1) % all.length],
    ArrowUp: () => all[(at - 1 + all.length) % all.length],
    Home: () => all[0],
    End: () => all[all.length - 1],
  }[event.key];

  if (to) {
    event.preventDefault();
    to()?.focus();
  } else if (event.key === "Tab") {
    node.hidePopover();
  } else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey) {
    const letter = event.key.toLowerCase();
    [...all.slice(at + 1), ...all.slice(0, at + 1)].find((one) => one.textContent?.trim().toLowerCase().startsWith(letter))?.focus();
  }
  event.stopPropagation(); // letters are no shortcuts here
}

/**
 * place puts a menu below something, or above where there is more room, inside the window,
 * towards the middle of what it belongs to.
 * @param {HTMLElement} node
 * @param {Element} beside
 */
export function place(node, beside) {
  const at = beside.getBoundingClientRect();
  const own = node.getBoundingClientRect();
  const below = at.bottom + gap + own.height <= innerHeight || at.top < innerHeight / 2;
  node.style.top = `${Math.max(gap, below ? at.bottom + gap : at.top - gap - own.height)}px`;
  const room = beside.parentElement?.getBoundingClientRect() ?? at;
  const left = at.left + at.right < room.left + room.right ? at.left : at.right - own.width;
  node.style.left = `${Math.max(gap, Math.min(left, innerWidth - own.width - gap))}px`;
}
