/**
 * Lists of the API: read page by page, live, narrowed by filters that are in the address,
 * and for the number that is looked at. A page may come before it is full, because its time
 * was up: then it is looked on for a while, and says so.
 */
import { computed, effect, el, onDispose, signal, untracked, when } from "../dom.js";
import { page } from "../api.js";
import { link, query, setQuery } from "../router.js";
import { number, numbersKnown } from "../session.js";
import { button, chip, wordOf } from "./basics.js";
import { toastError } from "./notices.js";
import { empty, loaded, pace, resource, skeleton } from "./states.js";
import { lists as text } from "texts/parts.js";

/** How many rows are on the page at most. */
const mostRows = 200;
const perPage = 50;
/** How often a page that is not full is looked on for by itself. */
const mostSteps = 30;

/**
 * ofNumber shows what belongs to the number that is looked at, and again for another.
 * @param {(id: string) => import("../dom.js").Child} build
 * @returns {() => import("../dom.js").Child}
 */
export function ofNumber(build) {
  const id = computed(() => number()?.phone_number_id ?? "");
  return () => {
    const chosen = id();
    if (chosen) return untracked(() => build(chosen));
    const action = el("a.button", { href: link("numbers") }, text.numbers);
    return numbersKnown() ? empty({ icon: "numbers", title: text.noNumber, body: text.noNumberBody, action }) : skeleton();
  };
}

/**
 * paged is a resource of rows, and end is what follows them: a button that reads more.
 * Hints of some kinds read the shown rows again; other filters begin anew. New rows wait
 * above the first as long as waits says that the shown rows must not move.
 * @param {string} path
 * @param {{ filters?: () => Record<string, any>, kinds?: import("../live.js").Kind[], key?: (row: any) => string, waits?: () => boolean }} [options]
 */
export function paged(path, { filters = () => ({}), kinds = [], key = (row) => row.id, waits = () => false } = {}) {
  const cursor = signal(/** @type {string | null} */ (null));
  const starts = signal(/** @type {(string | null)[]} */ ([null])); // where the pages begin that are shown
  const begins = () => starts()[0] === null;
  const looking = signal(false);
  const isPart = signal(false); // whether the last page is not full
  const waiting = signal(0);
  const wanted = computed(() => JSON.stringify(filters()));
  let shown = ""; // the filters of the shown rows
  let asked = ""; // and those of what was asked for last
  /** @type {{ rows: any[], next: string | null }} */
  let newest;

  /** @param {string | null} from @param {number} steps @param {AbortSignal} [signal] */
  async function read(from, steps, signal) {
    const filter = { limit: perPage, ...JSON.parse(untracked(wanted)) };
    let rows = /** @type {any[]} */ ([]);
    try {
      for (let i = 0; i < steps; i++) {
        const one = await page(path, { signal, query: { ...filter, cursor: from } });
        rows = [...rows, ...one.rows];
        from = one.cursor;
        if (!from || rows.length >= filter.limit) break;
        looking.set(steps > 1);
      }
    } finally {
      looking.set(false);
    }
    isPart.set(rows.length < filter.limit);
    return { rows, next: from };
  }

  /** @type {import("./states.js").Resource<any[]>} */
  const all = resource(async (signal) => {
    const of = (asked = untracked(wanted));
    const known = () => (shown === of ? all.data() ?? [] : []);
    if (shown !== of) starts.set([null]);
    let { rows, next } = await read(starts()[0], known().length > 0 ? 1 : mostSteps, signal);
    for (let i = 1; i < starts().length && next; i++) {
      const one = await read(next, 1, signal);
      rows = [...rows, ...one.rows];
      next = one.next;
    }

    // Rows below those that were read stay, where there are such. More may have come meanwhile.
    const before = known();
    const fresh = new Map(rows.map((one) => [key(one), one]));
    const at = before.findLastIndex((one) => fresh.has(key(one)));
    if (!begins()) return before.flatMap((one, i) => fresh.get(key(one)) ?? (i > at ? [one] : []));
    const rest = at < 0 || !next ? [] : before.slice(at + 1);
    newest = rows.length + rest.length > mostRows || rest.length === 0 ? { rows, next } : { rows: [...rows, ...rest], next: cursor() };
    const first = before.length > 0 ? rows.findIndex((one) => key(one) === key(before[0])) : 0;
    const unseen = first < 0 ? rows.length : first;
    shown = of;
    if (unseen > 0 && waits()) {
      waiting.set(unseen);
      return before.map((one) => fresh.get(key(one)) ?? one);
    }
    waiting.set(0);
    cursor.set(newest.next);
    return newest.rows;
  }, kinds, pace);
  effect(() => {
    if (wanted() !== asked) untracked(all.reload);
  });

  const showNew = () => {
    waiting.set(0);
    cursor.set(newest.next);
    all.set(newest.rows);
  };
  const main = document.getElementById("main");
  const toNew = () => {
    if (main) main.scrollTop = 0;
    showNew();
  };
  const settle = () => waiting() > 0 && !waits() && showNew();
  main?.addEventListener("scroll", settle, { passive: true });
  onDispose(() => main?.removeEventListener("scroll", settle));

  const restart = () => {
    shown = "";
    return all.reload();
  };
  const more = async () => {
    const of = shown;
    const isSame = () => shown === of && untracked(wanted) === of;
    if (!isSame()) return; // others are being read, or have come meanwhile
    try {
      const one = await read(cursor(), mostSteps);
      if (!isSame()) return;
      const rows = [...(all.data() ?? []), ...one.rows];
      starts.update((all) => [...all, cursor()].slice(Number(rows.length > mostRows)));
      all.set(rows.slice(-mostRows));
      cursor.set(one.next);
    } catch (error) {
      toastError(error);
    }
  };
  const end = el("p.more.actions", { role: "status" },
    () => looking() && el("span.quiet", null, text.looking),
    () => cursor() && !looking() && button(isPart() ? text.goOn : text.more, { run: more }),
    when(() => !begins(), () => button(text.first, { run: restart })),
  );
  return { ...all, cursor, end, waiting, toNew };
}

/** isScrolled reports whether somebody reads further below. */
export const isScrolled = () => (document.getElementById("main")?.scrollTop ?? 0) > 40;

/**
 * pagedList shows such a list, its empty state, and how to get more of it.
 * @param {ReturnType<typeof paged>} all
 * @param {(rows: () => any[]) => import("../dom.js").Child} render
 * @param {() => Parameters<typeof empty>[0] | string} none
 */
export function pagedList(all, render, none) {
  const nothing = () => {
    const what = all.cursor() ? text.soFar : none();
    return typeof what === "string" ? el("p.none", null, what) : empty(what);
  };
  return [
    el("p.list-fresh", { role: "status" }, when(all.waiting, () =>
      el("button.button", { type: "button", onclick: all.toNew }, () => text.fresh(all.waiting())))),
    loaded(all, (rows) => when(() => rows().length > 0, () => render(rows), () => nothing)),
    all.end,
  ];
}

/**
 * follow calls fn when what read returns has changed.
 * @param {() => unknown} read
 * @param {() => unknown} fn
 */
export function follow(read, fn) {
  const now = computed(() => JSON.stringify(read()));
  let before = now();
  effect(() => {
    if (now() === before) return;
    before = now();
    untracked(fn);
  });
}

/**
 * filter is a combobox whose choice is in the address.
 * @param {string} label
 * @param {string} name in the address
 * @param {() => ({ value: string, label: string } | string)[]} options
 * @param {string} [all] the option for no choice
 * @param {string} [look]
 */
export function filter(label, name, options, all = text.all, look = "filter") {
  const choose = (/** @type {any} */ event) => setQuery({ [name]: event.target.value });
  const keep = (/** @type {HTMLSelectElement} */ node) => effect(() => {
    const given = query().get(name) ?? "";
    const known = [{ value: "", label: all }, ...options().map((one) => (typeof one === "string" ? { value: one, label: one } : one))];
    if (!known.some((one) => one.value === given)) known.push({ value: given, label: given });
    node.replaceChildren(...known.map((one) => el("option", { value: one.value }, one.label)));
    node.value = given;
  });
  return el("label." + look, null, el("span", null, label), el("select", { onchange: choose, ref: keep }));
}

/**
 * searchbox is a field whose words are in the address once the typing pauses.
 * @param {string} label
 * @param {Record<string, any>} [more] attributes
 */
export function searchbox(label, more = { class: "search" }) {
  let timer = 0;
  onDispose(() => clearTimeout(timer));
  const node = el("input", {
    type: "search",
    "aria-label": label,
    placeholder: label,
    maxlength: 200,
    autocomplete: "off",
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(() => setQuery({ search: node.value.trim() }), node.value ? 200 : 0);
    },
    onkeydown: (/** @type {KeyboardEvent} */ event) => event.key === "Escape" && !node.value && node.blur(),
    ...more,
  });
  effect(() => {
    const given = query().get("search") ?? "";
    if (node.value.trim() === given) return;
    clearTimeout(timer);
    node.value = given;
  });
  return node;
}

/**
 * everyRow reads a list to its end, as far as that is bounded.
 * @param {string} path
 * @param {Record<string, any>} wanted
 * @param {number} most
 * @param {AbortSignal} [signal]
 */
export async function everyRow(path, wanted, most, signal) {
  /** @type {any[]} */
  const rows = [];
  /** @type {string | null} */
  let cursor = null;
  do {
    const next = await page(path, { signal, query: { ...wanted, limit: 100, cursor } });
    rows.push(...next.rows);
    cursor = next.cursor;
  } while (cursor && rows.length < most);
  return rows;
}

/** The tone of each state, wherever it is shown. */
const tones = {
  good: "active approved completed connected consumed delivered open read",
  warn: "pending onboarding degraded paused",
  bad: "failed rejected suspended",
  calm: "running scheduled preparing",
};

/**
 * stateChip says the state of something.
 * @param {string} word
 */
export const stateChip = (word) =>
  chip(wordOf(word), /** @type {any} */ (Object.entries(tones).find(([, words]) => words.split(" ").includes(word))?.[0] ?? "quiet"));

/** readLabels reads the labels of the organization, which are few. @param {AbortSignal} signal */
export const readLabels = (signal) => everyRow("v1/labels", {}, Infinity, signal);

/** allLabels reads them, and again when one has changed; none until they are there. */
export function allLabels() {
  const all = resource(readLabels, ["label"]);
  return () => all.data() ?? [];
}
