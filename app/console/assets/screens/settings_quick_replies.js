/** Quick replies: answers that are given often. */
import { el, when } from "../dom.js";
import { patch, post, remove } from "../api.js";
import { button, heading } from "../parts/basics.js";
import { confirmAction } from "../parts/dialog.js";
import { formDialog } from "../parts/form.js";
import { buttonFields, fill, listFields, namesIn, read } from "../parts/interactive.js";
import { toast } from "../parts/notices.js";
import { isScrolled, paged, pagedList } from "../parts/lists.js";
import { resource } from "../parts/states.js";
import { table } from "../parts/table.js";
import { onQuery } from "../router.js";
import { readTeams, settingsPage, teamFields } from "./settings.js";

const text = {
  title: "Quick replies",
  lead: "Answers you send often. Type / in a message to pick one.",
  newOne: "New quick reply",
  editTitle: "Edit quick reply",
  columns: [{ name: "Shortcut", sort: "shortcut" }, "Text", "Buttons or list", { name: "Edit and delete", kind: "end", unseen: true }],
  edit: "Edit",
  delete: "Delete",
  deleteTitle: (/** @type {string} */ shortcut) => `Delete /${shortcut}?`,
  deleteBody: "Messages already sent with it stay.",
  deleted: "Quick reply deleted",
  save: "Save",
  saved: "Saved",
  fields: [
    {
      name: "shortcut",
      label: "Shortcut",
      hint: "Lowercase letters, digits, _ and -, such as “hours”.",
      required: true,
      props: { maxlength: 30, autocomplete: "off", autocapitalize: "off" },
    },
    {
      name: "text",
      label: "Text",
      type: "textarea",
      hint: "{{first_name}} or {{name}} becomes the contact’s name. Add a fallback for those without one: {{first_name|there}}.",
      required: true,
      props: { maxlength: 4096, rows: 5, dir: "auto" },
    },
  ],
  none: "No quick replies yet",
  noneBody: "Opening hours, return policy: write it once and reuse it.",
};

const path = "v1/quick_replies";

/** @type {import("../router.js").Build} */
export default function quickReplies() {
  const all = paged(path, { kinds: ["quick_reply"], waits: isScrolled });
  const teams = resource(readTeams);
  const edit = async (/** @type {any} */ one) => {
    if (await replyDialog(one, teams.data() ?? [])) all.reload();
  };
  const drop = (/** @type {any} */ one) => confirmAction({
    title: text.deleteTitle(one.shortcut),
    body: text.deleteBody,
    action: text.delete,
    send: () => remove(path + "/" + one.id),
    done: text.deleted,
    finish: all.reload,
  });
  onQuery("new", () => edit(null));

  const action = () => button(text.newOne, { icon: "plus", look: "primary", run: () => edit(null) });
  const body = settingsPage(
    heading(text.title, { lead: text.lead, actions: when(() => all.data()?.length, action) }),
    pagedList(all, (rows) => table({
      caption: text.title,
      rows,
      columns: text.columns,
      cells: [
        (one) => () => "/" + one().shortcut,
        (one) => el("span.clip", { dir: "auto" }, () => one().text),
        (one) => el("span.clip", { dir: "auto" }, () => (one().interactive ? namesIn(one().interactive) : "")),
        (one) => [button(text.edit, { run: () => edit(one()) }), button(text.delete, { run: () => drop(one()) })],
      ],
    }), () => ({ icon: "bolt", title: text.none, body: text.noneBody, action: action() })));
  return { title: text.title, body };
}

/**
 * replyDialog makes a quick reply, or changes one, and returns it.
 * @param {any} one
 * @param {any[]} teams
 */
function replyDialog(one, teams) {
  const before = fill(one?.interactive);
  return formDialog(one ? text.editTitle : text.newOne, {
    fields: [...text.fields, ...buttonFields(true), ...listFields(true), ...(one ? [] : teamFields(teams))],
    values: { ...one, ...before },
    submit: text.save,
    send: async ({ shortcut, text: words, team_id: team, ...values }) => {
      const made = read(values);
      const same = JSON.stringify(fill(made)) === JSON.stringify(before); // what the form does not show stays
      const body = { shortcut, text: words, interactive: same && one ? one.interactive : made };
      return one ? patch(path + "/" + one.id, body) : post(path, { ...body, team_id: team });
    },
    done: () => toast(text.saved),
  }, { wide: true });
}
