/** The phone of a person: the chat with the business, and a composer with all that a person can send. */
import { computed, effect, el, list, signal, when } from "../../dom.js";
import { APIError } from "../../api.js";
import { button, face, icon } from "../../parts/basics.js";
import { formDialog } from "../../parts/form.js";
import { menu } from "../../parts/menu.js";
import { toastError } from "../../parts/notices.js";
import { bubble, summary } from "./bubble.js";
import { editPerson } from "./people.js";
import { act, keyOf, nameOf, sim } from "./sim.js";
import { device as text } from "texts/phone.js";

const mostBytes = 16 << 20;

/** ownCard is what somebody who is asked for their number sends. @param {any} person */
const ownCard = (person) => ({
  origin: "contact_request",
  name: { formatted_name: nameOf(person) },
  phones: [{ phone: person.phone_number, wa_id: person.phone_number?.replace(/\D/g, "") }],
});

/**
 * device draws the phone.
 * @param {import("./sim.js").Sim} state
 */
export function device(state) {
  const { person, business, messages, typing } = state;
  const name = computed(() => nameOf(person()));
  const about = signal(/** @type {{ message: any, edits: boolean } | null} */ (null));
  const draft = signal("");
  const busy = signal(false);

  /** @param {any} content @param {any} [context] the message that it answers */
  const send = (content, context, by = act) => by("POST", "inbound", {
    phone_number_id: business()?.phone_number_id,
    from: person().phone_number ?? undefined,
    bsuid: person().phone_number ? undefined : person().bsuid,
    context: context ? { message_id: context.id } : undefined,
    ...content,
  });
  /** ask sends what a form holds, which shows its errors. @param {any} content @param {any} [context] */
  const ask = (content, context) => send(content, context, sim);
  const change = (/** @type {any} */ message, /** @type {string} */ verb, /** @type {any} */ body) =>
    act("POST", `messages/${encodeURIComponent(message.id)}/${verb}`, body);

  /** @type {HTMLTextAreaElement} */
  let box;
  /** @param {any} message @param {boolean} edits */
  const begin = (message, edits) => {
    about.set({ message, edits });
    if (edits) draft.set(summary(message));
    box.focus();
  };
  /** @type {import("./bubble.js").Handlers} */
  const handlers = {
    reply: (message) => begin(message, false),
    edit: (message) => begin(message, true),
    react: (message, emoji) => send({ type: "reaction", reaction: { message_id: message.id, emoji } }),
    remove: (message) => change(message, "revoke", {}),
    answer: (message, content) => send(content, message),
    locate: (message) => place((content) => ask(content, message)),
    share: (message) => send({ type: "contacts", contacts: [ownCard(person())] }, message),
    find: (id) => messages().find((one) => one.id === id),
  };
  const log = chat(state, name, handlers);

  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const body = draft().trim();
    if (!body || busy()) return;
    busy.set(true);
    const target = about();
    if (!target?.edits) log.scrollTop = log.scrollHeight; // and there it stays
    const done = await (target?.edits
      ? change(target.message, "edit", { text: body })
      : send({ type: "text", text: { body } }, target?.message));
    busy.set(false);
    if (!done) return; // the text stays
    draft.set("");
    about.set(null);
  };

  const files = el("input", { type: "file", hidden: true, tabindex: "-1", "aria-hidden": "true", onchange: attachFile });
  let voice = false;
  async function attachFile() {
    const chosen = files.files[0];
    files.value = "";
    if (chosen) await sendFile(chosen, voice, about()?.message, send);
  }
  const pick = (/** @type {boolean} */ asVoice) => {
    voice = asVoice;
    files.accept = asVoice ? ".ogg,.opus,.mp3,.m4a,.aac,.amr,.wav" : "";
    files.click();
  };
  const attach = button(text.attach, { icon: "clip", look: "bare", iconOnly: true });
  menu(attach, text.attach, () => [
    { name: text.file, icon: "picture", run: () => pick(false) },
    { name: text.voice, icon: "mic", run: () => pick(true) },
    { name: text.place, icon: "place", run: () => place(ask) },
    { name: text.contact, icon: "person", run: () => contact(ask) },
  ]);

  const onkeydown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
    if (event.key === "Escape") about.set(null);
  };
  const composer = el("form.phone-compose", { onsubmit: submit },
    when(about, () => el("p.phone-about", null,
      el("span", { dir: "auto" }, (about()?.edits ? text.editing : text.reply)(summary(about()?.message))),
      button(text.cancel, { icon: "close", look: "bare", iconOnly: true, run: () => about.set(null) }))),
    when(() => person().blocked, () => el("p.phone-about", null, text.blocked)),
    attach, files,
    el("textarea", {
      ref: (/** @type {HTMLTextAreaElement} */ node) => (box = node),
      rows: "1",
      dir: "auto",
      maxlength: "4096",
      "aria-label": () => text.writeAs(name()),
      placeholder: () => text.writeAs(name()),
      value: () => draft(),
      oninput: (/** @type {any} */ event) => draft.set(event.target.value),
      onkeydown,
    }),
    el("button.button.primary.round", { type: "submit", "aria-disabled": () => busy(), title: () => text.sendAs(name()) },
      icon("send"), el("span.unseen", null, () => text.sendAs(name()))));

  return el("section.phone", { "aria-label": () => text.phoneOf(name()) },
    head(state, typing),
    log,
    composer);
}

/** head names the business, and has what the person can set. @param {import("./sim.js").Sim} state @param {() => boolean} typing */
function head(state, typing) {
  const { person, business } = state;
  const title = () => business()?.verified_name ?? business()?.display_phone_number ?? "";
  const options = button(text.options, { icon: "dots", look: "bare", iconOnly: true });
  const path = () => "people/" + encodeURIComponent(keyOf(person()));
  menu(options, text.options, () => [
    { name: text.edit, icon: "person", run: () => editPerson(person()) },
    { name: text.read, icon: "checks", run: () => act("POST", path() + "/read", { phone_number_id: business()?.phone_number_id }) },
    { name: text.receipts, checked: person().read_receipts, run: () => patch({ read_receipts: !person().read_receipts }) },
    { name: person().blocked ? text.unblock : text.block, icon: "lock", run: () => patch({ blocked: !person().blocked }) },
  ]);
  /** @param {any} body */
  const patch = (body) => act("POST", "people", { phone_number: person().phone_number, bsuid: person().bsuid || undefined, ...body });
  return el("header.phone-head", null, () => face(title()),
    el("p", null, el("b", { dir: "auto" }, title), el("small", { role: "status" }, () => (typing() ? text.typing : text.business))),
    options);
}

/**
 * chat shows the messages. It stays at the newest unless somebody scrolled up.
 * @param {import("./sim.js").Sim} state
 * @param {() => string} name
 * @param {import("./bubble.js").Handlers} handlers
 */
function chat({ messages, ready }, name, handlers) {
  const log = el("div.phone-log", { role: "log", tabindex: "0", "aria-label": () => text.chat(name()) },
    () => ready() && messages().length === 0 && el("p.quiet", null, text.nothing),
    list(messages, (one) => one.id, (one) => bubble(one, handlers)));
  let following = true;
  log.addEventListener("scroll", () => (following = log.scrollTop + log.clientHeight > log.scrollHeight - 40), { passive: true });
  const down = () => {
    if (following) log.scrollTop = log.scrollHeight;
  };
  log.addEventListener("load", down, true); // pictures grow
  effect(() => {
    messages();
    requestAnimationFrame(down);
  });
  return log;
}

/**
 * sendFile sends a file as what it is.
 * @param {File} file
 * @param {boolean} voice
 * @param {any} context
 * @param {(content: any, context?: any) => Promise<boolean>} send
 */
async function sendFile(file, voice, context, send) {
  if (file.size > mostBytes) return toastError(new APIError(text.tooLarge));
  const family = file.type.split("/")[0];
  const type = voice ? "audio" : ["image", "video", "audio"].includes(family) ? family : "document";
  const data = await new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(",")[1] ?? "");
    reader.readAsDataURL(file);
  });
  const more = type === "audio" ? { voice } : type === "document" ? { filename: file.name } : {};
  await send({ type, [type]: { data, mime_type: file.type || undefined, ...more } }, context);
}

const decimal = { inputmode: "decimal" };

/** place asks for a location to share. @param {(content: any) => Promise<any>} send */
const place = (send) => formDialog(text.location, {
  fields: [
    { name: "latitude", label: text.latitude, value: "52.5163", param: "location.latitude", required: true, props: decimal },
    { name: "longitude", label: text.longitude, value: "13.3777", param: "location.longitude", required: true, props: decimal },
    { name: "name", label: text.placeName, optional: true },
  ],
  submit: text.send,
  send: (location) => send({ type: "location", location }),
});

/** contact asks for a card to share. @param {(content: any) => Promise<any>} send */
const contact = (send) => formDialog(text.card, {
  fields: [
    { name: "name", label: text.name, value: "Bo Lind", required: true },
    { name: "phone", label: text.number, value: "+1 555 000 2222", required: true, type: "tel" },
  ],
  submit: text.send,
  send: ({ name, phone }) => send({
    type: "contacts",
    contacts: [{ name: { formatted_name: name, first_name: name }, phones: [{ phone, type: "CELL" }] }],
  }),
});
