/** API keys: what programs sign in with. */
import { el, signal, when } from "../dom.js";
import { APIError, post, remove } from "../api.js";
import { date, now, time } from "../format.js";
import { button, chip, copyable, heading } from "../parts/basics.js";
import { confirmAction } from "../parts/dialog.js";
import { formDialog } from "../parts/form.js";
import { follow, paged, pagedList } from "../parts/lists.js";
import { table } from "../parts/table.js";
import { link, onQuery } from "../router.js";
import { numbers, publicAPI } from "../session.js";
import { nameOf } from "./numbers.js";
import { settingsPage } from "./settings.js";

const text = {
  title: "API keys",
  lead: "Your programs use API keys to sign in. Create one for each program, with only the access it needs.",
  newKey: "New key",
  columns: ["Label", "Key", "Access", "Last used", "Expires", "Status", { name: "Revoke", kind: "end", unseen: true }],
  unnamed: "No label",
  never: "never",
  bot: (/** @type {string} */ name) => `Bot: ${name}`,
  allNumbers: "All numbers",
  noNumbers: "Numbers removed",
  more: (/** @type {number} */ count) => `and ${count} more`,
  revoke: "Revoke",
  revoked: "Key revoked",
  revokeTitle: (/** @type {string} */ label) => `Revoke “${label}”?`,
  revokeNameless: "Revoke this key?",
  revokeBody: (/** @type {string} */ last4) =>
    `Programs using the key ending in ${last4} stop working at once. You can’t restore a revoked key.`,
  emptyTitle: "No keys yet",
  emptyBody: "Create a key to make your first API call.",
  fields: [
    {
      name: "label",
      label: "Label",
      hint: "The program that uses it, such as “shop” or “nightly export”.",
      optional: true,
      props: { maxlength: 200, autocomplete: "off" },
    },
    {
      name: "expires_in_hours",
      label: "Expires",
      type: "select",
      options: [
        { value: "", label: "Never" },
        { value: "720", label: "In 30 days" },
        { value: "2160", label: "In 90 days" },
        { value: "8760", label: "In a year" },
      ],
    },
  ],
  access: {
    name: "access",
    label: "Access",
    type: "radios",
    role: "radiogroup",
    value: "all",
    options: [
      { value: "all", label: "Everything" },
      { value: "read", label: "Read only" },
      { value: "some", label: "Choose" },
    ],
  },
  scopes: {
    name: "scopes",
    label: "Scopes",
    type: "checks",
    options: [
      { value: "read", label: "Read", hint: "Messages, contacts and everything else, including live events." },
      { value: "send", label: "Send", hint: "Messages, read receipts and files." },
      { value: "inbox", label: "Inbox", hint: "Change conversations, contacts, labels and quick replies." },
      { value: "campaigns", label: "Campaigns", hint: "Change templates and broadcasts." },
      { value: "webhooks", label: "Webhooks", hint: "Change webhooks. A webhook receives everything, so this is as wide as Read." },
      { value: "platform", label: "Platform", hint: "Change customers, setup links and numbers." },
    ],
  },
  noneChosen: "Choose at least one.",
  numbers: { name: "phone_number_ids", label: "Numbers", type: "checks", hint: "Leave empty for all numbers, including future ones." },
  create: "Create key",
  once: "Copy it now. You won’t see it again.",
  tryIt: "Try it",
  keyName: "key",
  curlName: "command",
};

/** @type {import("../router.js").Build} */
export default function keys() {
  const all = paged("keys", { kinds: ["key"] });
  onQuery("new", make);
  follow(now, all.reload); // no hint comes when a key was used

  async function make() {
    await newKeyDialog();
    all.reload();
  }
  const revoke = (/** @type {any} */ key) => confirmAction({
    title: key.label ? text.revokeTitle(key.label) : text.revokeNameless,
    body: text.revokeBody(key.last4),
    action: text.revoke,
    send: () => remove("keys/" + key.id),
    done: text.revoked,
    finish: all.reload,
  });

  const newButton = () => button(text.newKey, { icon: "plus", look: "primary", run: make });
  const body = settingsPage(
    heading(text.title, { lead: text.lead, actions: newButton() }),
    pagedList(all, (rows) => keyTable(rows, revoke), () => ({ icon: "key", title: text.emptyTitle, body: text.emptyBody })));
  return { title: text.title, body };
}

/**
 * @param {() => any[]} rows
 * @param {(key: any) => void} revoke
 */
function keyTable(rows, revoke) {
  return table({
    caption: text.title,
    rows,
    columns: text.columns,
    cells: [
      (one) => [
        el("span", { dir: "auto", class: one().label ? null : "quiet" }, one().label ?? text.unnamed),
        one().agent && el("div.quiet", { dir: "auto" }, text.bot(one().agent)),
      ],
      (one) => el("span.mono", null, "…" + one().last4),
      (one) => [el("span", null, accessOf(one())), el("div.quiet", null, () => numbersOf(one()))],
      (one) => () => (one().last_used_at
        ? el("a", { href: link("log?api_key_id=" + one().id) }, time(one().last_used_at))
        : text.never),
      (one) => () => date(one().expires_at, text.never),
      (one) => () => chip(one().status, one().status === "active" ? "good" : one().status === "revoked" ? "bad" : "warn"),
      (one) => when(() => one().status === "active", () => button(text.revoke, { run: () => revoke(one()) })),
    ],
  });
}

/** accessOf says what a key may do. @param {any} key */
function accessOf({ scopes }) {
  const whole = scopes.length === 1 && text.access.options.find((one) => one.value === (scopes[0] === "*" ? "all" : scopes[0]));
  if (whole) return whole.label;
  return text.scopes.options.filter((one) => scopes.includes(one.value)).map((one) => one.label).join(", ");
}

// shownNumbers is how many numbers of a key are shown by their names.
const shownNumbers = 3;

/** numbersOf says which numbers a key has. @param {any} key */
function numbersOf({ phone_number_ids: ids }) {
  if (!ids) return text.allNumbers;
  if (ids.length === 0) return text.noNumbers;
  const names = ids.slice(0, shownNumbers).map((/** @type {string} */ id) => {
    const found = numbers().find((one) => one.phone_number_id === id);
    return found ? nameOf(found) : id;
  });
  if (ids.length > shownNumbers) names.push(text.more(ids.length - shownNumbers));
  return el("span", { dir: "auto" }, names.join(", "));
}

/** newKeyDialog asks for a label, a lifetime and what the key may do, and then shows the key, once. */
const newKeyDialog = () => formDialog(text.newKey, {
  fields: newKeyFields(),
  submit: text.create,
  send: ({ label, expires_in_hours: hours, access, scopes, phone_number_ids: ids }, once) => {
    if (access === "some" && !scopes) throw new APIError(text.noneChosen, { param: "scopes" });
    return post("keys", {
      label,
      expires_in_hours: hours && Number(hours),
      scopes: access === "some" ? scopes.split(",") : access === "read" ? ["read"] : undefined,
      phone_number_ids: ids?.split(","),
    }, once);
  },
  shows: ({ key }) => [
    el("p.notice", null, text.once),
    copyable(key, { name: text.keyName, block: true }),
    el("h3", null, text.tryIt),
    copyable(`curl -H "Authorization: Bearer ${key}" ${new URL("me", publicAPI).href}`, { name: text.curlName, block: true }),
  ],
});

/** newKeyFields are the fields of a new key. What may be chosen is shown when it is. */
function newKeyFields() {
  const access = signal("all");
  const choose = (/** @type {any} */ { target }) => access.set(target.value);
  const options = numbers().filter((one) => one.phone_number_id).map((one) => ({ value: one.phone_number_id, label: nameOf(one) }));
  return [
    ...text.fields,
    { ...text.access, props: { onchange: choose } },
    { ...text.scopes, isShown: () => access() === "some" },
    ...(options.length > 0 ? [{ ...text.numbers, options }] : []),
  ];
}
