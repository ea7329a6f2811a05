/** Who did what that matters for safety or cannot be undone, newest first. */
import { el } from "../../dom.js";
import { placeOf } from "../../dialogs.js";
import { link } from "../../router.js";
import { choice, entry, lines, stamp } from "./lines.js";

const text = {
  caption: "Audit",
  columns: ["What", "Who", "On what", "Address", { name: "When", kind: "number" }],
  filters: { action: "Type", actor: "Who, by id", target: "On what, by id", from: "From", to: "To" },
  none: "Nothing yet",
  noneBody: "Signing in and out, invitations, roles, keys, webhooks, replays, templates, numbers, customers and deletions show up here.",
  actors: { command_line: "command line", system: "the server itself" },
};

/** What actions begin with: what they are about. */
const subjects = [
  "broadcast", "contact", "contacts", "customer", "delivery", "deliveries", "job", "key", "label", "media", "number",
  "quick_reply", "session", "setup_link", "team", "template", "templates", "user", "webhook", "webhook_secret",
];

export function audit() {
  const list = lines({
    path: "audit",
    caption: text.caption,
    filters: ["action", "actor_id", "target_id", "created_after", "created_before"],
    kinds: ["user", "key", "session", "audit"],
    none: { icon: "log", title: text.none, body: text.noneBody },
    columns: text.columns,
    cells: [
      (one) => one().action.replaceAll(/[._]/g, " "),
      (one) => el("span", { dir: "auto" }, whoOf(one().actor)),
      (one) => target(one().target),
      (one) => el("span.mono", null, one().ip ?? "—"),
      (one) => stamp(one().at),
    ],
  });
  const kinds = subjects.map((word) => ({ value: word + ".", label: word.replaceAll("_", " ") }));
  return [
    el("div.log-filters", null,
      choice(text.filters.action, "action", () => kinds),
      entry(text.filters.actor, "actor_id"),
      entry(text.filters.target, "target_id"),
      entry(text.filters.from, "created_after", { type: "datetime-local" }),
      entry(text.filters.to, "created_before", { type: "datetime-local" })),
    list.body,
  ];
}

/** @param {{ type: string, id: string | null, name: string | null }} actor */
const whoOf = ({ type, id, name }) => name ?? id ?? text.actors[/** @type {keyof typeof text.actors} */ (type)] ?? type;

/** @param {{ type: string | null, id: string | null }} one */
function target({ type, id }) {
  if (!id) return type?.replaceAll("_", " ") ?? "—";
  const place = placeOf(id);
  return place ? el("a.mono", { href: link(place.path) }, id) : el("span.mono", null, id);
}
