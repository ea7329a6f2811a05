/** The frame: navigation, business numbers, the person who is signed in, and what opens dialogs. */
import { computed, effect, el, list, signal } from "./dom.js";
import { get, patch } from "./api.js";
import { openJump, openShortcuts } from "./dialogs.js";
import { count, hue, initials } from "./format.js";
import { bind } from "./keys.js";
import { onChanged, together } from "./live.js";
import { confirmAction } from "./parts/dialog.js";
import { menu } from "./parts/menu.js";
import { toastError } from "./parts/notices.js";
import { link, navigate, path } from "./router.js";
import { countUnsent, forgetWords } from "./screens/inbox/drafts.js";
import {
  accountName, chosenNumber, counts, leaving, me, number, numbers, numbersKnown, root, screens, theme, unread,
} from "./session.js";
import { row as rowText } from "texts/inbox.js";
import { shell as text } from "texts/shell.js";

/** The keys after g that lead to a screen. */
const keys = {
  inbox: "i",
  contacts: "c",
  broadcasts: "b",
  templates: "t",
  rules: "a",
  numbers: "n",
  customers: "u",
  reports: "r",
  costs: "o",
  webhooks: "w",
  log: "l",
  settings: "s",
  phone: "p",
};
/** Screens that belong to one of the navigation. */
const parents = { deliveries: "webhooks", trace: "log" };

/**
 * fixAddresses makes the addresses that the server sent absolute. They are relative to the
 * page that was loaded, and that changes when another screen is opened.
 */
export function fixAddresses() {
  for (const node of document.querySelectorAll("link[rel=icon], link[rel=manifest], body [href], body [src]")) {
    for (const name of ["href", "src"]) {
      const given = node.getAttribute(name);
      if (given && !given.startsWith("#")) node.setAttribute(name, new URL(given, document.baseURI).href);
    }
  }
}

export function startNavigation() {
  const links = /** @type {HTMLAnchorElement[]} */ ([...document.querySelectorAll("[data-screen]")]);
  const nameOf = (/** @type {string} */ screen) => links.find((one) => one.dataset.screen === screen)?.textContent ?? screen;
  bind(
    text.goTo,
    screens.map((screen) => ["g " + keys[/** @type {keyof typeof keys} */ (screen)], nameOf(screen), () => navigate(screen)]),
  );

  effect(() => {
    const first = path().split("/")[0];
    const current = parents[/** @type {keyof typeof parents} */ (first)] ?? first;
    for (const one of links) {
      if (one.dataset.screen === current) one.setAttribute("aria-current", "page");
      else one.removeAttribute("aria-current");
    }
  });

  showUnread(links.find((one) => one.dataset.screen === "inbox"));
  startMenu(document.getElementById("menu"), document.getElementById("side"), document.getElementById("main"));
}

/** @param {HTMLAnchorElement | undefined} inbox */
function showUnread(inbox) {
  if (!inbox) return;
  inbox.append(
    el("b.count", { "aria-hidden": "true", hidden: () => unread() === 0 }, () => unread() > 0 && count(unread())),
    el("span.unseen", { id: "unread", "aria-hidden": "true" }, () => unread() > 0 && rowText.unread(unread())));
  inbox.setAttribute("aria-describedby", "unread");
  // The icon of the installed console, where the system has badges.
  effect(() => void /** @type {any} */ (navigator).setAppBadge?.(unread()).catch(() => {}));
}

/**
 * startMenu opens and closes the navigation of small screens. While it is open, the rest
 * of the page cannot be reached.
 * @param {HTMLElement | null} button
 * @param {HTMLElement | null} side
 * @param {HTMLElement | null} main
 */
function startMenu(button, side, main) {
  if (!button || !side || !main) return;
  const toggle = (/** @type {boolean} */ open) => {
    button.setAttribute("aria-expanded", String(open));
    side.classList.toggle("open", open);
    main.inert = open;
    side.role = open ? "dialog" : null;
    side.ariaLabel = open ? button.textContent : null;
    if (open) /** @type {HTMLElement | null} */ (side.querySelector("[aria-current], a"))?.focus();
  };
  const isOpen = () => side.classList.contains("open");

  button.addEventListener("click", () => toggle(!isOpen()));
  side.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !isOpen()) return;
    toggle(false);
    button.focus();
  });
  document.addEventListener("pointerdown", (event) => {
    const inside = event.target instanceof Element && event.target.closest("#side, #menu, [popover]");
    if (isOpen() && !inside) toggle(false);
  });
  matchMedia("(min-width: 700px)").addEventListener("change", () => isOpen() && toggle(false));
  effect(() => {
    path();
    if (isOpen()) toggle(false);
  });
}

export function startNumbers() {
  const place = document.getElementById("number");
  if (place) {
    const choose = (/** @type {any} */ event) => chosenNumber.set(event.target.value);
    place.append(
      el("select", { "aria-label": text.number, onchange: choose, ref: keepOptions }),
      el("ul.elsewhere", null, list(busyElsewhere, ({ one }) => one.phone_number_id, waitingLine)));
    effect(() => {
      place.hidden = numbers().length < 2;
    });
  }

  // Nothing waits for them: the connection bar shows when the server is gone, and they are
  // read again when that is over.
  const [keepNumbers, keepUnread, keepElsewhere] = [together(readNumbers), together(readUnread), together(readElsewhere)];
  keepNumbers();
  onChanged(["account"], keepNumbers);
  effect(() => {
    number();
    keepUnread();
    keepElsewhere();
  });
  onChanged(["conversation"], () => {
    keepUnread();
    keepElsewhere();
  });
}

/** @param {HTMLSelectElement} select */
function keepOptions(select) {
  effect(() => {
    select.replaceChildren(...numbers().map((one) => el("option", { value: one.phone_number_id }, accountName(one))));
    select.value = number()?.phone_number_id ?? "";
  });
}

async function readNumbers() {
  const all = await get("v1/accounts", { query: { status: "all" } });
  const last = (/** @type {any} */ one) => Number(one.status === "disconnected");
  numbers.set(all.filter((/** @type {any} */ one) => one.phone_number_id).sort((/** @type {any} */ a, /** @type {any} */ b) => last(a) - last(b)));
  numbersKnown.set(true);
}

async function readUnread() {
  const of = number();
  const now = of ? await get(of.phone_number_id + "/counts") : {};
  if (of?.phone_number_id !== number()?.phone_number_id) return;
  unread.set(now.unread ?? 0);
  counts.set(now);
}

/** How many people wait at each number: the inbox is of one. */
const waitingAt = signal(/** @type {Map<string, number>} */ (new Map()));

/** Those of them that have somebody waiting, the most first. */
const busyElsewhere = computed(() => numbers()
  .map((one) => ({ one, waiting: one === number() ? 0 : waitingAt().get(one.phone_number_id) ?? 0 }))
  .filter(({ waiting }) => waiting > 0)
  .sort((a, b) => b.waiting - a.waiting)
  .slice(0, 3));

/** @param {() => { one: any, waiting: number }} line */
function waitingLine(line) {
  const open = () => {
    chosenNumber.set(line().one.phone_number_id);
    navigate("inbox?tab=waiting");
  };
  return el("li", null,
    el("button.button.bare", { type: "button", onclick: open }, () => text.waitingAt(line().waiting, accountName(line().one))));
}

/** readElsewhere reads who waits at which number, at most every few seconds. */
async function readElsewhere() {
  if (numbers().length < 2) return;
  const all = await get("waiting");
  waitingAt.set(new Map(all.map((/** @type {any} */ one) => [one.phone_number_id, one.waiting])));
  await new Promise((resolve) => setTimeout(resolve, 5000));
}

/** startAccount gives the person who is signed in a menu. */
export function startAccount() {
  const opener = /** @type {HTMLElement} */ (document.getElementById("account"));
  menu(opener, text.account, () => [
    { name: text.profile, icon: "person", href: link("settings/profile") },
    { name: text.sessions, icon: "screen", href: link("settings/profile?show=sessions") },
    { name: text.shortcuts, icon: "keyboard", run: openShortcuts, keys: "?" },
    { name: text.docs, icon: "book", href: new URL("../docs", root).href },
    {
      name: me().available ? text.available : text.away,
      checked: me().available,
      toggles: true,
      run: () => void setAvailable(!me.peek().available),
      group: text.availability,
    },
    ...Object.entries(text.themes).map(([value, name], i) => ({
      name,
      checked: theme() === value,
      run: () => theme.set(value),
      group: i === 0 ? text.theme : undefined,
    })),
    { name: text.signOut, icon: "leave", run: signOut, group: "" },
  ], opener.parentElement ?? opener);
  bind(text.everywhere, [["?", text.shortcuts, openShortcuts]]);

  const face = /** @type {HTMLElement} */ (document.getElementById("face"));
  const name = /** @type {HTMLElement} */ (document.querySelector("#me b"));
  const below = /** @type {HTMLElement} */ (document.querySelector("#me small"));
  const organization = below.textContent;
  effect(() => {
    face.textContent = initials(me().name);
    face.className = "face hue-" + hue(me().name);
    name.textContent = me().name;
    below.textContent = me().available ? organization : text.away; // who forgets it gets no conversations
  });
}

/** setAvailable says whether the person gets conversations by itself. @param {boolean} on */
async function setAvailable(on) {
  try {
    const { available } = await patch("profile", { available: on });
    me.set({ ...me(), available });
  } catch (error) {
    toastError(error);
  }
}

/** signOut asks first where that throws messages away. Nothing is sent meanwhile. */
async function signOut() {
  const waiting = countUnsent();
  if (waiting === 0) return leave();
  leaving.set("asked");
  await confirmAction({
    title: text.signOutUnsent,
    body: text.unsentLead(waiting),
    action: text.discard,
    send: async () => leave(),
  });
  if (leaving.peek() === "asked") leaving.set("");
}

/** leave takes away what was written here and sends a form, as a page without scripts would. */
function leave() {
  forgetWords();
  const form = el("form", { method: "post", action: new URL("sign-out", root).pathname, hidden: true });
  document.body.append(form);
  form.submit();
}

/** startJump lets the button and Ctrl-K open the jump box. */
export function startJump() {
  document.getElementById("jump")?.addEventListener("click", openJump);
  bind(text.everywhere, [["mod+k", text.jump, openJump]]);
  const hint = document.getElementById("jump-keys");
  if (hint && navigator.platform.startsWith("Mac")) hint.textContent = "⌘ K";
}
