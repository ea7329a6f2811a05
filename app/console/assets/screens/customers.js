/** Customers: businesses whose numbers you run, and the links by which they connect them. */
import { computed, el, when } from "../dom.js";
import { get, newKey, patch, post, remove } from "../api.js";
import { date, time } from "../format.js";
import { announce } from "../live.js";
import { button, copyable, heading, section } from "../parts/basics.js";
import { confirmDeed, dialog, shown } from "../parts/dialog.js";
import { form } from "../parts/form.js";
import { filter, paged, pagedList, searchbox, stateChip } from "../parts/lists.js";
import { loaded, resource } from "../parts/states.js";
import { table } from "../parts/table.js";
import { toast, toastError } from "../parts/notices.js";
import { link, navigate, onQuery, query } from "../router.js";
import { readTeams, teamFields } from "./settings.js";

const text = {
  title: "Customers",
  lead: "Businesses whose numbers you run. Each connects its own by a link that you send.",
  newOne: "New customer",
  search: "Search customers",
  status: "Status",
  statuses: ["pending", "active", "suspended", "archived", "all"],
  notArchived: "Not archived",
  columns: { name: "Name", status: "Status", email: "Email", since: "Since" },
  emptyTitle: "No customers yet",
  emptyBody: "Make one, send it a setup link, and its number is yours to write from.",
  none: "No customer is like this.",
  create: "Save",
  id: "customer id",
  fields: { name: "Name", email: "Email" },
  save: "Save",
  saved: "Saved",
  numbers: "Numbers",
  noNumbers: "None is connected yet. Send a setup link.",
  number: { number: "Number", name: "Name", status: "Status", since: "Connected" },
  disconnect: "Disconnect",
  disconnected: "Disconnected",
  disconnectTitle: (/** @type {string} */ name) => `Disconnect ${name}?`,
  disconnectBody: "Nothing can be sent from it any more, and its messages, contacts and files are deleted for good.",
  links: "Setup links",
  linksLead: "Who opens one connects a number with this customer. A link works once and is shown once.",
  newLink: "New link",
  editLink: "Edit link",
  edit: "Edit",
  linkColumns: { id: "Link", state: "State", made: "Made", until: "Until" },
  noLinks: "No link was made yet.",
  hours: "Good for",
  lifetimes: [
    { value: "24", label: "A day" },
    { value: "168", label: "A week" },
    { value: "720", label: "30 days" },
  ],
  leads: { success: "Then lead to", failure: "If it fails, lead to" },
  successHint: "Where the customer lands when it is done: a page of yours.",
  createLink: "Create link",
  once: "Copy it now: it is not shown again.",
  linkName: "link",
  open: "See the page as your customer does",
  revoke: "Revoke",
  revoked: "Link revoked",
  revokeTitle: "Revoke this link?",
  revokeBody: "Who opens it from now on is told that it has ended.",
  state: "Life cycle",
  suspend: "Suspend",
  resume: "Resume",
  archive: "Archive",
  restore: "Restore",
  lives: {
    pending: "Has connected no number yet.",
    active: "Its numbers send and receive. Suspended, they only receive.",
    suspended: "Sends from its numbers are refused until it is resumed.",
    archived: "It is out of sight and nothing can be sent. Restored, it is what it was before.",
  },
  archiveTitle: (/** @type {string} */ name) => `Archive ${name}?`,
  archiveBody: "Sends from its numbers are refused and its links end. Nothing is deleted, and it can be restored.",
};

/** @type {import("../router.js").Build} */
export default function customers({ params }) {
  return params.id ? oneCustomer(params.id) : allCustomers();
}

function allCustomers() {
  const filters = () => ({ search: query().get("search"), status: query().get("status") });
  const all = paged("v1/customers", { filters, kinds: ["customer", "account"] });
  onQuery("new", make);
  const narrowed = () => Object.values(filters()).some(Boolean);
  const body = el("div.page", null,
    heading(text.title, { lead: text.lead, actions: button(text.newOne, { icon: "plus", look: "primary", run: make }) }),
    when(() => all.data()?.length || narrowed(), () => el("div.filters", null, searchbox(text.search),
      filter(text.status, "status", () => text.statuses, text.notArchived))),
    pagedList(all, (rows) => table({
      caption: text.title,
      rows,
      key: (one) => one.id,
      columns: [
        {
          name: text.columns.name,
          kind: "about",
          cell: (one) => el("a", { href: link("customers/" + one().id), dir: "auto" }, () => one().name),
        },
        { name: text.columns.status, cell: (one) => () => stateChip(one().status) },
        { name: text.columns.email, cell: (one) => el("span", { dir: "auto" }, () => one().email ?? "—") },
        { name: text.columns.since, cell: (one) => () => date(one().created_at) },
      ],
    }), () => (narrowed() ? text.none : { icon: "customers", title: text.emptyTitle, body: text.emptyBody })));
  return { title: text.title, body };
}

/** make asks for a new customer, and opens it. */
async function make() {
  const idempotencyKey = newKey();
  const teams = await readTeams().catch(() => []);
  dialog(text.newOne, (close) => form({
    fields: [
      { name: "name", label: text.fields.name, required: true, props: { maxlength: 200, dir: "auto", autocomplete: "off" } },
      { name: "email", label: text.fields.email, type: "email", optional: true, props: { maxlength: 255, autocomplete: "off" } },
      ...teamFields(teams),
    ],
    submit: text.create,
    send: ({ name, email, team_id }) => post("v1/customers", { name, email: email || undefined, team_id }, { idempotencyKey }),
    done(made) {
      close();
      navigate("customers/" + made.id);
    },
    cancel: close,
  }));
}

/** @param {string} id */
function oneCustomer(id) {
  const one = resource((signal) => get("v1/customers/" + id, { signal }), ["customer", "account"]);
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
  const { id, name, email } = data();
  return [
    heading(() => data().name, {
      crumb: el("a", { href: link("customers") }, text.title),
      beside: [() => stateChip(data().status), copyable(id, { name: text.id })],
    }),
    form({
      fields: [
        { name: "name", label: text.fields.name, value: name, required: true, props: { maxlength: 200, dir: "auto" } },
        { name: "email", label: text.fields.email, type: "email", value: email ?? "", props: { maxlength: 255 } },
      ],
      submit: text.save,
      send: (values) => patch(path, { name: values.name, email: values.email || null }),
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
  const disconnect = (/** @type {any} */ number) => confirmDeed({
    title: text.disconnectTitle(nameOf(number)),
    body: el("p", null, text.disconnectBody),
    deed: text.disconnect,
    word: nameOf(number),
    send: async () => {
      await remove(`${path}/whatsapp_accounts/${number.phone_number_id}`);
      toast(text.disconnected);
      announce("account");
    },
  });
  return section(text.numbers, {}, when(() => rows().length === 0, () => el("p.none", null, text.noNumbers), () => table({
    caption: text.numbers,
    rows,
    key: (number) => number.phone_number_id ?? number.onboarded_at,
    columns: [
      {
        name: text.number.number,
        kind: "about",
        cell: (number) => el("a", { href: link("numbers/" + number().phone_number_id) }, () => nameOf(number())),
      },
      { name: text.number.name, cell: (number) => el("span", { dir: "auto" }, () => number().name ?? "—") },
      { name: text.number.status, cell: (number) => () => stateChip(number().status) },
      { name: text.number.since, cell: (number) => () => time(number().onboarded_at) },
      { name: text.disconnect, kind: "end", unseen: true, cell: (number) => button(text.disconnect, { run: () => disconnect(number()) }) },
    ],
  })));
}

/**
 * @param {string} path
 * @param {() => boolean} isArchived
 */
function linkSection(path, isArchived) {
  const all = paged(path + "/setup_links", { kinds: ["customer", "account"] });
  const revoke = (/** @type {any} */ one) => confirmDeed({
    title: text.revokeTitle,
    body: el("p", null, text.revokeBody),
    deed: text.revoke,
    send: async () => {
      await remove(`${path}/setup_links/${one.id}`);
      toast(text.revoked);
      all.reload();
    },
  });
  const open = (/** @type {any} */ one) => linkDialog(path + "/setup_links", one).then(all.reload);
  const actions = when(() => !isArchived(), () => button(text.newLink, { icon: "plus", run: () => open(null) }));
  return section(text.links, { lead: text.linksLead, actions }, pagedList(all, (rows) => table({
    caption: text.links,
    rows,
    key: (one) => one.id,
    columns: [
      { name: text.linkColumns.id, kind: "about", cell: (one) => el("span.mono", null, "…" + one().token_last4) },
      { name: text.linkColumns.state, cell: (one) => () => stateChip(one().status) },
      { name: text.linkColumns.made, cell: (one) => time(one().created_at) },
      { name: text.linkColumns.until, cell: (one) => time(one().expires_at) },
      {
        name: text.revoke,
        kind: "end",
        unseen: true,
        cell: (one) => when(() => one().status === "active", () => [
          button(text.edit, { run: () => open(one()) }),
          button(text.revoke, { run: () => revoke(one()) }),
        ]),
      },
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
  return dialog(one ? text.editLink : text.newLink, (close) => {
    const place = el("div");
    const idempotencyKey = newKey();
    place.append(form({
      fields: [
        ...(one ? [] : [{ name: "expires_in_hours", label: text.hours, type: "select", options: text.lifetimes, value: "168" }]),
        ...["success", "failure"].map((end) => ({
          name: end + "_redirect_url",
          label: text.leads[/** @type {"success"} */ (end)],
          type: "url",
          optional: true,
          hint: end === "success" && text.successHint,
          value: one?.[end + "_redirect_url"],
        })),
      ],
      submit: one ? text.save : text.createLink,
      send: ({ expires_in_hours: hours, success_redirect_url: success, failure_redirect_url: failure }) => {
        const leads = { success_redirect_url: success || null, failure_redirect_url: failure || null };
        return one
          ? patch(path + "/" + one.id, leads)
          : post(path, { expires_in_hours: Number(hours), ...leads }, { idempotencyKey });
      },
      done: (made) => (one ? close() : place.replaceChildren(shown(close,
        el("p.notice", null, text.once),
        copyable(made.setup_url, { name: text.linkName, block: true }),
        el("p", null, el("a", { href: made.setup_url, target: "_blank", rel: "noopener noreferrer" }, text.open))))),
      cancel: close,
    }));
    return place;
  }, { lasting: true, wide: true });
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
  const archive = () => confirmDeed({
    title: text.archiveTitle(one.data().name),
    body: el("p", null, text.archiveBody),
    deed: text.archive,
    send: async () => {
      await remove(path);
      await one.reload();
    },
  });
  return section(text.state, {
    lead: () => text.lives[/** @type {"active"} */ (status())],
    actions: () => (status() === "archived"
      ? button(text.restore, { run: () => act(post(path.replace("v1/", "") + "/restore")) })
      : [
        status() === "suspended"
          ? button(text.resume, { run: () => act(patch(path, { status: one.data().whatsapp_accounts.length > 0 ? "active" : "pending" })) })
          : button(text.suspend, { run: () => act(patch(path, { status: "suspended" })) }),
        button(text.archive, { look: "harm", run: archive }),
      ]),
  });
}
