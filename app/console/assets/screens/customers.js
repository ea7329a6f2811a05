/** Customers: businesses whose numbers you run, and the links by which they connect them. */
import { computed, el, when } from "../dom.js";
import { patch, post, remove } from "../api.js";
import { date, time } from "../format.js";
import { announce } from "../live.js";
import { button, copyable, heading, section, wordOf } from "../parts/basics.js";
import { confirmAction } from "../parts/dialog.js";
import { form, formDialog, options } from "../parts/form.js";
import { away } from "../parts/formatted.js";
import { filter, paged, pagedList, searchbox, stateChip } from "../parts/lists.js";
import { loaded, resource } from "../parts/states.js";
import { table } from "../parts/table.js";
import { toast, toastError } from "../parts/notices.js";
import { link, navigate, onQuery, query } from "../router.js";
import { readTeams, teamFields } from "./settings.js";
import { customers as text } from "texts/customers.js";

const statuses = ["pending", "active", "suspended", "archived", "all"].map((value) => ({ value, label: wordOf(value) }));
const fields = [
  { name: "name", label: text.name, required: true, props: { maxlength: 200, dir: "auto", autocomplete: "off" } },
  { name: "email", label: text.email, type: "email", optional: true, props: { maxlength: 255, autocomplete: "off" } },
];
const leads = [
  { name: "success_redirect_url", ...text.success, type: "url", optional: true },
  { name: "failure_redirect_url", label: text.failure, type: "url", optional: true },
];

/** @type {import("../router.js").Build} */
export default function customers({ params }) {
  return params.id ? oneCustomer(params.id) : allCustomers();
}

function allCustomers() {
  const filters = () => ({ search: query().get("search"), status: query().get("status") });
  const all = paged("v1/customers", { filters, kinds: ["account"] });
  onQuery("new", make);
  const narrowed = () => Object.values(filters()).some(Boolean);
  const body = el("div.page", null,
    heading(text.title, { lead: text.lead, actions: button(text.newOne, { icon: "plus", look: "primary", run: make }) }),
    when(() => all.data()?.length || narrowed(), () => el("div.filters", null, searchbox(text.search),
      filter(text.status, "status", () => statuses, text.notArchived))),
    pagedList(all, (rows) => table({
      caption: text.title,
      rows,
      columns: text.columns,
      cells: [
        (one) => el("a", { href: link("customers/" + one().id), dir: "auto" }, () => one().name),
        (one) => () => stateChip(one().status),
        (one) => el("span", { dir: "auto" }, () => one().email ?? ""),
        (one) => () => date(one().created_at),
      ],
    }), () => (narrowed() ? text.none : { icon: "customers", title: text.emptyTitle, body: text.emptyBody })));
  return { title: text.title, body };
}

/** make asks for a new customer, and opens it. */
async function make() {
  const teams = await readTeams().catch(() => []);
  formDialog(text.newOne, {
    fields: [...fields, ...teamFields(teams)],
    submit: text.create,
    send: (values, once) => post("v1/customers", values, once),
    done: (made) => navigate("customers/" + made.id),
  });
}

/** @param {string} id */
function oneCustomer(id) {
  const one = resource("v1/customers/" + id, ["account"]);
  return {
    title: () => one.data()?.name ?? text.title,
    body: el("div.page", null, loaded(one, () => customerPage(one, "v1/customers/" + id), 4, "h1")),
  };
}

/**
 * @param {import("../parts/states.js").Resource<any>} one
 * @param {string} path
 */
function customerPage(one, path) {
  const data = computed(() => one.data());
  return [
    heading(() => data().name, {
      crumb: el("a", { href: link("customers") }, text.title),
      beside: [() => stateChip(data().status), copyable(data().id, { name: text.id })],
    }),
    form({
      fields,
      follows: data,
      blank: null,
      submit: text.save,
      send: (values) => patch(path, values),
      done() {
        toast(text.saved);
        one.reload();
      },
    }),
    numberSection(one, path),
    linkSection(path, () => data().status === "archived"),
    lifeSection(one, path),
  ];
}

/**
 * @param {import("../parts/states.js").Resource<any>} one
 * @param {string} path
 */
function numberSection(one, path) {
  const rows = () => one.data().whatsapp_accounts;
  const nameOf = (/** @type {any} */ number) => number.phone_number ?? number.phone_number_id;
  const disconnect = (/** @type {any} */ number) => confirmAction({
    title: text.disconnectTitle(nameOf(number)),
    body: text.disconnectBody,
    action: text.disconnect,
    word: nameOf(number),
    send: () => remove(`${path}/whatsapp_accounts/${number.phone_number_id}`),
    done: text.disconnected,
    finish: () => announce("account"),
  });
  return section(text.numbers, {}, when(() => rows().length === 0, () => el("p.none", null, text.noNumbers), () => table({
    caption: text.numbers,
    rows,
    key: (number) => number.phone_number_id ?? number.onboarded_at,
    columns: text.number,
    kinds: { 4: "end" },
    cells: [
      (number) => el("a", { href: link("numbers/" + number().phone_number_id) }, () => nameOf(number())),
      (number) => el("span", { dir: "auto" }, () => number().name ?? ""),
      (number) => () => stateChip(number().status),
      (number) => () => time(number().onboarded_at),
      (number) => button(text.disconnect, { run: () => disconnect(number()) }),
    ],
  })));
}

/**
 * @param {string} path
 * @param {() => boolean} isArchived
 */
function linkSection(path, isArchived) {
  const all = paged(path + "/setup_links", { kinds: ["account"] });
  const revoke = (/** @type {any} */ one) => confirmAction({
    title: text.revokeTitle,
    body: text.revokeBody,
    action: text.revoke,
    send: () => remove(`${path}/setup_links/${one.id}`),
    done: text.revoked,
    finish: all.reload,
  });
  const open = (/** @type {any} */ one) => linkDialog(path + "/setup_links", one).then(all.reload);
  const actions = when(() => !isArchived(), () => button(text.newLink, { icon: "plus", run: () => open(null) }));
  return section(text.links, { lead: text.linksLead, actions }, pagedList(all, (rows) => table({
    caption: text.links,
    rows,
    columns: text.linkColumns,
    kinds: { 4: "end" },
    cells: [
      (one) => el("span.mono", null, "…" + one().token_last4),
      (one) => () => stateChip(one().status),
      (one) => time(one().created_at),
      (one) => time(one().expires_at),
      (one) => when(() => one().status === "active", () => [
        button(text.edit, { run: () => open(one()) }),
        button(text.revoke, { run: () => revoke(one()) }),
      ]),
    ],
  }), () => text.noLinks));
}

/**
 * linkDialog asks how long a new link is good and where it leads, and then shows it, once;
 * or it changes where a link leads.
 * @param {string} path
 * @param {any} one
 */
function linkDialog(path, one) {
  if (one) {
    return formDialog(text.editLink, {
      fields: leads,
      values: one,
      blank: null,
      submit: text.save,
      send: (leads) => patch(path + "/" + one.id, leads),
    }, { wide: true });
  }
  return formDialog(text.newLink, {
    fields: [{ name: "expires_in_hours", label: text.validFor, type: "select", options: options(text.hours) }, ...leads],
    values: { expires_in_hours: "168" },
    submit: text.createLink,
    send: (values, once) => post(path, { ...values, expires_in_hours: Number(values.expires_in_hours) }, once),
    shows: ({ setup_url: url }) => [
      el("p.notice", null, text.once),
      copyable(url, { name: text.linkName, block: true }),
      el("p", null, el("a", { href: url, ...away }, text.open)),
    ],
  });
}

/**
 * @param {import("../parts/states.js").Resource<any>} one
 * @param {string} path
 */
function lifeSection(one, path) {
  const status = () => one.data().status;
  const act = async (/** @type {Promise<any>} */ call) => {
    try {
      await call;
      await one.reload();
    } catch (error) {
      toastError(error);
    }
  };
  const archive = () => confirmAction({
    title: text.archiveTitle(one.data().name),
    body: text.archiveBody,
    action: text.archive,
    send: () => remove(path),
    finish: one.reload,
  });
  return section(text.state, {
    lead: () => text.lives[/** @type {"active"} */ (status())],
    actions: () => (status() === "archived"
      ? button(text.restore, { run: () => act(post(path.replace("v1/", "") + "/restore")) })
      : [
        status() === "suspended"
          ? button(text.resume, { run: () => act(patch(path, { status: one.data().whatsapp_accounts.length > 0 ? "active" : "pending" })) })
          : button(text.suspend, { run: () => act(patch(path, { status: "suspended" })) }),
        button(text.archive, { look: "destructive", run: archive }),
      ]),
  });
}
