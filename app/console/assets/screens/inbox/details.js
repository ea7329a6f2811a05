/** The right pane: whose conversation it is, its labels, and who the person is. */
import { computed, el, list, onDispose, signal, when } from "../../dom.js";
import { get, page, patch } from "../../api.js";
import { date, sizeOf } from "../../format.js";
import { button, chip, copyable, dot, face, icon } from "../../parts/basics.js";
import { form } from "../../parts/form.js";
import { follow } from "../../parts/lists.js";
import { hosted } from "../../parts/library.js";
import { toast } from "../../parts/notices.js";
import { resource } from "../../parts/states.js";
import { fact } from "../../parts/table.js";
import { link } from "../../router.js";
import { isAdmin, me } from "../../session.js";
import { summary } from "./content.js";
import { nameOf } from "./conversations.js";
import { openPictures } from "./pictures.js";
import { details as text } from "texts/details.js";

/** @type {Record<string, "good" | "quiet" | "warn">} */
const tones = { open: "good", resolved: "quiet", pending: "warn" };
const delay = 500;

/** details is what stands in the pane: it is read once the thread is drawn. @param {any} at */
export function details(at) {
  const { conversation, number, id } = at;
  const contact = resource(`v1/${number}/contacts/${conversation().contact.id}`, ["contact"]);
  const path = `v1/${number}/conversations/${id}`;
  return [
    button(text.close,
      { icon: "close", look: "bare", iconOnly: true, class: "button bare round close-details", run: () => at.details.set(false) },
    ),
    el("div.person", null,
      () => face(nameOf(conversation()?.contact)),
      el("p.person-name", { dir: "auto" }, () => nameOf(conversation()?.contact)),
      el("p.person-state", null,
        () => conversation() && chip(text.status[/** @type {"open"} */ (conversation().status)], tones[conversation().status]),
      )),
    assignee(at),
    labelPart(at),
    el("section", null, el("h3", null, text.contact), when(contact.data, () => contactPart(contact, number, at.merge, path))),
    later(() => filesPart(at)),
    el("p.detail-links", null,
      el("a", { href: () => link("contacts/" + conversation()?.contact.id) }, text.open),
      () => isAdmin && conversation()?.last_message && el("a", { href: link("trace/" + conversation().last_message.id) }, text.trace)),
  ];
}

/** later builds what only those need who stay. @param {() => import("../../dom.js").Child} build */
function later(build) {
  const stays = signal(false);
  const timer = setTimeout(() => stays.set(true), delay);
  onDispose(() => clearTimeout(timer));
  return when(stays, build);
}

/** @param {any} at */
function assignee({ conversation, change, openAssign }) {
  const assigned = () => conversation()?.assignee;
  const opener = el("button.button.assignee", {
    type: "button",
    id: "assignee",
    role: "combobox",
    "aria-label": text.assignee,
    "aria-haspopup": "dialog",
    "aria-controls": "assign-people",
    "aria-expanded": "false",
    onclick: () => openAssign(opener),
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
      event.preventDefault();
      openAssign(opener);
    },
  },
    () => (assigned() ? face(assigned().name ?? "?") : icon("person")),
    el("span", { dir: "auto" }, () => (assigned() ? assigned().name ?? assigned().email ?? "" : text.unassigned)),
    icon("down"));
  return el("section", null, el("h3", null, text.assignee), opener,
    when(() => assigned()?.id !== me().id,
      () => button(text.assignToMe, { look: "bare", icon: "person", run: () => change({ assigned_to: me().id }) }),
    ));
}

/** @param {any} at */
function labelPart({ conversation, openLabels, toggleLabel }) {
  const attached = () => conversation()?.labels ?? [];
  const add = button(text.addLabel, {
    icon: "plus",
    id: "add-label",
    "aria-haspopup": "true",
    "aria-expanded": "false",
    run: () => openLabels(add),
  });
  return el("section", null, el("h3", null, text.labels),
    el("div.label-chips", null,
      list(attached, (one) => one.id, (one) => el("span.label-chip", null, () => dot(one().color), el(
        "span",
        { dir: "auto" },
        () => one().name,
      ),
        button(() => text.remove(one().name), { icon: "close", look: "bare", iconOnly: true, run: () => toggleLabel(one().id, false) }))),
      add));
}

/**
 * @param {import("../../parts/states.js").Resource<any>} contact
 * @param {string} number
 * @param {(fresh: any) => void} merge
 * @param {string} conversation
 */
function contactPart(contact, number, merge, conversation) {
  const one = () => contact.data();
  const fields = form({
    fields: [
      { name: "name", label: text.name, props: { maxlength: 200, autocomplete: "off", dir: "auto" } },
      { name: "email", label: text.email, type: "email", props: { maxlength: 255, autocomplete: "off" } },
    ],
    follows: one,
    blank: null,
    submit: text.save,
    send: (changed) => patch(`v1/${number}/contacts/${one().id}`, changed),
    done: async (saved) => {
      contact.set(saved);
      toast(text.saved);
      merge(await get(conversation));
    },
  });
  return [
    () => el("dl.facts", null,
      fact(text.phone, one().phone_number),
      fact(text.username, one().username),
      fact(text.since, date(one().created_at)),
      fact(text.consent, one().opted_in ? text.given : text.notGiven),
      fact(text.marketing, one().marketing_opted_out ? text.stopped : text.unknown),
      Object.entries(one().metadata ?? {}).slice(0, 20).map(([name, value]) => fact(
        name,
        typeof value === "string" ? value : JSON.stringify(value),
      ))),
    fields,
    copyable(one().id, { name: text.id }),
  ];
}

/** filesPart lists the newest files, and the broadcasts that this person got. @param {any} at */
function filesPart({ id, number, conversation }) {
  const read = async (/** @type {string} */ type, /** @type {AbortSignal} */ signal, limit = 6) =>
    (await page(`v1/${number}/messages`, { signal, query: { conversation_id: id, type, limit } })).rows;
  const files = resource(async (signal) => {
    const found = await Promise.all(["image", "video", "document"].map((type) => read(type, signal)));
    return found.flat().filter((m) => m.media?.url && !m[m.type]?.link).sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, 9);
  });
  const newest = computed(() => {
    const { id: last, type } = conversation()?.last_message ?? {};
    return ["image", "video", "document"].includes(type) ? last : "";
  });
  follow(newest, () => newest() && files.reload());
  const broadcasts = resource(async (signal) => (await read("template", signal, 50)).filter((m) => m.source === "broadcast").slice(0, 5));
  return [
    el("section", null, el("h3", null, text.files),
      () => (files.data()?.length === 0 ? el("p.none", null, text.noFiles) : null),
      el("ul.shared", null, list(() => files.data() ?? [], (m) => m.id, (m) => {
        const { type, media } = m();
        const name = media.filename ?? summary(m());
        const src = hosted(media.url);
        if (type === "image") {
          const open = { type: "button", "aria-label": text.show(name), "aria-haspopup": "dialog", onclick: () => openPictures(m(), src) };
          return el("li", null, el("button", { ...open, title: name }, el("img", { src, alt: "", loading: "lazy" })));
        }
        return el("li", null, el("a", { href: src, download: name, title: name },
          icon("templates"),
          el("span", { dir: "auto" }, name),
          el("small", null, sizeOf(media.size ?? 0))));
      }))),
    () => (broadcasts.data()?.length ?? 0) > 0 && el("section", null, el("h3", null, text.broadcasts),
      el("ul.earlier", null,
        (broadcasts.data() ?? []).map((m) => el("li", null, el("span", { dir: "auto" }, m.template?.name), date(m.created_at))),
      )),
  ];
}
