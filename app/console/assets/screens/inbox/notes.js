/**
 * Notes: what colleagues write to each other in a conversation. They are read with the messages,
 * as far back as they are, and stand between them. Nothing sends them.
 */
import { computed, el, onDispose, signal } from "../../dom.js";
import { patch, post, remove } from "../../api.js";
import { clockOf, dates, dayOf, stamp } from "../../format.js";
import { onEvent } from "../../live.js";
import { button } from "../../parts/basics.js";
import { confirmAction } from "../../parts/dialog.js";
import { formDialog } from "../../parts/form.js";
import { words } from "../../parts/formatted.js";
import { menu } from "../../parts/menu.js";
import { counts, isAdmin, me, presentTime } from "../../session.js";
import { mentionsIn } from "./note_form.js";
import { readBack } from "./read_back.js";
import { notes as text } from "texts/thread.js";

const dayAndClock = dates({ day: "numeric", month: "short", hour: "numeric", minute: "2-digit" });

/**
 * @param {string} number
 * @param {string} conversation
 * @param {(change: () => void) => void} draw shows what was read, without moving what is being read
 * @param {() => any[]} people who can be mentioned
 */
export function notes(number, conversation, draw, people) {
  const isMentioned = signal(counts.peek().mentions !== 0); // perhaps here, or it is not known yet
  const path = `v1/${number}/conversations/${conversation}/notes`;
  const { rows, put, ...back } = readBack(path, draw);
  const lineOf = (/** @type {any} */ note) => /** @type {any} */ ({
    id: note.id, type: "note", created_at: note.created_at,
    note: { ...note, path: `${path}/${note.id}`, people, changed: back.refresh },
  });
  const all = computed(() => /** @type {import("./changes.js").Change[]} */ (rows().map(lineOf)));

  onDispose(onEvent(["note.created", "note.updated", "note.deleted"], ({ payload }) => {
    if (payload.data?.note?.conversation_id !== conversation) return;
    if (payload.data.note.mentions.includes(me.peek().id)) isMentioned.set(true);
    back.refresh();
  }));

  return {
    all,
    /** Whether the person may have an unread mention here: when it is opened, and when one comes. */
    isMentioned,
    ...back,
    /** add writes one. @param {string} said @param {string[]} mentions */
    add: async (said, mentions) => put([await post(path, { text: said, mentions })]),
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
