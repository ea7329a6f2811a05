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
import { quickReplies as text } from "texts/settings.js";

const path = "v1/quick_replies";

const fields = [
  { name: "shortcut", ...text.shortcut, required: true, props: { maxlength: 30, autocomplete: "off", autocapitalize: "off" } },
  { name: "text", ...text.text, type: "textarea", required: true, props: { maxlength: 4096, rows: 5, dir: "auto" } },
];

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
      kinds: { 3: "end" },
      sorts: { 0: "shortcut" },
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
    fields: [...fields, ...buttonFields(true), ...listFields(true), ...(one ? [] : teamFields(teams))],
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
