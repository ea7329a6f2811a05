/**
 * The dialogs of the frame. The jump box: type to find a screen, a contact or something to
 * do; paste an id of ours to open what it names. The shortcuts: all that can be
 * pressed.
 */
import { computed, el, list, signal } from "./dom.js";
import { get } from "./api.js";
import { shortcuts } from "./keys.js";
import { icon } from "./parts/basics.js";
import { dialog } from "./parts/dialog.js";
import { switchRow } from "./parts/form.js";
import { foldWords } from "./parts/marked.js";
import { fact } from "./parts/table.js";
import { navigate } from "./router.js";
import { isAdmin, number, numbers, screens, singleKeys, theme } from "./session.js";
import { jump as text } from "texts/shell.js";

/** @typedef {{ id: string, name: string, kind: string, icon: string, run: () => void }} Entry */

/** The pages of the settings that the person may see. */
export const settingsPages = [
  { path: "settings/people", name: text.pages.people, icon: "contacts" },
  { path: "settings/keys", name: text.pages.keys, icon: "key" },
  { path: "settings/labels", name: text.pages.labels, icon: "label" },
  { path: "settings/quick-replies", name: text.pages.quickReplies, icon: "bolt", forAgents: true },
  { path: "settings/notifications", name: text.pages.notifications, icon: "bell", forAgents: true },
  { path: "settings/profile", name: text.pages.profile, icon: "person", forAgents: true },
  { path: "settings/health", name: text.pages.health, icon: "pulse" },
].filter((one) => isAdmin || one.forAgents);

/** @returns {Entry[]} what can be opened by its name */
function entries() {
  const go = (/** @type {string} */ path, /** @type {string} */ name, /** @type {string} */ kind, /** @type {string} */ drawing) => ({
    id: path,
    name,
    kind,
    icon: drawing,
    run: () => navigate(path),
  });
  const nameOf = (/** @type {string} */ screen) => document.querySelector(`[data-screen="${screen}"] span`)?.textContent ?? screen;
  const act = (/** @type {string} */ name, /** @type {string} */ drawing, /** @type {() => void} */ run) =>
    ({ id: drawing, name, kind: text.action, icon: drawing, run });
  return [
    ...screens.map((screen) => go(screen, nameOf(screen), text.screen, screen)),
    ...settingsPages.map((one) => go(one.path, one.name, text.settings, one.icon)),
    ...(isAdmin ? [
      go("settings/keys?new=1", text.pages.newKey, text.action, "key"),
      go("settings/people?new=1", text.pages.invite, text.action, "contacts"),
    ] : []),
    act(text.dark, "moon", () => theme.set("dark")),
    act(text.light, "sun", () => theme.set("light")),
    act(text.shortcuts, "keyboard", openShortcuts),
  ];
}

/** openJump opens the jump box. */
export function openJump() {
  if (document.querySelector("dialog[open]")) return;
  /** @type {Entry | null} */
  let chosen = null;
  dialog(text.title, (close) => jumpBox((entry) => {
    chosen = entry;
    close();
  })).then(() => chosen?.run());
}

/** @param {(entry: Entry) => void} choose */
function jumpBox(choose) {
  const typed = signal("");
  const contacts = signal(/** @type {Entry[]} */ ([]));
  const at = signal(0);
  const known = entries();
  const shown = computed(() => find(typed(), known, contacts()));
  const search = searcher(contacts);

  const type = (/** @type {any} */ event) => {
    typed.set(event.target.value);
    at.set(0);
    search(event.target.value.trim());
  };
  const press = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const all = shown();
    if (step && all.length > 0) at.set((at() + step + all.length) % all.length);
    else if (event.key === "Enter" && all[at()]) choose(all[at()]);
    else return;
    event.preventDefault();
    queueMicrotask(() => document.getElementById("jump-" + at())?.scrollIntoView({ block: "nearest" }));
  };

  const positions = computed(() => new Map(shown().map((one, i) => [one.id, i])));
  return el("div.jump-box", null,
    el("div.jump-input", null, icon("search"), el("input", {
      role: "combobox", "aria-label": text.title, "aria-expanded": "true", "aria-controls": "jump-results", "aria-autocomplete": "list",
      "aria-activedescendant": () => (shown().length > 0 ? "jump-" + at() : null), placeholder: text.placeholder,
      autocomplete: "off", spellcheck: "false", autofocus: true, oninput: type, onkeydown: press,
    })),
    el("ul.jump-results", { id: "jump-results", role: "listbox", "aria-label": text.results }, list(shown, (one) => one.id, (one) => {
      const place = () => positions().get(one().id) ?? -1;
      return el("li", {
        role: "option",
        id: () => "jump-" + place(),
        "aria-selected": () => place() === at(),
        onclick: () => choose(one()),
        onmousemove: () => at.set(place()),
      },
        icon(one().icon), el("span.jump-name", { dir: "auto" }, () => one().name), el("small", null, () => one().kind));
    })),
    el("p.jump-none", { role: "status" }, () => (shown().length === 0 ? text.none : "")),
    el("p.jump-hint", { "aria-hidden": "true" },
      [["↑", "↓"], ["↵"], ["Esc"]].map((caps, i) => el("span", null, caps.map((cap) => el("kbd", null, cap)), " " + text.hint[i])),
    ));
}

/**
 * find lists what fits what was typed: an id, which may also be the digits of a contact; else
 * names that begin with it, then names that hold all its words.
 * @param {string} typed
 * @param {Entry[]} known
 * @param {Entry[]} contacts
 */
function find(typed, known, contacts) {
  const place = placeOf(typed);
  if (place) return [...contacts, { id: "id", name: typed.trim(), kind: place.name, icon: "arrow", run: () => navigate(place.path) }];

  const wanted = foldWords(typed.trim());
  const words = wanted.split(/\s+/);
  const fits = known.filter((one) => words.every((word) => foldWords(one.name + " " + one.kind).includes(word)));
  const rank = (/** @type {Entry} */ one) => (foldWords(one.name).startsWith(wanted) ? 0 : 1);
  return [...fits.sort((a, b) => rank(a) - rank(b)), ...(wanted ? contacts : [])];
}

/**
 * searcher looks for contacts, once the typing pauses.
 * @param {import("./dom.js").Signal<Entry[]>} found
 */
function searcher(found) {
  let timer = 0;
  let running = new AbortController();
  return (/** @type {string} */ words) => {
    clearTimeout(timer);
    running.abort();
    found.set([]);
    const of = number();
    if (words.length < 2 || !of) return;
    timer = setTimeout(async () => {
      running = new AbortController();
      const rows = await get(
        `v1/${of.phone_number_id}/contacts`,
        { query: { search: words, limit: 5 }, signal: running.signal },
      ).catch(() => []);
      found.set(rows.map((/** @type {any} */ one) => ({
        id: one.id,
        name: one.name ?? one.phone_number ?? one.id,
        kind: text.contact,
        icon: "contacts",
        run: () => navigate("contacts/" + one.id),
      })));
    }, 150);
  };
}

// How ids of ours begin, where they lead, and what they are. A path that ends with / or
// = is followed by the id.
const places = [
  ["msg_", "trace/", text.ids.message],
  ["evt_", "trace/", text.ids.event],
  ["req_", "log/", text.ids.request],
  ["cnv_", "inbox/", text.ids.conversation],
  ["ctc_", "contacts/", text.ids.contact],
  ["bcs_", "broadcasts/", text.ids.broadcast],
  ["tmpl_", "templates/", text.ids.template],
  ["cus_", "customers/", text.ids.customer],
  ["wbs_", "webhooks/", text.ids.webhook],
  ["wbd_", "deliveries/", text.ids.delivery],
  ["lbl_", "settings/labels", text.ids.label],
  ["key_", "settings/keys", text.ids.key],
  ["rul_", "rules/", text.ids.rule],
  ["qrp_", "settings/quick-replies", text.ids.quickReply],
  ["viw_", "inbox?view=", text.ids.view],
  ["not_", "inbox", text.ids.note],
  ["ses_", "settings/profile", text.ids.session],
  ["aud_", "log/audit", text.ids.audit],
  ["acc_", "numbers/", text.ids.number],
  ["csl_", "customers", text.ids.setupLink],
  ["sec_", "webhooks", text.ids.secret],
  ["imp_", "contacts", text.ids.import],
  ["med_", "inbox", text.ids.media],
  ["(org|team)_", "settings/people", text.ids.people],
  ["[0-9]{10,20}$", "numbers/", text.ids.number],
  ["[0-9A-HJKMNP-TV-Z]{26}$", "settings/people/", text.ids.person],
];

/**
 * placeOf finds what an id is and which screen shows it; null if it is no id of ours. Files and templates have
 * digits at the provider, as numbers do.
 * @param {string} written
 * @returns {{ path: string, name: string } | null}
 */
export function placeOf(written) {
  const id = written.trim();
  if (!/^[A-Za-z0-9_-]{8,64}$/.test(id) || /^\d+$/.test(id) && !numbers().some((one) => one.phone_number_id === id)) return null;
  const [, path, name] = places.find(([pattern]) => new RegExp("^" + pattern).test(id)) ?? [];
  return path && name ? { path: /[/=]$/.test(path) ? path + id : path, name } : null;
}

/** openShortcuts lists all that can be pressed. */
export function openShortcuts() {
  const groups = Map.groupBy(shortcuts(), (one) => one.group);
  dialog(text.shortcuts, () => el("div.shortcuts", null,
    [...groups].map(([group, all]) => el("section", null, el("h3", null, group),
      el("dl", null, all.map((one) => fact(one.name, keyCaps(one.keys)))))),
    switchRow(text.singleKeys, () => singleKeys() === "on", (on) => singleKeys.set(on ? "on" : "off"), text.singleKeysHint)), { wide: true });
}

/** @param {string} keys */
function keyCaps(keys) {
  const mac = navigator.platform.startsWith("Mac");
  return keys.split(" ").map((key, i) => [
    i > 0 && el("span.then", null, ` ${text.then} `),
    key.split("+").map((cap) => el("kbd", null,
      cap === "mod" ? (mac ? "⌘" : "Ctrl") : keys.includes("+") ? cap[0].toUpperCase() + cap.slice(1) : cap,
    )),
  ]);
}
