/** One contact: what happened with it, its fields, consent, labels and files. */
import { computed, effect, el, list, signal, when } from "../../dom.js";
import { get, page, patch, post, remove } from "../../api.js";
import { date } from "../../format.js";
import { announce } from "../../live.js";
import { button, chip, copyable, dot, heading, icon, section } from "../../parts/basics.js";
import { confirmAction } from "../../parts/dialog.js";
import { form } from "../../parts/form.js";
import { away } from "../../parts/formatted.js";
import { hosted } from "../../parts/library.js";
import { allLabels } from "../../parts/lists.js";
import { loaded, problem, resource } from "../../parts/states.js";
import { fact } from "../../parts/table.js";
import { toast, toastError } from "../../parts/notices.js";
import { link, navigate } from "../../router.js";
import { isAdmin } from "../../session.js";
import { consent, timeline } from "./history.js";
import { contact as text } from "texts/contacts.js";

/**
 * nameOf is what somebody is called: the name, else the number, else another identity.
 * @param {any} one
 * @returns {string}
 */
export const nameOf = (one) => one.name ?? one.phone_number ?? one.username ?? one.bsuid ?? one.id;

const plain = { dir: "auto", autocomplete: "off" };
const fields = [
  { name: "name", label: text.name, props: { maxlength: 200, ...plain } },
  { name: "email", label: text.email, type: "email", props: { maxlength: 255, placeholder: text.addEmail, ...plain } },
  { name: "username", label: text.username, props: { maxlength: 100, placeholder: text.addUsername, ...plain } },
];

/** @param {string} id */
export function oneContact(id) {
  const one = resource("contacts/" + id, ["contact"]);
  return {
    title: () => (one.data() ? nameOf(one.data()) : text.contacts),
    body: el("div.page", null, loaded(one, () => contactPage(one), 4, "h1")),
  };
}

/** @param {import("../../parts/states.js").Resource<any>} one */
function contactPage(one) {
  const data = computed(() => one.data());
  const { id, chat_account: account } = data();
  const path = `v1/${account.phone_number_id}/contacts/${id}`;
  const send = async (/** @type {any} */ changes) => {
    one.set(await patch(path, changes));
    announce("contact", id);
  };
  const done = () => toast(text.saved);
  const save = (/** @type {any} */ changes) => send(changes).then(done);

  const history = resource(`contacts/${id}/history`, ["contact", "conversation", "broadcast"]);
  const record = (/** @type {boolean} */ given) => save({ opted_in: given }).then(history.reload, toastError);
  return [
    heading(() => nameOf(data()), {
      crumb: el("a", { href: link("contacts") }, text.contacts),
      beside: [
        when(() => data().marketing_opted_out, () => chip(text.stopped, "warn")),
        copyable(id, { name: text.id }),
      ],
      actions: conversationLink(account.phone_number_id, id),
    }),
    el("div.split.contact", null,
      el("div", null, timeline(history), mediaSection(account.phone_number_id, id)),
      el("div", null,
        section(text.details, {},
          form({ fields, follows: data, blank: null, submit: text.save, send, done }),
          el("dl.facts", null,
            fact(text.facts.phone, () => data().phone_number ?? "—"),
            fact(text.facts.bsuid, data().bsuid && copyable(data().bsuid, { name: text.bsuid })),
            fact(text.facts.number, account.phone_number ?? "—"),
            fact(text.facts.since, date(data().created_at)))),
        consent(history, record),
        labelSection(one, path),
        metadataSection(data, path, save),
        isAdmin && deleteSection(data, path))),
  ];
}

/**
 * @param {import("../../parts/states.js").Resource<any>} one
 * @param {string} path
 */
function labelSection(one, path) {
  const labels = allLabels();
  // What was clicked counts until it has been read again: an answer that was under way is older.
  const clicked = signal(/** @type {Record<string, boolean>} */ ({}));
  const has = (/** @type {string} */ id) => clicked()[id] ?? one.data().labels.some((/** @type {any} */ label) => label.id === id);
  const toggle = async (/** @type {string} */ id, /** @type {boolean} */ attached) => {
    clicked.update((all) => ({ ...all, [id]: attached }));
    try {
      if (attached) await post(path + "/labels", { label_id: id });
      else await remove(`${path}/labels/${id}`);
      announce("contact", one.data().id);
      await one.reload();
    } catch (error) {
      toastError(error);
    }
    clicked.update(({ [id]: _, ...others }) => others);
  };
  return section(text.labels, {}, el("fieldset.label-boxes", { "aria-label": text.labels },
    list(labels, (label) => label.id, (label) => el("label.choice", null,
      el("input", { type: "checkbox", checked: () => has(label().id), onchange: (/** @type {any} */ event) => toggle(label().id, event.target.checked) }),
      el("span.labelled", { dir: "auto" }, () => dot(label().color), () => label().name))),
    when(() => labels().length === 0, () => el("p.none", null,
      text.noLabels + " ", isAdmin ? el("a", { href: link("settings/labels") }, text.makeLabels) : text.askForLabels))));
}

/**
 * metadataSection edits what programs keep. Non-text values are written as JSON. Programs may
 * change it meanwhile: only what was changed here is changed there.
 * @param {() => any} data
 * @param {string} path
 * @param {(changes: any) => Promise<void>} save
 */
function metadataSection(data, path, save) {
  const rows = signal(/** @type {{ id: string | number, key: string, value: any }[]} */ ([]));
  let filled = "{}";
  const typed = () => JSON.stringify(Object.fromEntries(rows.peek().map(({ key, value }) => [key.trim(), value])));
  const fill = () => {
    const fresh = JSON.stringify(data().metadata ?? {});
    if (fresh === filled || typed() !== filled) return;
    filled = fresh;
    rows.set(Object.entries(JSON.parse(fresh)).map(([key, value]) => ({ id: key, key, value })));
  };
  effect(fill);
  const failure = signal(/** @type {unknown} */ (null));
  const shown = (/** @type {any} */ value) => (typeof value === "string" ? value : JSON.stringify(value));
  const submit = async () => {
    failure.set(null);
    const sent = typed();
    const [was, is] = [filled, sent].map((one) => JSON.parse(one));
    try {
      const { metadata } = await get(path);
      const merged = [
        ...Object.entries(metadata ?? {}).filter(([key]) => Object.hasOwn(is, key) || !Object.hasOwn(was, key)),
        ...Object.entries(is).filter(([key, value]) => key && JSON.stringify(value) !== JSON.stringify(was[key])),
      ];
      await save({ metadata: merged.length > 0 ? Object.fromEntries(merged) : null });
      filled = sent;
      fill();
    } catch (error) {
      failure.set(error);
    }
  };
  const write = (/** @type {any} */ row, /** @type {string} */ typed) => {
    try {
      row.value = typeof row.value === "string" ? typed : JSON.parse(typed);
    } catch {
      row.value = typed;
    }
  };
  return section(text.metadata, { lead: text.metadataLead }, el("form.form.wide", { onsubmit: submit },
    list(rows, (one) => one.id, (one) => el("div.pair", null,
      el("input", { "aria-label": text.key, value: () => one().key, dir: "auto", maxlength: 200, oninput: (/** @type {any} */ e) => (one().key = e.target.value) }),
      el("input", { "aria-label": text.value, value: () => shown(one().value), dir: "auto", oninput: (/** @type {any} */ e) => write(one(), e.target.value) }),
      button(text.removeField(one().key), {
        icon: "close",
        look: "bare",
        iconOnly: true,
        run: () => rows.update((all) => all.filter((each) => each.id !== one().id)),
      }))),
    () => failure() && problem(failure()),
    el("div.actions", null,
      button(text.add, { icon: "plus", run: () => rows.update((all) => [...all, { id: Date.now(), key: "", value: "" }]) }),
      el("button.button", null, text.saveFields))));
}

/**
 * conversationLink leads to the conversation, if there is one.
 * @param {string} of the number
 * @param {string} id
 */
function conversationLink(of, id) {
  const found = resource((signal) => get(`v1/${of}/conversations`, { signal, query: { contact_id: id, limit: 1 } }), ["conversation"]);
  return () => {
    const one = found.data()?.[0];
    return one && el("a.button.primary", { href: link("inbox/" + one.id) }, icon("inbox"), el("span", null, text.open));
  };
}

/**
 * @param {string} of the number
 * @param {string} id
 */
function mediaSection(of, id) {
  const found = resource(async (signal) => {
    const kinds = ["image", "video", "document", "audio"];
    const all = await Promise.all(kinds.map((type) => page(`v1/${of}/messages`, { signal, query: { contact_id: id, type, limit: 12 } })));
    return all.flatMap((one) => one.rows).filter((one) => one.media?.url).sort((a, b) => b.created_at.localeCompare(a.created_at));
  }, ["conversation"]);
  return section(text.media, {}, loaded(found, (rows) => [
    el("ul.files", null, list(() => rows().slice(0, 24), (one) => one.id, (one) => el("li", null, file(one())))),
    when(() => rows().length === 0, () => el("p.none", null, text.noMedia)),
  ], 1));
}

/** @param {any} message */
function file({ type, media }) {
  const name = media.filename ?? text.file;
  const isOurs = media.url.includes("/media/");
  const src = isOurs ? hosted(media.url) : media.url;
  return el("a.file", { href: src, ...away },
    type === "image" && isOurs
      ? el("img", { src, alt: "", loading: "lazy" })
      : icon(type === "video" ? "film" : "templates"),
    el("span", { dir: "auto" }, name));
}

/**
 * @param {() => any} data
 * @param {string} path
 */
function deleteSection(data, path) {
  const run = () => confirmAction({
    title: text.removeTitle(nameOf(data())),
    body: text.removeBody,
    action: text.remove,
    word: nameOf(data()),
    send: () => remove(path),
    done: text.removed,
    finish: () => navigate("contacts", { replace: true }),
  });
  return section(text.danger, { lead: text.dangerLead, actions: button(text.remove, { look: "destructive", run }) });
}
