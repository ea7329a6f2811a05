/** Who did what that matters for safety or cannot be undone, newest first. */
import { el, signal } from "../../dom.js";
import { get } from "../../api.js";
import { placeOf } from "../../dialogs.js";
import { wordOf } from "../../parts/basics.js";
import { link } from "../../router.js";
import { numbers } from "../../session.js";
import { choice, entry, lines, stamp } from "./lines.js";
import { audit as text, subjects, actions } from "texts/log.js";

/** subjectOf is what an action is about. @param {string} subject */
const subjectOf = (subject) => subjects[/** @type {"user"} */ (subject)] ?? wordOf(subject);

/** actionOf says an action in words. @param {string} action */
function actionOf(action) {
  const [subject, verb = ""] = action.split(".");
  return actions[/** @type {"user.signed_in"} */ (action)] ?? `${subjectOf(subject)} ${wordOf(verb)}`;
}

export function audit() {
  const people = signal(/** @type {any[]} */ ([]));
  const keys = signal(/** @type {any[]} */ ([]));
  // Without them the filter has no names.
  get("people", { query: { limit: 100 } }).then(people.set, () => {});
  get("keys", { query: { limit: 100 } }).then(keys.set, () => {});
  const others = signal(/** @type {{ value: string, label: string }[]} */ ([]));
  for (const [kind, path] of Object.entries({ label: "v1/labels", customer: "v1/customers", webhook: "v1/webhook_subscriptions" })) {
    const offer = (/** @type {any} */ one) => ({ value: one.id, label: text.target(subjectOf(kind), one.name ?? one.url) });
    get(path, { query: { limit: 100 } }).then((all) => others.update((before) => [...before, ...all.map(offer)]), () => {});
  }

  const list = lines({
    path: "audit",
    caption: text.caption,
    filters: ["action", "actor_id", "target_id", "created_after", "created_before"],
    kinds: ["account", "broadcast", "key", "label", "quick_reply", "rule", "template", "user", "view"], // those of what is rarely changed
    none: { icon: "log", title: text.none, body: text.noneBody },
    columns: text.columns,
    places: { 4: "number" },
    cells: [
      (one) => actionOf(one().action),
      (one) => actorOf(one().actor),
      (one) => targetOf(one().target),
      (one) => el("span.mono", null, one().ip ?? "—"),
      (one) => stamp(one().at),
    ],
  });
  const kinds = Object.entries(subjects).map(([word, label]) => ({ value: word + ".", label }));
  const actors = () => [
    ...people().map((one) => ({ value: one.id, label: one.name })),
    ...keys().map((one) => ({ value: one.id, label: text.key(one.label ?? "…" + one.last4) })),
  ];
  const targets = () => [
    ...actors(),
    ...numbers().map((one) => ({ value: one.phone_number_id, label: text.target(subjects.number, one.phone_number ?? one.phone_number_id) })),
    ...others(),
  ];
  return [
    el("div.log-filters", null,
      choice(text.filters.action, "action", () => kinds),
      choice(text.filters.actor, "actor_id", actors),
      entry(text.filters.target, "target_id", { hint: text.targetHint, offers: targets }),
      el("div.log-range", null,
        entry(text.filters.from, "created_after", { type: "datetime-local" }),
        entry(text.filters.to, "created_before", { type: "datetime-local" }))),
    list.body,
  ];
}

/** @param {{ type: string, id: string | null, name: string | null }} actor */
function actorOf({ type, id, name }) {
  const shown = name ?? id ?? text.actors[/** @type {keyof typeof text.actors} */ (type)] ?? type;
  const to = type === "user" && id ? "settings/people/" + id : type === "key" ? "settings/keys" : "";
  return to ? el("a.log-about", { href: link(to), dir: "auto" }, shown) : el("span", { dir: "auto" }, shown);
}

/** targetOf names what an action was done to. @param {{ type: string | null, id: string | null, name: string | null }} one */
function targetOf({ type, id, name }) {
  if (!id || type === "session") return type ? subjectOf(type) : "—";
  const place = placeOf(id);
  const shown = name ?? id;
  return place ? el("a.log-about", { href: link(place.path), title: id, dir: "auto" }, shown) : el("span", { dir: "auto", title: id }, shown);
}
