/** Templates: what may be written first, as people will see it, and the verdict of the provider. */
import { computed, el, when } from "../dom.js";
import { get, post, remove } from "../api.js";
import { categoryOf, date, time } from "../format.js";
import { announce } from "../live.js";
import { button, copyable, heading, section, wordOf } from "../parts/basics.js";
import { confirmAction } from "../parts/dialog.js";
import { everyRow, filter, ofNumber, stateChip } from "../parts/lists.js";
import { empty, loaded, resource } from "../parts/states.js";
import { fact, table } from "../parts/table.js";
import { samplesOf, templatePreview, partOf, variablesOf } from "../parts/template_preview.js";
import { toast, toastError } from "../parts/notices.js";
import { link, navigate, query } from "../router.js";
import { isAdmin, number } from "../session.js";
import nothing from "./nothing.js";
import { builder } from "./templates/builder.js";
import { templates as text, reasons as reasonText, unknownReason } from "texts/templates.js";

/** @type {import("../router.js").Build} */
export default function templates({ params }) {
  if (params.id === "new") return isAdmin ? { title: text.newOne, body: el("div.page", null, builder()) } : nothing({ params });
  return params.id ? oneTemplate(params.id) : allTemplates();
}

/** @param {string | null} category */
const categoryName = (category) => (category ? categoryOf(category.toLowerCase()) : text.unknown);

/** @param {any} one */
function state(one) {
  const own = one.provider_status?.toLowerCase();
  return [stateChip(one.status), own && own !== one.status && el("small.quiet", null, " " + wordOf(own))];
}

function allTemplates() {
  const sync = async () => {
    try {
      const { created, updated, deleted } = await post(`v1/${number()?.phone_number_id}/templates/sync`, {});
      toast(text.synced(created, updated, deleted));
      announce("template");
    } catch (error) {
      toastError(error);
    }
  };
  const actions = isAdmin && [
    button(text.sync, { icon: "refresh", run: sync }),
    button(text.newOne, { icon: "plus", look: "primary", run: () => navigate("templates/new") }),
  ];
  return {
    title: text.title,
    body: el("div.page", null,
      heading(text.title, { lead: text.lead, actions }),
      ofNumber((id) => {
        const all = resource((signal) => everyRow(`v1/${id}/templates`, { status: "all" }, 6000, signal), ["template"]);
        return loaded(all, templateTable);
      })),
  };
}

/** @param {() => any[]} rows */
function templateTable(rows) {
  const statuses = ["approved", "pending", "rejected"].map((value) => ({ value, label: wordOf(value) }));
  const categories = ["MARKETING", "UTILITY", "AUTHENTICATION"].map((value) => ({ value, label: categoryName(value) }));
  const languages = computed(() => [...new Set(rows().map((one) => one.language))].sort());
  const shown = computed(() => rows().filter((one) =>
    ["status", "language", "category"].every((name) => !query().get(name) || one[name] === query().get(name))));

  return when(() => rows().length === 0, () => empty({ icon: "templates", title: text.emptyTitle, body: text.emptyBody }), () => [
    el("div.filters", null,
      filter(text.filters.status, "status", () => statuses),
      filter(text.filters.language, "language", languages),
      filter(text.filters.category, "category", () => categories),
    ),
    when(() => shown().length === 0, () => el("p.none", null, text.none)),
    when(() => shown().length > 200, () => el("p.none", null, text.most)),
    table({
      caption: text.title,
      rows: () => shown().slice(0, 200),
      columns: text.columns,
      sorts: { 0: "name", 1: "language", 2: "category", 3: "status", 4: "updated_at" },
      cells: [
        nameCell,
        (one) => () => one().language,
        (one) => () => categoryName(one().category),
        (one) => () => state(one()),
        (one) => () => time(one().updated_at),
      ],
    }),
  ]);
}

/** @param {() => any} one */
const nameCell = (one) => el("span.who-text", null,
  el("a", { href: link("templates/" + one().id) }, () => one().name),
  el("small.clip", { dir: "auto" }, () => one().content));

/** @param {string} id */
function oneTemplate(id) {
  const one = resource("templates/" + id, ["template"]);
  const editing = computed(() => isAdmin && query().has("edit"));
  return {
    title: () => one.data()?.name ?? text.title,
    body: el("div.page", null, loaded(one, (data) =>
      when(editing, () => builder(data()), () => templatePage(one)), 4, "h1")),
  };
}

/** @param {import("../parts/states.js").Resource<any>} one */
function templatePage(one) {
  const data = computed(() => one.data());
  const isPending = () => data().status === "pending";
  const destroy = () => confirmAction({
    title: text.removeTitle(data().name),
    body: text.removeBody,
    action: text.remove,
    send: () => remove("templates/" + data().id),
    done: text.removed,
    finish: () => navigate("templates", { replace: true }),
  });

  const actions = isAdmin && [
    when(
      () => data().status === "approved",
      () => button(text.broadcast, { run: () => navigate(`broadcasts/new?template=${data().id}`) }),
    ),
    when(() => !isPending(), () => el("a.button", { href: link(`templates/${data().id}?edit=1`) }, text.edit)),
    button(text.remove, { look: "destructive", run: destroy }),
  ];
  return [
    heading(() => data().name, {
      crumb: el("a", { href: link("templates") }, text.title),
      beside: [() => state(data()), copyable(data().id, { name: text.id })],
      actions,
    }),
    el("div.split", null,
      el("div", null, () => verdict(data()), () => facts(data()), () => variableTable(data())),
      templatePreview(data)),
  ];
}

/** @param {any} template */
function verdict({ status, rejected_reason: reason }) {
  if (status === "pending") return el("p.notice", null, text.pending, isAdmin && " " + text.pendingEdit);
  if (status !== "rejected") return null;
  const { why, help } = reasonText[/** @type {"SCAM"} */ (reason)] ?? unknownReason;
  return el("div.problem", null,
    el("p", null, why, reason && el("span.mono", null, ` ${reason}`)),
    el("p", null, text.helps, help),
  );
}

/** @param {any} template */
function facts({ language, category, category_change: change, updated_at: updated, provider_template_id: theirs, chat_account: account }) {
  return el("dl.facts", null,
    fact(text.facts.language, language),
    fact(text.facts.category, [
      categoryName(category),
      change && [text.changesTo(categoryName(change.to)), date(change.at, text.soon)],
    ]),
    fact(text.facts.number, account?.phone_number ?? "—"),
    fact(text.facts.updated, time(updated)),
    fact(text.facts.provider, theirs ? copyable(theirs, { name: text.providerID }) : "—"),
  );
}

/** @param {any} template */
function variableTable({ components }) {
  const rows = ["HEADER", "BODY"].flatMap((kind) => {
    const part = partOf(components, kind);
    return variablesOf(part?.text).map((name) => ({ key: kind + name, name: `{{${name}}}`, example: samplesOf(part)[name] ?? "—" }));
  });
  return rows.length > 0 && section(text.variables, { lead: text.variablesLead }, table({
    caption: text.variables,
    rows: () => rows,
    key: (one) => one.key,
    columns: text.variable,
    cells: [(one) => el("span.mono", null, one().name), (one) => el("span", { dir: "auto" }, one().example)],
  }));
}
