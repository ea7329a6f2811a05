/** Quick replies: answers that are given often. */
import { el, when } from "../dom.js";
import { patch, post, remove } from "../api.js";
import { button, heading } from "../parts/basics.js";
import { confirmDeed, dialog } from "../parts/dialog.js";
import { form } from "../parts/form.js";
import { toast } from "../parts/notices.js";
import { isScrolled, paged, pagedList } from "../parts/lists.js";
import { resource } from "../parts/states.js";
import { table } from "../parts/table.js";
import { onQuery } from "../router.js";
import { readTeams, settingsPage, teamFields } from "./settings.js";

const text = {
  title: "Quick replies",
  lead: "Answers that you give often. Type / while you write a message, and choose one.",
  newOne: "New quick reply",
  editTitle: "Edit quick reply",
  columns: { shortcut: "Shortcut", text: "Text", edit: "Edit and delete" },
  edit: "Edit",
  delete: "Delete",
  deleteTitle: (/** @type {string} */ shortcut) => `Delete /${shortcut}?`,
  deleteBody: "Messages that were sent with it stay.",
  deleted: "Quick reply deleted",
  save: "Save",
  saved: "Saved",
  fields: { shortcut: "Shortcut", text: "Text" },
  shortcutHint: "Small letters, digits, _ and -: “hours”.",
  textHint: "{{name}} becomes the name of the person.",
  none: "No quick replies yet",
  noneBody: "Opening hours, how to return something: write it once.",
};

const path = "v1/quick_replies";

/** @type {import("../router.js").Build} */
export default function quickReplies() {
  const all = paged(path, { kinds: ["quick_reply"], waits: isScrolled });
  const teams = resource(readTeams);
  const edit = async (/** @type {any} */ one) => {
    if (await replyDialog(one, teams.data() ?? [])) all.reload();
  };
  const drop = (/** @type {any} */ one) => confirmDeed({
    title: text.deleteTitle(one.shortcut),
    body: el("p", null, text.deleteBody),
    deed: text.delete,
    send: async () => {
      await remove(path + "/" + one.id);
      toast(text.deleted);
      all.reload();
    },
  });
  onQuery("new", () => edit(null));

  const action = () => button(text.newOne, { icon: "plus", look: "primary", run: () => edit(null) });
  const body = settingsPage(
    heading(text.title, { lead: text.lead, actions: when(() => all.data()?.length, action) }),
    pagedList(all, (rows) => table({
      caption: text.title,
      rows,
      key: (one) => one.id,
      columns: [
        { name: text.columns.shortcut, kind: "about", sort: (one) => one.shortcut, cell: (one) => () => "/" + one().shortcut },
        { name: text.columns.text, cell: (one) => el("span.clip", { dir: "auto" }, () => one().text) },
        {
          name: text.columns.edit,
          kind: "end",
          unseen: true,
          cell: (one) => [button(text.edit, { run: () => edit(one()) }), button(text.delete, { run: () => drop(one()) })],
        },
      ],
    }), () => ({ icon: "bolt", title: text.none, body: text.noneBody, action: action() })));
  return { title: text.title, body };
}

/**
 * replyDialog makes a quick reply, or changes one. It tells whether it did.
 * @param {any} one
 * @param {any[]} teams
 */
function replyDialog(one, teams) {
  return dialog(one ? text.editTitle : text.newOne, (close) => form({
    fields: [
      {
        name: "shortcut",
        label: text.fields.shortcut,
        hint: text.shortcutHint,
        value: one?.shortcut,
        required: true,
        props: { maxlength: 30, autocomplete: "off", autocapitalize: "off" },
      },
      {
        name: "text",
        label: text.fields.text,
        type: "textarea",
        hint: text.textHint,
        value: one?.text,
        required: true,
        props: { maxlength: 4096, rows: 5, dir: "auto" },
      },
      ...(one ? [] : teamFields(teams)),
    ],
    submit: text.save,
    send: (values) => (one ? patch(path + "/" + one.id, values) : post(path, values)),
    done() {
      toast(text.saved);
      close(true);
    },
    cancel: () => close(false),
  }), { wide: true });
}
