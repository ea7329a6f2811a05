/** Contacts: everybody who wrote, to find, label, bring in and take out. */
import { computed, el, list, signal, when } from "../dom.js";
import { addressOf, post } from "../api.js";
import { plainNumber, time } from "../format.js";
import { announce } from "../live.js";
import { button, dot, face, heading } from "../parts/basics.js";
import { formDialog } from "../parts/form.js";
import { allLabels, filter, ofNumber, paged, searchbox } from "../parts/lists.js";
import { menu } from "../parts/menu.js";
import { empty, loaded } from "../parts/states.js";
import { table } from "../parts/table.js";
import { toast, toastError } from "../parts/notices.js";
import { link, navigate, onQuery, query } from "../router.js";
import { isAdmin, number } from "../session.js";
import { nameOf, oneContact } from "./contacts/contact.js";
import { importDialog } from "./contacts/import.js";
import { contacts as text } from "texts/contacts.js";

/** @type {import("../router.js").Build} */
export default function contacts({ params }) {
  if (params.id) return oneContact(params.id);
  onQuery("new", newContact);
  const actions = [
    isAdmin && button(text.import, { icon: "upload", run: openImport }),
    isAdmin && button(text.export, { icon: "download", run: download }),
    button(text.newOne, { icon: "plus", look: "primary", run: newContact }),
  ];
  return {
    title: text.title,
    body: el("div.page", null, heading(text.title, { lead: text.lead, actions }), ofNumber(contactList)),
  };
}

const wanted = () => ({ search: query().get("search"), label_id: query().get("label") });

async function openImport() {
  await importDialog(number()?.phone_number_id ?? "");
  announce("contact");
}

/** download saves all that the filters leave. */
function download() {
  el("a", { href: addressOf(`v1/${number()?.phone_number_id}/contacts.csv`, wanted()), download: "contacts.csv" }).click();
}

/** newContact asks for somebody, and opens it. */
const newContact = () => formDialog(text.newOne, {
  fields: [
    { name: "phone_number", ...text.phone, type: "tel", required: true, props: { maxlength: 30 } },
    { name: "name", label: text.name, optional: true, props: { maxlength: 200, dir: "auto", autocomplete: "off" } },
    { name: "email", label: text.email, type: "email", optional: true, props: { maxlength: 255, autocomplete: "off" } },
  ],
  submit: text.create,
  send: ({ phone_number, ...more }, once) =>
    post(`v1/${number()?.phone_number_id}/contacts`, { phone_number: plainNumber(phone_number), ...more }, once),
  done: (made) => navigate("contacts/" + made.id),
});

/** @param {string} id of the number */
function contactList(id) {
  const all = paged(`v1/${id}/contacts`, { filters: wanted, kinds: ["contact"] });
  const labels = allLabels();
  const chosen = signal(/** @type {Set<string>} */ (new Set()));
  const toggle = (/** @type {string} */ one, /** @type {boolean} */ on) => {
    const next = new Set(chosen());
    if (on) next.add(one);
    else next.delete(one);
    chosen.set(next);
  };
  const apply = async (/** @type {string} */ operation, /** @type {string} */ label_id) => {
    try {
      const { applied, unchanged } = await post(`v1/${id}/contacts/bulk_label`, { contact_ids: [...chosen()], label_id, operation });
      toast(unchanged ? text.labelledSome(applied - unchanged, unchanged) : text.labelled(applied));
      chosen.set(new Set());
      announce("contact");
    } catch (error) {
      toastError(error);
    }
  };
  const labelButton = (/** @type {string} */ name, /** @type {string} */ operation) => {
    const opener = button(name, { icon: "label" });
    menu(opener, name, () => labels().map((one) => ({ name: one.name, run: () => apply(operation, one.id) })));
    return opener;
  };

  const narrowed = () => Object.values(wanted()).some(Boolean);
  return [
    el("div.filters", null,
      searchbox(text.search),
      filter(text.label, "label", () => labels().map((one) => ({ value: one.id, label: one.name }))),
    ),
    loaded(all, (rows) => when(() => rows().length === 0, () => (narrowed()
      ? el("p.none", null, text.none)
      : empty({ icon: "contacts", title: text.emptyTitle, body: text.emptyBody })), () => [
      when(() => chosen().size > 0, () => el("div.bulk", { role: "status" },
        el("b", null, () => text.selected(chosen().size)),
        button(text.selectAll, { run: () => chosen.set(new Set(rows().map((one) => one.id))) }),
        labelButton(text.attach, "attach"),
        labelButton(text.detach, "detach"),
        button(text.clear, { look: "bare", run: () => chosen.set(new Set()) }))),
      contactTable(rows, chosen, toggle),
      all.end,
    ])),
  ];
}

/**
 * @param {() => any[]} rows
 * @param {() => Set<string>} chosen
 * @param {(id: string, on: boolean) => void} toggle
 */
function contactTable(rows, chosen, toggle) {
  return table({
    caption: text.title,
    rows,
    columns: text.columns,
    kinds: { 0: "picks", 1: "about" },
    cells: [
      (one) => el("input.pick", {
        type: "checkbox",
        "aria-label": () => text.select(nameOf(one())),
        checked: () => chosen().has(one().id),
        onchange: (/** @type {any} */ event) => toggle(one().id, event.target.checked),
      }),
      personCell,
      (one) => labelDots(() => one().labels),
      (one) => el("span", { dir: "auto" }, () => one().email ?? ""),
      (one) => () => time(one().created_at),
    ],
  });
}

/** @param {() => any} one */
function personCell(one) {
  const more = computed(() => (one().name ? one().phone_number ?? one().username ?? "" : ""));
  return el("span.who", null, () => face(nameOf(one())),
    el("span.who-text", null,
      el("a.who-name", { href: link("contacts/" + one().id), dir: "auto" }, () => nameOf(one())),
      el("small", null, more)));
}

/** @param {() => any[]} labels */
const labelDots = (labels) => el("span.labels", null, list(labels, (one) => one.id, (one) =>
  el("span.labelled", { dir: "auto" }, () => dot(one().color), () => one().name)));
