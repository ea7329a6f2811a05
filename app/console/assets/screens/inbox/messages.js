/**
 * The messages of one conversation: a run of them without gaps, the oldest first, and the
 * part of it that is on the page.
 *
 * The run usually ends with the newest message. After a jump to an old one it lies in the
 * past, and grows at both ends as somebody scrolls. Everything the server says of a message
 * is merged by id. After a break all that is on the page is read again, and the rest is
 * forgotten.
 */
import { computed, onDispose, signal } from "../../dom.js";
import { get, latest, page } from "../../api.js";
import { onChanged, onEvent, together } from "../../live.js";
import { presentTime } from "../../session.js";
import { onSent, outbox, settled } from "./outbox.js";

/** @typedef {Record<string, any>} Message */

const pageSize = 30;
/** How many messages may be on the page at once, and by how many that moves: so few that it is not felt. */
const most = 90;
const step = 20;
/** How many are drawn at first, if no more are unread: what a screen holds. The others follow once these are painted. */
const first = 10;
/** How many of the newest are read again when there is news: mostly one of them is new. */
const few = 10;
/** Who only passes by needs no more than the newest messages. */
const delay = 300;

/** The place of a message in the thread: what waits for its time, at the end. @param {Message} m */
const placeOf = (m) => (m.scheduled_at && m.status === "queued" ? "~" + m.scheduled_at : m.created_at);
/** @param {Message} a @param {Message} b */
const byAge = (a, b) => {
  const [x, y] = [placeOf(a), placeOf(b)];
  return x < y ? -1 : x > y ? 1 : a.id < b.id ? -1 : 1;
};

/** Whether the provider's id is not known yet, by which events say what became of a message. @param {Message} m */
const isUnderWay = (m) => m.direction === "outbound" && !m.message_id && m.status !== "failed" && !m.scheduled_at;

/**
 * @param {string} number
 * @param {string} conversation
 * @param {() => number} unread how many there are
 */
export function messages(number, conversation, unread) {
  /** @type {Map<string, Message>} */
  const known = new Map();
  const changes = signal(0);
  const ready = signal(false);
  const failure = signal(/** @type {unknown} */ (null));
  /** The part on the page: where it begins and ends. */
  const view = signal({ from: 0, to: most });
  /** @type {string | null} */
  let older = null;
  let isNewest = true;
  let busy = false;
  let ended = false;
  let timer = 0;
  onDispose(() => {
    ended = true;
    clearTimeout(timer);
  });

  /** The read that began last: what is said of a message meanwhile may be newer than what it brings. */
  let reading = Promise.resolve();

  const path = `v1/${number}/messages`;
  const read = (/** @type {Record<string, any>} */ query) => page(path, { query: { conversation_id: conversation, ...query } });

  const all = signal(/** @type {Message[]} */ ([]));
  const publish = () => {
    all.set([...known.values()].filter((m) => m.type !== "reaction" || m.status === "failed").sort(byAge));
    changes.update((n) => n + 1);
  };
  const shown = computed(() => all().slice(view().from, view().to));

  /** @param {Message} m */
  const newer = (m) => latest(known.get(m.id), m);

  /** @param {Message[]} rows */
  function merge(...rows) {
    let changed = false;
    for (const m of rows.map(newer)) {
      if (m.conversation_id !== conversation) continue;
      changed ||= JSON.stringify(known.get(m.id)) !== JSON.stringify(m);
      known.set(m.id, m);
    }
    if (!changed) return;
    const wasAtEnd = view.peek().to >= all.peek().length;
    publish();
    if (wasAtEnd && isNewest) showEnd();
  }

  /** showEnd puts the end of the run on the page. */
  function showEnd(rows = most) {
    const total = all.peek().length;
    view.set({ from: Math.max(0, total - rows), to: Math.max(total, most) });
  }

  /** lastInbound is where the last n that came begin. @param {number} n */
  const lastInbound = (n) => all().findLastIndex((m) => m.direction === "inbound" && --n <= 0);

  /** begin reads the newest messages, or those around one. @param {string} [at] */
  async function begin(at) {
    try {
      /** @type {Record<string, any>} */
      let query = { limit: Math.max(pageSize, Math.min(100, unread() + few)) };
      if (at) {
        const m = await get(`${path}/${at}`);
        if (m.conversation_id === conversation) query = { limit: pageSize, created_before: after(m.created_at, 1) };
      }
      const got = await read(query);
      if (ended) return;
      const rows = got.rows.map(newer);
      known.clear();
      older = got.cursor;
      isNewest = !query.created_before;
      merge(...rows);
      showEnd(ready.peek() ? most : Math.max(first, unread() && all().length - lastInbound(unread())));
      if (!isNewest) await readNewer();
      failure.set(null);
      if (isNewest) timer = setTimeout(readScheduled, delay);
    } catch (error) {
      failure.set(error);
    }
    if (!ended) ready.set(true);
  }

  /** What waits for its time may have been written long ago. */
  async function readScheduled() {
    const got = await read({ scheduled: "true" }).catch(() => null);
    if (got && !ended) merge(...got.rows.filter((m) => m.scheduled_at && m.status === "queued"));
  }

  /** showOlder makes the page begin earlier. It reports whether it did. */
  async function showOlder() {
    const { from, to } = view.peek();
    if (from === 0 && older && !busy) {
      busy = true;
      const got = await read({ limit: step, cursor: older }).catch(() => null);
      busy = false;
      if (!got || ended) return false;
      older = got.cursor;
      const before = all.peek().length;
      got.rows.forEach((m) => known.set(m.id, m));
      publish();
      view.set({ from: 0, to: Math.min(most, to + all.peek().length - before) });
      return true;
    }
    if (from === 0) return false;
    view.set({ from: Math.max(0, from - step), to: Math.max(0, from - step) + most });
    return true;
  }

  /** showNewer makes the page end later. */
  async function showNewer() {
    const { to } = view.peek();
    if (to >= all.peek().length && !isNewest && !busy) await readNewer();
    const total = all.peek().length;
    if (to >= total) return false;
    const end = Math.min(total, to + step);
    view.set({ from: Math.max(0, end - most), to: end });
    return true;
  }

  let span = 3_600_000;

  /** readNewer reads what follows the run, by spans of time, because lists begin with the newest. */
  async function readNewer() {
    busy = true;
    try {
      for (let from = all.peek().at(-1)?.created_at; ;) {
        const until = after(from, span);
        const got = await read({ limit: 100, created_after: after(from, -1), created_before: until });
        if (got.cursor && span > 1000) {
          span /= 8;
          continue;
        }
        const before = known.size;
        got.rows.forEach((m) => known.set(m.id, m));
        if (Date.parse(until) > presentTime()) isNewest = true;
        if (known.size > before || isNewest) break;
        span *= 8;
        from = until;
      }
    } catch {
      // The connection bar shows it; scrolling asks again.
    }
    busy = false;
    publish();
  }

  /** refresh reads the newest messages again, as many as it takes to reach those that are known, and all that are under way. */
  async function refresh() {
    await settled();
    if (ended || !isNewest) return;
    const newest = [...known.keys()].sort().at(-1) ?? "";
    const oldest = [...known.values()].filter(isUnderWay).map((m) => m.id).sort()[0] ?? newest;
    /** @type {string | null} */
    let next = null;
    const rows = [];
    do {
      /** @type {{ rows: any[], cursor: string | null }} */
      const got = await read({ limit: next ? pageSize : few, cursor: next });
      rows.push(...got.rows);
      next = got.cursor;
    } while (next && known.size > 0 && rows.every((m) => m.id > oldest) && rows.length < 5 * pageSize);
    if (ended) return;
    if (next && rows.every((m) => m.id > newest)) return begin();
    merge(...rows);
  }

  /** readAgain reads all that is on the page. */
  async function readAgain() {
    await settled();
    const rows = shown();
    if (!isNewest || rows.length <= pageSize) return begin(isNewest ? undefined : rows.at(-1)?.id);
    const first = rows[0];
    /** @type {string | null} */
    let next = null;
    const fresh = [];
    do {
      /** @type {{ rows: any[], cursor: string | null }} */
      const got = await read({ limit: 100, cursor: next });
      fresh.push(...got.rows);
      next = got.cursor;
    } while (next && fresh.at(-1)?.id > first.id && fresh.length < 2 * most);
    if (ended) return;
    const newest = fresh.map(newer);
    known.clear();
    older = next;
    merge(...newest);
    showEnd();
  }

  /** readOne reads one message that is known here. @param {(m: Message) => boolean} wanted */
  const readOne = (wanted) => reading.catch(() => {}).then(() => {
    const found = [...known.values()].find(wanted);
    if (found) get(`${path}/${found.id}`).then((m) => !ended && merge(m), () => {});
  });

  const catchUp = together(() => (reading = refresh()));
  onDispose(onChanged(["conversation"], ({ kind, ids }) => {
    if (kind === "*") (reading = readAgain()).catch(() => {});
    else if (ids.length === 0 || ids.includes(conversation)) catchUp();
  }));
  // Where much happens at once, events come before hints.
  onDispose(onEvent(["message.received"], ({ payload }) => {
    if (payload.svc?.conversation_id === conversation) catchUp();
  }));
  onDispose(onEvent(["message.status", "message.edited", "message.revoked"], ({ payload }) => {
    const named = payload.entry?.[0]?.changes?.[0]?.value?.statuses?.[0]?.id ?? payload.data?.message_id;
    if (named) readOne((m) => m.id === named || m.message_id === named);
  }));
  onDispose(onSent((m) => merge(m)));

  /** Reactions by the provider's id of what they react to, the last of each side. */
  const reactions = computed(() => {
    changes();
    /** @type {Map<string, Map<string, { emoji: string, waits?: boolean, m?: Message }>>} */
    const found = new Map();
    const add = (/** @type {any} */ reaction, /** @type {string} */ side, /** @type {any} */ more) => {
      const sides = found.get(reaction.message_id) ?? new Map();
      sides.set(side, { emoji: reaction.emoji, ...more });
      found.set(reaction.message_id, sides);
    };
    for (const m of [...known.values()].filter((one) => one.type === "reaction").sort(byAge)) {
      if (m.status !== "failed" && m.reaction) add(m.reaction, m.direction, { m });
    }
    for (const { body, error, conversation: of } of outbox()) {
      if (of === conversation && body.type === "reaction" && !error) add(body.reaction, "outbound", { waits: true });
    }
    return found;
  });

  reading = begin();
  return {
    shown,
    ready,
    failure,
    reactions,
    merge,
    /** @param {string} [at] */
    begin: (at) => (reading = begin(at)),
    showOlder,
    showNewer,
    showEnd,
    /** Whether the newest message is on the page. */
    endsNow: () => isNewest && view().to >= all().length,
    hasOlder: () => older !== null || view().from > 0,
    newest: () => all().at(-1),
    /** The id of what came last: what waits for its time comes after it. */
    lastID: () => (changes(), [...known.keys()].sort().at(-1) ?? ""),
    /** unread is the first of the last n that came. @param {number} n */
    unread: (n) => all()[lastInbound(n)],
    /** byProviderID finds what a reply answers. @param {string} id */
    byProviderID: (id) => all().find((m) => m.message_id === id),
    find: (/** @type {string} */ id) => known.get(id),
  };
}

/** @param {string} time @param {number} span */
const after = (time, span) => new Date(Date.parse(time) + span).toISOString();
