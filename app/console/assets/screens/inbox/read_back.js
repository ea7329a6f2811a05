/**
 * What stands between the messages, and is read with them, as far back as they are: what happened
 * to the conversation, and notes. Lists of it begin with the newest, whose ids are the greatest.
 */
import { signal } from "../../dom.js";
import { page } from "../../api.js";
import { together } from "../../live.js";

/** What a page is, and how many are read at most in search of an old message. */
const pageSize = 50;
const mostPages = 20;

/** versionOf tells a row from what it was before it was changed. @param {any} row */
const versionOf = (row) => row.id + (row.updated_at ?? "");

/**
 * readBack reads such a list.
 * @param {string} path
 * @param {(change: () => void) => void} draw shows what was read, without moving what is being read
 */
export function readBack(path, draw) {
  const rows = signal(/** @type {any[]} */ ([])); // the oldest first
  /** @type {string | null} */
  let cursor = null;
  let pages = 0;
  let wanted = "~"; // the time back to which it is shown, once that is known
  let busy = false;

  /** put adds rows; those that are known stay, but for others since some id. @param {any[]} fresh @param {string} [since] */
  const put = (fresh, since = "~") => {
    const ids = new Set(fresh.map(({ id }) => id));
    const kept = rows.peek().filter((one) => one.id < since && !ids.has(one.id));
    const now = [...kept, ...fresh].sort((a, b) => (a.id < b.id ? -1 : 1));
    if (now.map(versionOf).join() !== rows.peek().map(versionOf).join()) draw(() => rows.set(now));
  };
  const read = async (/** @type {string | null} */ from) => {
    const got = await page(path, { query: { limit: pageSize, cursor: from } });
    // What is not among the newest any more was deleted.
    put(got.rows, from ? "~" : got.cursor ? got.rows.at(-1)?.id : "");
    return got.cursor;
  };

  /** needs reports whether there may be some since a time that were not read. @param {string} time */
  const needs = (time) => pages === 0 || (cursor !== null && pages < mostPages && (rows.peek()[0]?.created_at ?? "") > time);
  /** reach reads back to a time, or further back where that was asked for. @param {string} time */
  const reach = async (time) => {
    if (time < wanted) wanted = time;
    if (busy) return;
    busy = true;
    try {
      for (; needs(wanted); pages++) cursor = await read(cursor);
    } catch {
      // The connection bar shows it; it goes on when that is over, and when somebody scrolls.
    }
    busy = false;
  };
  /** refresh reads the newest, and goes on where reading back was interrupted. */
  const refresh = together(async () => {
    await read(null);
    if (wanted !== "~") await reach(wanted);
  });
  return { rows, put, needs, reach, refresh };
}
