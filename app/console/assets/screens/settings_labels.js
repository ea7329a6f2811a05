/** Labels: what contacts and conversations are sorted by. */
import { el, when } from "../dom.js";
import { patch, post, remove } from "../api.js";
import { date } from "../format.js";
import { button, dot, heading } from "../parts/basics.js";
import { confirmAction } from "../parts/dialog.js";
import { formDialog, options } from "../parts/form.js";
import { readLabels } from "../parts/lists.js";
import { empty, loaded, resource } from "../parts/states.js";
import { table } from "../parts/table.js";
import { toast } from "../parts/notices.js";
import { readTeams, settingsPage, teamFields } from "./settings.js";
import { labels as text } from "texts/settings.js";

/** @type {import("../router.js").Build} */
export default function labels() {
  const all = resource(readLabels, ["label"]);
  const teams = resource(readTeams);

  const edit = async (/** @type {any} */ label) => {
    if (await labelDialog(label, teams.data() ?? [])) all.reload();
  };
  const drop = (/** @type {any} */ label) => confirmAction({
    title: text.deleteTitle(label.name),
    body: text.deleteBody,
    action: text.delete,
    send: () => remove("v1/labels/" + label.id),
    done: text.deleted,
    finish: all.reload,
  });

  const body = settingsPage(
    heading(text.title, { lead: text.lead, actions: button(text.newLabel, { icon: "plus", look: "primary", run: () => edit(null) }) }),
    loaded(
      all,
      (rows) => when(
        () => rows().length === 0,
        () => empty({ icon: "label", title: text.emptyTitle, body: text.emptyBody }),
        () => labelTable(rows, teams.data() ?? [], edit, drop),
      ),
    ));
  return { title: text.title, body };
}

/**
 * @param {() => any[]} rows
 * @param {any[]} teams
 * @param {(label: any) => void} edit
 * @param {(label: any) => void} drop
 */
function labelTable(rows, teams, edit, drop) {
  return table({
    caption: text.title,
    rows,
    columns: text.columns,
    kinds: { 3: "end" },
    sorts: { 0: "name", 2: "created_at" },
    cells: [
      (one) => el("span.labelled", null, () => dot(one().color), el("span", { dir: "auto" }, () => one().name)),
      teams.length > 1 && ((one) => () => teams.find((each) => each.id === one().team_id)?.name ?? ""),
      (one) => date(one().created_at),
      (one) => [button(text.edit, { run: () => edit(one()) }), button(text.delete, { run: () => drop(one()) })],
    ],
  });
}

/** newLabel asks for a label, makes it, and returns it. */
export const newLabel = async () => labelDialog(null, await readTeams());

/**
 * labelDialog makes a label, or changes one, and returns it.
 * @param {any} label
 * @param {any[]} teams
 */
function labelDialog(label, teams) {
  return formDialog(label ? text.editTitle : text.newLabel, {
    fields: [
      { name: "name", label: text.name, required: true, props: { maxlength: 50, autocomplete: "off", dir: "auto" } },
      { name: "color", label: text.color, type: "swatches", options: options(text.colors) },
      ...(label ? [] : teamFields(teams)),
    ],
    values: label ?? { color: "gray" },
    submit: label ? text.save : text.create,
    send: (values) => (label ? patch("v1/labels/" + label.id, values) : post("v1/labels", values)),
    done: () => toast(text.saved),
  });
}
