/**
 * Notes: what colleagues write to each other in a conversation. They are read with the messages,
 * as far back as they are, and stand between them. Nothing sends them.
 */
import { el, onDispose, signal } from "../../dom.js";
import { page, patch, post, remove } from "../../api.js";
import { clockOf, dates, dayOf, stamp } from "../../format.js";
import { onEvent } from "../../live.js";
import { button } from "../../parts/basics.js";
import { confirmAction } from "../../parts/dialog.js";
import { formDialog } from "../../parts/form.js";
import { words } from "../../parts/formatted.js";
import { menu } from "../../parts/menu.js";
import { counts, isAdmin, me, presentTime } from "../../session.js";
import { mentionsIn } from "./note_form.js";
import { notes as text } from "texts/thread.js";

const dayAndClock = dates({ day: "numeric", month: "short", hour: "numeric", minute: "2-digit" });

/** What a page is, and how many are read at most in search of an old message. */
const pageSize = 50;
const mostPages = 20;

/**
 * @param {string} number
 * @param {string} conversation
 * @param {(change: () => void) => void} draw shows what was read, without moving what is being read
 * @param {() => any[]} people who can be mentioned
 */
export function notes(number, conversation, draw, people) {
  const all = signal(/** @type {import("./changes.js").Change[]} */ ([])); // the oldest first
  const isMentioned = signal(counts.peek().mentions !== 0); // perhaps here, or it is not known yet
  /** @type {string | null} */
  let cursor = null;
  let pages = 0;
  let busy = false;
  const path = `v1/${number}/conversations/${conversation}/notes`;
  const lineOf = (/** @type {any} */ note) => /** @type {any} */ ({
    id: note.id, type: "note", created_at: note.created_at, note: { ...note, path: `${path}/${note.id}`, people, changed: () => refresh() },
  });

  /** show puts rows in the place of those that are known from some age on. @param {any[]} rows @param {string} from */
  const show = (rows, from) => {
    const kept = all.peek().filter((one) => one.created_at < from && rows.every(({ id }) => id !== one.id));
    draw(() => all.set([...kept, ...rows.map(lineOf)].sort((a, b) => (a.id < b.id ? -1 : 1))));
  };
  const read = async (/** @type {string | null} */ from) => {
    const got = await page(path, { query: { limit: pageSize, cursor: from } });
    if (from) show([...got.rows, ...all.peek().map((one) => one.note)], "");
    else if (got.rows.length > 0 || all.peek().length > 0) show(got.rows, got.cursor ? got.rows.at(-1)?.created_at ?? "" : "");
    return got.cursor;
  };
  const refresh = () => void read(null).catch(() => {});

  onDispose(onEvent(["note.created", "note.updated", "note.deleted"], ({ payload }) => {
    if (payload.data?.note?.conversation_id !== conversation) return;
    if (payload.data.note.mentions.includes(me.peek().id)) isMentioned.set(true);
    refresh();
  }));

  return {
    all,
    /** Whether the person may have an unread mention here: when it is opened, and when one comes. */
    isMentioned,
    /** needs reports whether there may be some since a time that were not read. @param {string} time */
    needs: (time) => pages === 0 || (cursor !== null && pages < mostPages && (all.peek()[0]?.created_at ?? "") > time),
    /** reach reads back to a time. @param {string} time */
    async reach(time) {
      if (busy) return;
      busy = true;
      try {
        for (; this.needs(time); pages++) cursor = await read(cursor);
      } catch {
        // The connection bar shows it; scrolling asks again.
      }
      busy = false;
    },
    /** refresh reads the newest. */
    refresh,
    /** add writes one. @param {string} said @param {string[]} mentions */
    async add(said, mentions) {
      const made = await post(path, { text: said, mentions });
      show([...all.peek().map((one) => one.note), made], "");
    },
  };
}

/** titleOf says whose note it is. @param {any} author */
const titleOf = ({ type, id, name }) => (id === me().id ? text.own : text.by(name ?? (type === "key" ? text.key : "")));

/** noteLine shows a note. @param {any} note */
export function noteLine(note) {
  const title = titleOf(note.author);
  const isOwn = note.author.id === me.peek().id || isAdmin;
  const isEdited = note.updated_at !== note.created_at;
  return el("article.note", { id: note.id, tabindex: "-1", "aria-label": title, "data-note": note.id },
    el("header", null,
      el("b", { dir: "auto" }, title),
      stamp(note.created_at, (at) => (dayOf(at) === dayOf(presentTime()) ? clockOf(at) : dayAndClock.format(at))),
      isEdited && el("small", null, text.edited),
      isOwn && actions(note)),
    el("p", { dir: "auto" }, words(note.text)));
}

/** @param {any} note */
function actions(note) {
  const more = button(text.more, { icon: "more", look: "bare", iconOnly: true });
  menu(more, text.more, () => [
    { name: text.edit, run: () => void edit(note) },
    { name: text.delete, danger: true, run: () => void drop(note) },
  ]);
  return more;
}

/** @param {any} note */
const edit = (note) => formDialog(text.edit, {
  fields: [{ name: "text", label: text.note, type: "textarea", required: true, props: { maxlength: 4096, rows: 5, dir: "auto" } }],
  values: { text: note.text },
  submit: text.save,
  send: (values) => patch(note.path, { ...values, mentions: mentionsIn(values.text, note.people()) }),
  done: note.changed,
});

/** @param {any} note */
const drop = (note) => confirmAction({
  title: text.deleteTitle,
  body: text.deleteBody,
  action: text.delete,
  send: async () => {
    await remove(note.path);
    note.changed();
  },
});
