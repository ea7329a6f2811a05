/**
 * Lists of the API: read page by page, narrowed by filters that stand in the address, and
 * for the number that is looked at.
 */
import { computed, effect, el, onDispose, signal, untracked, when } from "../dom.js";
import { page } from "../api.js";
import { onChanged } from "../live.js";
import { query, setQuery } from "../router.js";
import { number, numbersKnown } from "../session.js";
import { button, chip } from "./basics.js";
import { toastError } from "./notices.js";
import { empty, resource, skeleton } from "./states.js";

const text = {
  more: "Show more",
  first: "Back to the first",
  all: "All",
  noNumber: "No number is connected",
  noNumberBody: "Connect one first: what belongs to it will be here.",
};

/** How many rows are on the page at most. */
const mostRows = 200;
const perPage = 50;

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
    return numbersKnown() ? empty({ icon: "numbers", title: text.noNumber, body: text.noNumberBody }) : skeleton();
  };
}

/**
 * paged is a resource of rows, and end is what follows them: a button that reads more.
 * Hints of some kinds read again what is shown; other filters begin anew.
 * @param {string} path
 * @param {{ filters?: () => Record<string, any>, kinds?: string[] }} [options]
 */
export function paged(path, { filters = () => ({}), kinds = [] } = {}) {
  const cursor = signal(/** @type {string | null} */ (null));
  const begins = signal(true); // whether the first rows are shown
  let pages = 1;
  const read = (/** @type {string | null} */ from, /** @type {AbortSignal | undefined} */ abort) =>
    page(path, { signal: abort, query: { ...untracked(filters), limit: perPage, cursor: from } });

  const all = resource(async (abort) => {
    let { rows, cursor: next } = await read(null, abort);
    for (let i = 1; i < pages && next; i++) {
      const one = await read(next, abort);
      rows = [...rows, ...one.rows];
      next = one.cursor;
    }
    cursor.set(next);
    begins.set(true);
    return rows;
  });
  const restart = () => {
    pages = 1;
    return all.reload();
  };
  const again = () => {
    if (begins()) all.reload();
  };
  onDispose(onChanged(kinds, again));
  follow(filters, restart);

  const more = async () => {
    try {
      const one = await read(cursor(), undefined);
      const rows = [...(all.data() ?? []), ...one.rows];
      begins.set(begins() && rows.length <= mostRows);
      pages++;
      all.set(rows.slice(-mostRows));
      cursor.set(one.cursor);
    } catch (error) {
      toastError(error);
    }
  };
  const end = el("p.more.actions", null,
    when(cursor, () => button(text.more, { run: more })),
    when(() => !begins(), () => button(text.first, { run: restart })),
  );
  return { ...all, again, end };
}

/**
 * follow calls fn when what read returns has changed.
 * @param {() => unknown} read
 * @param {() => void} fn
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
 * filter is a combobox whose choice stands in the address.
 * @param {string} label
 * @param {string} name in the address
 * @param {() => { value: string, label: string }[]} options
 * @param {string} [all] what stands for no choice
 */
export function filter(label, name, options, all = text.all) {
  const choose = (/** @type {any} */ event) => setQuery({ [name]: event.target.value });
  const keep = (/** @type {HTMLSelectElement} */ node) => effect(() => {
    node.replaceChildren(...[{ value: "", label: all }, ...options()].map((one) => el("option", { value: one.value }, one.label)));
    node.value = query().get(name) ?? "";
  });
  return el("label.filter", null, el("span", null, label), el("select", { onchange: choose, ref: keep }));
}

/**
 * searchbox is a field whose words stand in the address once the typing pauses.
 * @param {string} label
 */
export function searchbox(label) {
  let timer = 0;
  onDispose(() => clearTimeout(timer));
  return el("input.search", {
    type: "search",
    "aria-label": label,
    placeholder: label,
    maxlength: 200,
    value: query().get("search") ?? "",
    oninput: (/** @type {any} */ event) => {
      clearTimeout(timer);
      timer = setTimeout(() => setQuery({ search: event.target.value.trim() }), 200);
    },
  });
}

/**
 * everyRow reads a list to its end, as far as that is bounded.
 * @param {string} path
 * @param {Record<string, any>} wanted
 * @param {number} most
 * @param {AbortSignal} signal
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

/** How states feel, wherever they are told. */
const moods = {
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
  chip(word, /** @type {any} */ (Object.entries(moods).find(([, words]) => words.split(" ").includes(word))?.[0] ?? "quiet"));

/** allLabels reads the labels of the organization; none until they are there. */
export function allLabels() {
  const all = resource((signal) => everyRow("v1/labels", {}, 1000, signal), ["label"]);
  return () => all.data() ?? [];
}
