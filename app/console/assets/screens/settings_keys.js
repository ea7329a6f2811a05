/** API keys: what programs sign in with. */
import { el, signal, when } from "../dom.js";
import { APIError, post, remove } from "../api.js";
import { date, listOf, now, time } from "../format.js";
import { button, chip, copyable, heading, wordOf } from "../parts/basics.js";
import { confirmAction } from "../parts/dialog.js";
import { formDialog, options } from "../parts/form.js";
import { follow, paged, pagedList } from "../parts/lists.js";
import { table } from "../parts/table.js";
import { link, onQuery } from "../router.js";
import { numberName, numbers, publicAPI } from "../session.js";
import { nameOf } from "./numbers.js";
import { settingsPage } from "./settings.js";
import { keys as text } from "texts/settings.js";

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
    kinds: { 6: "end" },
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
      (one) => () => chip(wordOf(one().status), one().status === "active" ? "good" : one().status === "revoked" ? "bad" : "warn"),
      (one) => when(() => one().status === "active", () => button(text.revoke, { run: () => revoke(one()) })),
    ],
  });
}

/** accessOf says what a key may do. @param {any} key */
function accessOf({ scopes }) {
  const whole = scopes.length === 1 && text.accesses[/** @type {"all"} */ (scopes[0] === "*" ? "all" : scopes[0])];
  return whole || listOf(options(text.scope).filter((one) => scopes.includes(one.value)).map((one) => one.label));
}

// shownNumbers is how many numbers of a key are shown by their names.
const shownNumbers = 3;

/** numbersOf says which numbers a key has. @param {any} key */
function numbersOf({ phone_number_ids: ids }) {
  if (!ids) return text.allNumbers;
  if (ids.length === 0) return text.noNumbers;
  const names = ids.slice(0, shownNumbers).map(numberName);
  if (ids.length > shownNumbers) names.push(text.more(ids.length - shownNumbers));
  return el("span", { dir: "auto" }, listOf(names));
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
  const known = numbers().filter((one) => one.phone_number_id).map((one) => ({ value: one.phone_number_id, label: nameOf(one) }));
  const expiries = [{ value: "", label: text.expiry.none }, ...options(text.expiry.hours)];
  return [
    { name: "label", ...text.label, optional: true, props: { maxlength: 200, autocomplete: "off" } },
    { name: "expires_in_hours", label: text.expires, type: "select", options: expiries },
    {
      name: "access",
      label: text.access,
      type: "radios",
      role: "radiogroup",
      value: "all",
      options: options(text.accesses),
      props: { onchange: choose },
    },
    { name: "scopes", label: text.scopes, type: "checks", options: options(text.scope), isShown: () => access() === "some" },
    ...(known.length > 0 ? [{ name: "phone_number_ids", ...text.numbers, type: "checks", options: known }] : []),
  ];
}
