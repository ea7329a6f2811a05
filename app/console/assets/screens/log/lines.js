/**
 * The lists of the log: read page by page, narrowed by filters that stand in the address,
 * and live. A page may come before it is full, because its time was up: then it is looked
 * on for a while, and says so.
 */
import { computed, effect, el, onDispose, signal, untracked, when } from "../../dom.js";
import { page } from "../../api.js";
import { count } from "../../format.js";
import { button } from "../../parts/basics.js";
import { onHints } from "../../parts/hints.js";
import { toastError } from "../../parts/notices.js";
import { empty, loaded, resource } from "../../parts/states.js";
import { table } from "../../parts/table.js";
import { query, setQuery } from "../../router.js";

const text = {
  more: "Show more",
  first: "Back to the first",
  fresh: (/** @type {number} */ n) => `${count(n)} new`,
  looking: "Looking further back…",
  goOn: "Go on looking",
  soFar: "Nothing of this kind so far; there is more to look through.",
  all: "All",
  none: "Nothing fits these filters",
  noneBody: "Take a filter away to see more.",
};

const perPage = 50;
/** How many rows are on the page at most. */
const mostRows = 200;
/** How often a page that is not full is looked on for by itself. */
const mostSteps = 30;

/**
 * lines shows a list below its filters.
 * @template T
 * @param {object} options
 * @param {string} options.path
 * @param {string} options.caption
 * @param {string[]} options.filters their names in the address, which are those of the API
 * @param {string[]} options.kinds of hints
 * @param {(row: any) => string} options.key
 * @param {import("../../parts/table.js").Column<any>[]} options.columns
 * @param {{ icon: string, title: string, body: import("../../dom.js").Child }} options.none what stands where nothing was ever
 * @param {boolean} [options.vanish] rows may go away: then hints read all of them again
 * @returns {{ body: import("../../dom.js").Child, reload: () => void }}
 */
export function lines({ path, caption, filters, kinds, key, columns, none, vanish = false }) {
  const chosen = computed(() => JSON.stringify(Object.fromEntries(filters.map((name) => [name, query().get(name) ?? ""]))));
  const narrowed = () => Object.values(JSON.parse(chosen())).some(Boolean);
  const cursor = signal(/** @type {string | null} */ (null));
  const looking = signal(false);
  const begins = signal(true); // whether the first rows are shown
  const fresh = signal(/** @type {any[]} */ ([])); // rows that wait above the first

  /** @param {string | null} from @param {AbortSignal} [abort] @param {number} [steps] */
  async function read(from, abort, steps = mostSteps) {
    let rows = /** @type {any[]} */ ([]);
    try {
      for (let i = 0; i < steps; i++) {
        const one = await page(path, { signal: abort, query: { ...JSON.parse(untracked(chosen)), limit: perPage, cursor: from } });
        rows = [...rows, ...one.rows];
        from = one.cursor;
        if (!from || rows.length >= perPage) break;
        looking.set(true);
      }
    } finally {
      looking.set(false);
    }
    return { rows, next: from };
  }

  const all = resource(async (abort) => {
    const { rows, next } = await read(null, abort);
    cursor.set(next);
    begins.set(true);
    fresh.set([]);
    return rows;
  });
  let shownFor = untracked(chosen);
  effect(() => {
    if (chosen() === shownFor) return;
    shownFor = chosen();
    untracked(all.reload);
  });

  async function more() {
    const { rows, next } = await read(cursor()).catch((error) => {
      toastError(error);
      return { rows: [], next: cursor() };
    });
    const joined = [...(all.data() ?? []), ...rows];
    begins.set(begins() && joined.length <= mostRows);
    all.set(joined.slice(-mostRows));
    cursor.set(next);
  }

  // What is new comes in above; nothing moves under somebody who reads further down.
  const main = document.getElementById("main");
  const atTop = () => (main?.scrollTop ?? 0) < 40 && !document.querySelector("tbody:hover, tbody :focus-visible");
  async function look() {
    if (!begins() || !all.data()) return;
    if (vanish) return all.reload();
    const now = chosen();
    const one = await read(null, undefined, 1).catch(() => null);
    if (!one || now !== chosen()) return;
    const known = new Set((all.data() ?? []).map(key));
    fresh.set(one.rows.filter((row) => !known.has(key(row))));
    if (atTop()) show();
  }
  function show() {
    if (fresh().length === 0) return;
    const joined = [...fresh(), ...(all.data() ?? [])];
    if (fresh().length >= perPage || joined.length > mostRows) all.reload();
    else all.set(joined);
    fresh.set([]);
  }
  onHints(kinds, look);
  const settle = () => atTop() && show();
  main?.addEventListener("scroll", settle, { passive: true });
  onDispose(() => main?.removeEventListener("scroll", settle));

  const nothing = () => (narrowed() ? empty({ icon: "search", title: text.none, body: text.noneBody }) : empty(none));
  const body = [
    el("p.log-fresh", { role: "status" }, when(() => fresh().length > 0, () => button("", { run: () => {
      if (main) main.scrollTop = 0;
      show();
    }, ref: (/** @type {HTMLElement} */ node) => effect(() => (node.textContent = text.fresh(fresh().length))) }))),
    loaded(all, (rows) => [
      when(() => rows().length > 0, () => table({ caption, rows, key, columns }), () =>
        when(() => cursor() !== null, () => el("p.none", null, text.soFar), nothing)),
    ]),
    el("p.more.actions", { role: "status" },
      () => (looking() ? el("span.quiet", null, text.looking) : null),
      when(() => cursor() && !looking(), () => button((all.data()?.length ?? 0) % perPage ? text.goOn : text.more, { run: more })),
      when(() => !begins(), () => button(text.first, { run: all.reload }))),
  ];
  return { body, reload: all.reload };
}

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const dayAndClock = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", hour: "numeric", minute: "2-digit" });

/**
 * stamp shows when a line was written, to the second if that was today.
 * @param {string} value
 */
export function stamp(value) {
  const at = Date.parse(value);
  const today = new Date(at).toDateString() === new Date().toDateString();
  return el("time", { datetime: value, title: exact.format(at) }, (today ? clock : dayAndClock).format(at));
}

/**
 * choice is a combobox whose choice stands in the address.
 * @param {string} label
 * @param {string} name
 * @param {() => { value: string, label: string }[]} options
 */
export function choice(label, name, options) {
  const choose = (/** @type {any} */ event) => setQuery({ [name]: event.target.value });
  const keep = (/** @type {HTMLSelectElement} */ node) => effect(() => {
    const given = query().get(name) ?? "";
    const all = [{ value: "", label: text.all }, ...options()];
    if (!all.some((one) => one.value === given)) all.push({ value: given, label: given });
    node.replaceChildren(...all.map((one) => el("option", { value: one.value }, one.label)));
    node.value = given;
  });
  return el("label.log-filter", null, el("span", null, label), el("select", { onchange: choose, ref: keep }));
}

/**
 * entry is a field whose text stands in the address once the typing pauses. One of the type
 * datetime-local is a time there, as the API takes it.
 * @param {string} label
 * @param {string} name
 * @param {{ type?: string, hint?: string }} [options]
 */
export function entry(label, name, { type = "search", hint } = {}) {
  let timer = 0;
  onDispose(() => clearTimeout(timer));
  const isTime = type === "datetime-local";
  const toField = (/** @type {string} */ given) => {
    const at = Date.parse(given);
    return !isTime ? given : isNaN(at) ? "" : new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
  };
  const toAddress = (/** @type {string} */ typed) => (isTime && typed ? new Date(typed).toISOString() : typed.trim());
  const change = (/** @type {any} */ event) => {
    clearTimeout(timer);
    timer = setTimeout(() => setQuery({ [name]: toAddress(event.target.value) }), 250);
  };
  const keep = (/** @type {HTMLInputElement} */ node) => effect(() => {
    const given = toField(query().get(name) ?? "");
    if (document.activeElement !== node) node.value = given;
  });
  const pick = (/** @type {any} */ event) => isTime && event.target.showPicker?.();
  return el("label.log-filter", null, el("span", null, label),
    el("input", {
      type,
      placeholder: hint,
      maxlength: isTime ? null : 500,
      oninput: change,
      onclick: pick,
      ref: keep,
      autocomplete: "off",
      spellcheck: "false",
    }));
}
