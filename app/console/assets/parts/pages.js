/** Lists that come page by page, and filters that are part of the address. */
import { computed, effect, el, signal, untracked, when } from "../dom.js";
import { page } from "../api.js";
import { count } from "../format.js";
import { query, setQuery } from "../router.js";
import { button } from "./basics.js";
import { toastError } from "./notices.js";
import { empty, loaded, resource } from "./states.js";

/** How often a list that changes all the time is read again, in milliseconds. */
export const pace = 1000;

const text = { more: "Show more", all: "All", looking: "Looking further back…", fresh: (/** @type {number} */ n) => count(n) + " new" };

/**
 * paged reads a list. What is hinted at or filtered anew is read again; rows that were
 * read of further pages stay while the filters do.
 * @param {string} path
 * @param {() => Record<string, any>} filters
 * @param {string[]} kinds of hints
 */
export function paged(path, filters, kinds) {
  const cursor = signal(/** @type {string | null} */ (null));
  const isLooking = signal(false);
  const wanted = computed(() => JSON.stringify(filters()));
  let shown = "";
  /** @type {any[]} */
  let newest = [];
  const waiting = signal(0);
  const showNew = () => {
    waiting.set(0);
    all.set(newest);
  };

  /** @type {import("./states.js").Resource<any[]>} */
  const all = resource(async (signal) => {
    const of = untracked(wanted);
    let next = await page(path, { signal, query: JSON.parse(of) });
    // A page without rows says that nothing was found so far, and goes on from there.
    while (next.rows.length === 0 && next.cursor) {
      isLooking.set(true);
      next = await page(path, { signal, query: { ...JSON.parse(of), cursor: next.cursor } });
    }
    isLooking.set(false);

    const before = shown === of ? all.data() ?? [] : [];
    const fresh = new Map(next.rows.map((one) => [one.id, one]));
    const at = before.findLastIndex((one) => fresh.has(one.id));
    const rest = at < 0 ? [] : before.slice(at + 1);
    if (rest.length === 0) cursor.set(next.cursor);
    shown = of;
    newest = [...next.rows, ...rest];

    // What is being read is not moved: new rows wait until somebody wants them.
    const unseen = at < 0 || !isScrolled() ? 0 : next.rows.findIndex((one) => one.id === before[0].id);
    waiting.set(Math.max(0, unseen));
    return unseen > 0 ? before.map((one) => fresh.get(one.id) ?? one) : newest;
  }, kinds, pace);

  effect(() => {
    if (wanted() !== shown && shown) untracked(all.reload);
  });

  const more = async () => {
    try {
      const next = await page(path, { query: { ...JSON.parse(shown), cursor: cursor() } });
      cursor.set(next.cursor);
      all.set([...(all.data() ?? []), ...next.rows]);
    } catch (error) {
      toastError(error);
    }
  };
  return { ...all, cursor, more, isLooking, waiting, showNew };
}

/** isScrolled tells whether somebody reads further below. */
const isScrolled = () => (document.getElementById("main")?.scrollTop ?? 0) > 80;

/**
 * pagedList shows such a list, what stands for none, and how to get more of it.
 * @param {ReturnType<typeof paged>} all
 * @param {(rows: () => any[]) => import("../dom.js").Child} render
 * @param {() => Parameters<typeof empty>[0]} none
 */
export function pagedList(all, render, none) {
  return [
    el("p.none", { role: "status" }, () => all.isLooking() && text.looking),
    when(all.waiting, () => el("div.new", null,
      el("button.button.primary", { type: "button", onclick: all.showNew }, () => text.fresh(all.waiting())))),
    loaded(all, (rows) => when(() => rows().length > 0, () => render(rows), () => empty(none()))),
    when(all.cursor, () => el("div.more", null, button(text.more, { run: all.more }))),
  ];
}

/**
 * filter is a combobox whose choice is in the address.
 * @param {string} name as it is called
 * @param {string} key in the address
 * @param {() => ({ value: string, label: string } | string)[]} options
 */
export function filter(name, key, options) {
  /** @type {HTMLSelectElement} */
  const select = el("select", { onchange: () => setQuery({ [key]: select.value }) });
  effect(() => {
    const all = ["", ...options()].map((one) => (typeof one === "string" ? { value: one, label: one || text.all } : one));
    select.replaceChildren(...all.map((one) => el("option", { value: one.value }, one.label)));
    select.value = query().get(key) ?? "";
  });
  return el("label.filter", null, el("span", null, name), select);
}
