/**
 * The conversations of the inbox: those that were read so far, by their ids, and which of
 * them the list shows.
 *
 * The server has the truth. What it says has changed is read again and merged by id: the
 * conversations that a hint names, else all that changed since the newest that is known
 * here, with an overlap. After a break everything that is shown is read anew.
 *
 * The list shows those that fit its filter, the newest first, down to where the pages read
 * so far reach. While it is scrolled its order stays as it is, and what belongs above is
 * only counted; and for a moment while the pointer moves over it, so that no one clicks on
 * what has just come there.
 */
import { onDispose, signal } from "../../dom.js";
import { get, latest, page } from "../../api.js";
import { onChanged, together } from "../../live.js";
import { query } from "../../router.js";
import { me, presentTime } from "../../session.js";

/** @typedef {Record<string, any>} Conversation */

/** The tabs, with their filters for the server. @type {Record<string, Record<string, string>>} */
export const tabs = {
  open: { status: "open,pending", snoozed: "false" },
  mine: { status: "open,pending", snoozed: "false", assigned_to: "me" },
  unassigned: { status: "open,pending", snoozed: "false", assigned_to: "none" },
  waiting: { waiting: "true" },
  mentions: { mentioned: "me" },
  unread: { status: "open,pending", unread: "true" },
  snoozed: { snoozed: "true" },
  resolved: { status: "resolved" },
  all: {},
};

const pageSize = 50;
/** How much of a list is read again under somebody who has scrolled in it. */
const deep = 1000;
const overlap = 2000;
/** How long somebody takes from moving the pointer to a click. */
const pointerDelay = 800;

/**
 * What comes first in a list has the highest place: the newest message, or who waits longest.
 * @param {Conversation} one
 * @param {string} sort
 */
const placeOf = (one, sort) =>
  (sort === "waiting" ? -Date.parse(one.waiting_since ?? "") || -Infinity : Date.parse(one.last_message_at ?? "") || 0);

/**
 * What the list is narrowed to: wanted are filters of the server.
 * @typedef {{ number: string, wanted: Record<string, string>, label: string, sort: string }} Filter
 */

/** @param {() => string} current the conversation that is open */
export function conversations(current) {
  /** @type {Map<string, Conversation>} */
  const known = new Map();
  const changes = signal(0);
  const shown = signal(/** @type {Conversation[] | null} */ (null));
  const fresh = signal(0);
  const failure = signal(/** @type {unknown} */ (null));
  /** @type {Filter} */
  let filter = { number: "", wanted: tabs.open, label: "", sort: "" };
  /** Those that mention the person: only the server knows them. @type {Set<string>} */
  const mentioning = new Set();
  /** @type {string | null} */
  let cursor = null;
  /** The last conversation that pages have reached; null where they reached the end. @type {Conversation | null} */
  let floor = null;
  let since = 0;
  let scrolled = false;
  let held = 0;
  let top = -Infinity;
  let running = new AbortController();
  let loading = false;
  onDispose(() => running.abort());
  onDispose(() => clearTimeout(held));

  const path = () => `v1/${filter.number}/conversations`;
  const filters = () => {
    const { assigned_to: who, ...rest } = filter.wanted;
    const label = filter.label || rest.label_id;
    return { ...rest, assigned_to: who === "me" ? me.peek().id : who, label_id: label, sort: filter.sort, limit: pageSize };
  };
  const place = (/** @type {Conversation} */ one) => placeOf(one, filter.sort);
  const inOrder = (/** @type {Conversation} */ a, /** @type {Conversation} */ b) => place(b) - place(a) || (a.id < b.id ? 1 : -1);

  /** @param {Conversation} one */
  function fits(one) {
    const { wanted } = filter;
    if (wanted.status && !wanted.status.split(",").includes(one.status)) return false;
    if (wanted.assigned_to === "me" && one.assignee?.id !== me.peek().id) return false;
    if (wanted.assigned_to === "none" && one.assignee) return false;
    if (wanted.assigned_to?.length === 26 && one.assignee?.id !== wanted.assigned_to) return false;
    if ((wanted.waiting || filter.sort === "waiting") && !one.waiting_since) return false;
    if (wanted.snoozed && wanted.snoozed !== String(Boolean(one.snoozed_until))) return false;
    // One that is read while it is listed among the unread stays there until another is opened.
    const isHere = () => one.id === current() && shown.peek()?.some(({ id }) => id === one.id);
    if (wanted.unread && one.unread_count === 0 && !isHere()) return false;
    if (wanted.mentioned && !mentioning.has(one.id) && !isHere()) return false;
    if (wanted.label_id && one.labels.every((/** @type {any} */ each) => each.id !== wanted.label_id)) return false;
    return !filter.label || one.labels.some((/** @type {any} */ each) => each.id === filter.label);
  }

  function arrange() {
    if (shown.peek() === null) return;
    const rows = [...known.values()].filter((one) => fits(one) && (!floor || inOrder(one, floor) <= 0)).sort(inOrder);
    if (!scrolled && !held) {
      top = rows[0] ? place(rows[0]) : -Infinity;
      shown.set(rows);
      fresh.set(0);
      return;
    }
    const now = new Map(rows.map((one) => [one.id, one]));
    const kept = (shown.peek() ?? []).flatMap((one) => now.get(one.id) ?? []);
    const above = rows.filter((one) => place(one) > top);
    kept.forEach((one) => now.delete(one.id));
    above.forEach((one) => now.delete(one.id));
    shown.set([...kept, ...now.values()]);
    fresh.set(scrolled ? above.length : 0);
  }

  /** @param {Conversation} one */
  const newer = (one) => latest(known.get(one.id), one);

  /** merge takes conversations in. An answer may come when another number is looked at. @param {Conversation[]} rows */
  function merge(...rows) {
    for (const one of rows.filter((each) => each.chat_account.phone_number_id === filter.number)) {
      known.set(one.id, newer(one));
      since = Math.max(since, Date.parse(one.updated_at));
    }
    changes.update((n) => n + 1);
    arrange();
  }

  /** load reads the list from its beginning, as far as it reached. A page may come before it is full, even empty. */
  async function load() {
    if (!filter.number) return;
    running.abort();
    const { signal } = (running = new AbortController());
    const wanted = Math.max(1, Math.min(shown.peek()?.length ?? 0, scrolled ? deep : 2 * pageSize));
    try {
      const rows = [];
      /** @type {string | null} */
      let next = null;
      do {
        /** @type {{ rows: any[], cursor: string | null }} */
        const got = await page(path(), { signal, query: { ...filters(), cursor: next } });
        rows.push(...got.rows);
        next = got.cursor;
      } while (next && rows.length < wanted);

      const [fresh, open] = [rows.map(newer), known.get(current())];
      known.clear();
      mentioning.clear();
      if (filter.wanted.mentioned) rows.forEach(({ id }) => mentioning.add(id));
      if (open) known.set(open.id, open);
      if (shown.peek() === null) shown.set([]);
      [cursor, floor] = [next, next ? rows[rows.length - 1] : null];
      failure.set(null);
      merge(...fresh);
      if (rows.length < pageSize) more();
      if (open && !fresh.some(({ id }) => id === open.id)) read(open.id).catch(() => {});
    } catch (error) {
      if (!signal.aborted) failure.set(error);
    }
  }

  /** more reads on until there are as many more as fill a page. */
  async function more() {
    if (!cursor || loading) return;
    loading = true;
    const { signal } = running;
    try {
      for (let added = 0; cursor && added < pageSize;) {
        const got = await page(path(), { signal, query: { ...filters(), cursor } });
        if (signal.aborted) break;
        [cursor, floor] = [got.cursor, got.cursor ? got.rows[got.rows.length - 1] ?? floor : null];
        if (filter.wanted.mentioned) got.rows.forEach(({ id }) => mentioning.add(id));
        added += got.rows.length;
        merge(...got.rows);
      }
    } catch {
      // The connection bar shows it; scrolling asks again.
    } finally {
      loading = false;
    }
  }

  /** @param {string} id */
  async function read(id) {
    if (!filter.number) return null;
    try {
      const one = await get(`${path()}/${id}`);
      merge(one);
      return one;
    } catch (error) {
      const { status } = /** @type {any} */ (error);
      if (status === 404 && known.delete(id)) merge();
      throw error;
    }
  }

  /** catchUp reads what has changed since the last change that is known. @param {string[]} ids those said to have changed */
  async function catchUp(ids) {
    if (!filter.number) return;
    const [now, of] = [presentTime(), path()];
    const query = { updated_since: new Date(Math.min(since || now, now) - overlap).toISOString(), limit: 100 };
    const missing = new Set(ids);
    /** @type {string | null} */
    let next = null;
    do {
      /** @type {{ rows: any[], cursor: string | null }} */
      const got = await page(of, { query: { ...query, cursor: next } });
      merge(...got.rows);
      got.rows.forEach(({ id }) => missing.delete(id));
      next = got.cursor;
    } while (next);

    // A deleted one is in no list, and after a clock was set back a new one may seem old.
    missing.delete("");
    if (missing.size > pageSize) await load();
    else await Promise.allSettled([...missing].map(read));
  }

  /** @type {Set<string>} */
  const hinted = new Set();
  const follow = together(async () => {
    const all = [...hinted];
    hinted.clear();
    if (filter.wanted.mentioned || (all.includes("") && !scrolled)) await load();
    else if (all.length > 5 || all.includes("")) await catchUp([...all, current()]);
    else await Promise.allSettled(all.map(read));
  });
  onDispose(onChanged(["conversation", "label"], ({ kind, ids }) => {
    if (kind === "*") return void load();
    (ids.length && kind !== "label" ? ids : [""]).forEach((id) => hinted.add(id));
    follow();
  }));

  return {
    shown,
    fresh,
    failure,
    load,
    more,
    read,
    merge,
    /** get is a conversation as it is known here. @param {string} id */
    get(id) {
      changes();
      return known.get(id);
    },
    /** narrow shows other ones. @param {Filter} next */
    narrow(next) {
      if (next.number !== filter.number) {
        known.clear();
        since = 0;
      }
      filter = next;
      scrolled = false;
      shown.set(null);
      failure.set(null);
      running.abort();
      cursor = null;
      load();
    },
    /** arrange puts it in order, unless it is scrolled. */
    arrange,
    /** hold keeps the order for a moment. */
    hold() {
      clearTimeout(held);
      held = setTimeout(() => {
        held = 0;
        arrange();
      }, pointerDelay);
    },
    /** @param {boolean} now */
    setScrolled(now) {
      if (now === scrolled) return;
      scrolled = now;
      if (!now) arrange();
    },
  };
}

/** nameOf is what a person is called: by name, else by number. @param {any} contact */
export const nameOf = (contact) =>
  contact?.name || contact?.phone_number || contact?.username || contact?.bsuid || contact?.parent_bsuid || contact?.id || "";

/** recipient addresses a person, by number or else by an id. @param {{ phone_number?: string, bsuid?: string, parent_bsuid?: string }} who */
export const recipient = ({ phone_number: to, bsuid, parent_bsuid: parent }) => (to ? { to } : { recipient: bsuid ?? parent });

/** keep is an address in the inbox that keeps what the list shows. @param {string} to @param {Record<string, string>} [more] */
export function keep(to, more = {}) {
  const next = new URLSearchParams(query());
  next.delete("message");
  Object.entries(more).forEach(([name, value]) => (value ? next.set(name, value) : next.delete(name)));
  return to + (next.size > 0 ? "?" + next : "");
}
