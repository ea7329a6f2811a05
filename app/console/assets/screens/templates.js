/** Templates: what may be written first, as people will see it, and the verdict of the provider. */
import { computed, el, when } from "../dom.js";
import { get, post, remove } from "../api.js";
import { time } from "../format.js";
import { announce } from "../live.js";
import { button, copyable, heading, section } from "../parts/basics.js";
import { confirmAction } from "../parts/dialog.js";
import { everyRow, filter, ofNumber, stateChip } from "../parts/lists.js";
import { empty, loaded, resource } from "../parts/states.js";
import { fact, table } from "../parts/table.js";
import { samplesOf, templatePreview, partOf, variablesOf } from "../parts/template_preview.js";
import { toast, toastError } from "../parts/notices.js";
import { link, navigate, query } from "../router.js";
import { isAdmin, number } from "../session.js";
import { builder } from "./templates/builder.js";

const text = {
  title: "Templates",
  lead: "What you may write to people first, or after 24 hours of silence. The provider reviews each one.",
  newOne: "New template",
  sync: "Sync",
  synced: (/** @type {number} */ created, /** @type {number} */ updated, /** @type {number} */ deleted) => `Synced: ${created} new, ${updated} changed, ${deleted} gone`,
  columns: [
    { name: "Name", sort: "name" },
    { name: "Language", sort: "language" },
    { name: "Category", sort: "category" },
    { name: "Status", sort: "status" },
    { name: "Changed", sort: "updated_at" },
  ],
  filters: { status: "Status", language: "Language", category: "Category" },
  statuses: ["approved", "pending", "rejected"],
  categories: ["MARKETING", "UTILITY", "AUTHENTICATION"],
  emptyTitle: "No templates yet",
  emptyBody: "Make the first one, or sync those that your account has at the provider already.",
  none: "No template is like this.",
  most: "Only the first 200 are shown: the filters find the others.",
  unknown: "unknown",
  id: "template id",
  providerID: "id at the provider",
  facts: { language: "Language", category: "Category", updated: "Changed", provider: "At the provider", number: "Number" },
  variables: "Variables",
  variablesLead: "A send fills these in.",
  variable: ["Variable", "Example"],
  edit: "Edit",
  broadcast: "New broadcast",
  remove: "Delete",
  removed: "Template deleted",
  removeTitle: (/** @type {string} */ name) => `Delete “${name}”?`,
  removeBody: "It is deleted at the provider as well. Sends of it fail from now on, and an approved name stays blocked for up to 30 days.",
  pending: "The provider reviews it. That takes minutes, at most a day; the verdict shows here by itself.",
  pendingEdit: "It can be edited again after the review.",
  helps: "What usually helps: ",
};

/** Why the provider refuses or stops a template, and what usually helps. */
const reasonText = {
  ABUSIVE_CONTENT: ["It was read as abusive.", "take out threats and pressure, and say plainly who writes and why."],
  INCORRECT_CATEGORY: [
    "Its category does not fit what it says.",
    "offers and news are MARKETING; what somebody waits for, as a receipt, is UTILITY.",
  ],
  INVALID_FORMAT: [
    "Something in its form is wrong.",
    "number variables from 1, put words around each, give examples that look real, and link to your own domain.",
  ],
  PROMOTIONAL: ["It advertises, and its category does not allow that.", "make it MARKETING, or take the offer out."],
  SCAM: ["It looked like fraud.", "name your business, link to your own domain, and never ask for codes, passwords or cards."],
  TAG_CONTENT_MISMATCH: [
    "The text does not fit its language or category.",
    "write all of it, the examples too, in the language that you chose.",
  ],
  CATEGORY_NOT_AVAILABLE: ["Your account may not use this category yet.", "verify the business at the provider, or choose another category."],
  FIRST_PAUSE: ["People blocked or reported it: it is paused for 3 hours.", "send it to fewer people, and only to those who expect it."],
  SECOND_PAUSE: ["People blocked or reported it again: it is paused for 6 hours.", "change the text before it is disabled for good."],
  RATE_LIMITING_PAUSE: ["Too much of it was sent to people who do not answer.", "send it to fewer people, and only to those who expect it."],
  DISABLED: ["The provider has disabled it for good.", "make a new one with another name and another text."],
};
const unknownReason = ["The provider does not accept it.", "read it as a stranger would, make it plainer, and submit it again."];

/** @type {import("../router.js").Build} */
export default function templates({ params }) {
  if (params.id === "new") return { title: text.newOne, body: el("div.page", null, builder()) };
  return params.id ? oneTemplate(params.id) : allTemplates();
}

/** @param {any} one */
function state(one) {
  const own = one.provider_status?.toLowerCase();
  return [stateChip(one.status), own && own !== one.status && el("small.quiet", null, " " + own.replaceAll("_", " "))];
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
  const options = (/** @type {string[]} */ all) => all.map((value) => ({ value, label: value.toLowerCase() }));
  const languages = computed(() => [...new Set(rows().map((one) => one.language))].sort());
  const shown = computed(() => rows().filter((one) =>
    ["status", "language", "category"].every((name) => !query().get(name) || one[name] === query().get(name))));

  return when(() => rows().length === 0, () => empty({ icon: "templates", title: text.emptyTitle, body: text.emptyBody }), () => [
    el("div.filters", null,
      filter(text.filters.status, "status", () => options(text.statuses)),
      filter(text.filters.language, "language", languages),
      filter(text.filters.category, "category", () => options(text.categories)),
    ),
    when(() => shown().length === 0, () => el("p.none", null, text.none)),
    when(() => shown().length > 200, () => el("p.none", null, text.most)),
    table({
      caption: text.title,
      rows: () => shown().slice(0, 200),
      columns: text.columns,
      cells: [
        nameCell,
        (one) => () => one().language,
        (one) => () => (one().category ?? text.unknown).toLowerCase(),
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
  const [why, help] = reasonText[/** @type {"SCAM"} */ (reason)] ?? unknownReason;
  return el("div.problem", null,
    el("p", null, why, reason && el("span.mono", null, ` ${reason}`)),
    el("p", null, text.helps, help),
  );
}

/** @param {any} template */
function facts({ language, category, updated_at: updated, provider_template_id: theirs, chat_account: account }) {
  return el("dl.facts", null,
    fact(text.facts.language, language),
    fact(text.facts.category, (category ?? text.unknown).toLowerCase()),
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
