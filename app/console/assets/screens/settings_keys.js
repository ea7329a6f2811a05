/** API keys: what programs sign in with. */
import { el, when } from "../dom.js";
import { newKey, post, remove } from "../api.js";
import { date, now, time } from "../format.js";
import { button, chip, copyable, heading } from "../parts/basics.js";
import { confirmDeed, dialog, shown } from "../parts/dialog.js";
import { form } from "../parts/form.js";
import { follow, paged, pagedList } from "../parts/lists.js";
import { table } from "../parts/table.js";
import { toast } from "../parts/notices.js";
import { link, onQuery } from "../router.js";
import { publicAPI } from "../session.js";
import { settingsPage } from "./settings.js";

const text = {
  title: "API keys",
  lead: "Programs sign in with a key. A key can do everything in this organization, so give each program one of its own.",
  newKey: "New key",
  columns: { label: "Label", key: "Key", used: "Last used", expires: "Expires", status: "Status", revoke: "Revoke" },
  unnamed: "No label",
  never: "never",
  revoke: "Revoke",
  revoked: "Key revoked",
  revokeTitle: (/** @type {string | null} */ label) => (label ? `Revoke “${label}”?` : "Revoke this key?"),
  revokeBody: (/** @type {string} */ last4) =>
    `Programs that use the key ending in ${last4} stop working at once. A revoked key cannot be brought back.`,
  emptyTitle: "No keys yet",
  emptyBody: "Make one, and the first call is a line of curl away.",
  fields: { label: "Label", expires: "Expires" },
  labelHint: "Which program uses it: “shop”, “nightly export”.",
  lifetimes: [
    { value: "", label: "Never" },
    { value: "720", label: "In 30 days" },
    { value: "2160", label: "In 90 days" },
    { value: "8760", label: "In a year" },
  ],
  create: "Create key",
  once: "Copy it now: it is not shown again, and nobody can read it later.",
  tryIt: "Try it",
  keyName: "key",
  curlName: "command",
};

/** @type {import("../router.js").Build} */
export default function keys() {
  const all = paged("keys", { kinds: ["key"] });
  onQuery("new", make);
  follow(now, all.reload); // nobody tells when a key was used

  async function make() {
    await newKeyDialog();
    all.reload();
  }
  const revoke = (/** @type {any} */ key) => confirmDeed({
    title: text.revokeTitle(key.label),
    body: el("p", null, text.revokeBody(key.last4)),
    deed: text.revoke,
    send: async () => {
      await remove("keys/" + key.id);
      all.reload();
      toast(text.revoked);
    },
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
    key: (one) => one.id,
    columns: [
      {
        name: text.columns.label,
        kind: "about",
        cell: (one) => el("span", { dir: "auto", class: one().label ? null : "quiet" }, one().label ?? text.unnamed),
      },
      { name: text.columns.key, cell: (one) => el("span.mono", null, "…" + one().last4) },
      {
        name: text.columns.used,
        cell: (one) => () => (one().last_used_at
          ? el("a", { href: link("log?api_key_id=" + one().id) }, time(one().last_used_at))
          : text.never),
      },
      { name: text.columns.expires, cell: (one) => () => date(one().expires_at, text.never) },
      {
        name: text.columns.status,
        cell: (one) => () => chip(one().status, one().status === "active" ? "good" : one().status === "revoked" ? "bad" : "warn"),
      },
      {
        name: text.columns.revoke,
        kind: "end",
        unseen: true,
        cell: (one) => when(() => one().status === "active", () => button(text.revoke, { run: () => revoke(one()) })),
      },
    ],
  });
}

/** newKeyDialog asks for a label and a lifetime, and then shows the key, once. */
function newKeyDialog() {
  return dialog(text.newKey, (close) => {
    const place = el("div");
    const idempotencyKey = newKey(); // one dialog makes one key, however often it is sent
    place.append(form({
      fields: [
        { name: "label", label: text.fields.label, hint: text.labelHint, optional: true, props: { maxlength: 200, autocomplete: "off" } },
        { name: "expires_in_hours", label: text.fields.expires, type: "select", options: text.lifetimes },
      ],
      submit: text.create,
      send: ({ label, expires_in_hours: hours }) => post(
        "keys",
        { label: label || undefined, expires_in_hours: hours ? Number(hours) : undefined },
        { idempotencyKey },
      ),
      done: (made) => place.replaceChildren(keyShown(made, close)),
      cancel: close,
    }));
    return place;
  }, { lasting: true, wide: true });
}

/**
 * @param {any} made
 * @param {() => void} close
 */
function keyShown(made, close) {
  const command = `curl -H "Authorization: Bearer ${made.key}" ${new URL("me", publicAPI).href}`;
  return shown(close,
    el("p.notice", null, text.once),
    copyable(made.key, { name: text.keyName, block: true }),
    el("h3", null, text.tryIt),
    copyable(command, { name: text.curlName, block: true }));
}
