/** API keys: what programs sign in with. */
import { el, when } from "../dom.js";
import { post, remove } from "../api.js";
import { date, now, time } from "../format.js";
import { button, chip, copyable, heading } from "../parts/basics.js";
import { confirmAction } from "../parts/dialog.js";
import { formDialog } from "../parts/form.js";
import { follow, paged, pagedList } from "../parts/lists.js";
import { table } from "../parts/table.js";
import { link, onQuery } from "../router.js";
import { publicAPI } from "../session.js";
import { settingsPage } from "./settings.js";

const text = {
  title: "API keys",
  lead: "Your programs use API keys to sign in. A key has full access to this organization, so create one for each program.",
  newKey: "New key",
  columns: ["Label", "Key", "Last used", "Expires", "Status", { name: "Revoke", kind: "end", unseen: true }],
  unnamed: "No label",
  never: "never",
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
      (one) => el("span", { dir: "auto", class: one().label ? null : "quiet" }, one().label ?? text.unnamed),
      (one) => el("span.mono", null, "…" + one().last4),
      (one) => () => (one().last_used_at
        ? el("a", { href: link("log?api_key_id=" + one().id) }, time(one().last_used_at))
        : text.never),
      (one) => () => date(one().expires_at, text.never),
      (one) => () => chip(one().status, one().status === "active" ? "good" : one().status === "revoked" ? "bad" : "warn"),
      (one) => when(() => one().status === "active", () => button(text.revoke, { run: () => revoke(one()) })),
    ],
  });
}

/** newKeyDialog asks for a label and a lifetime, and then shows the key, once. */
const newKeyDialog = () => formDialog(text.newKey, {
  fields: text.fields,
  submit: text.create,
  send: ({ label, expires_in_hours: hours }, once) => post("keys", { label, expires_in_hours: hours && Number(hours) }, once),
  shows: ({ key }) => [
    el("p.notice", null, text.once),
    copyable(key, { name: text.keyName, block: true }),
    el("h3", null, text.tryIt),
    copyable(`curl -H "Authorization: Bearer ${key}" ${new URL("me", publicAPI).href}`, { name: text.curlName, block: true }),
  ],
});
