/** Trace: one message's life on one line of time, live while it happens. */
import { el, list, when } from "../dom.js";
import { get } from "../api.js";
import { priceOf } from "../format.js";
import { button, chip, copyable, heading, section, upper, wordOf } from "../parts/basics.js";
import { dialog } from "../parts/dialog.js";
import { onHints } from "../parts/hints.js";
import { paged } from "../parts/lists.js";
import { empty, loaded, resource } from "../parts/states.js";
import { link } from "../router.js";
import { publicAPI } from "../session.js";
import { code } from "./deliveries.js";
import { quote } from "./log/curl.js";
import { step } from "./trace/step.js";
import { deliveryTable } from "./webhooks/page.js";
import { trace as text, types } from "texts/trace.js";

/** @type {Record<string, "good" | "bad" | "warn" | "calm">} */
const tones = { failed: "bad", queued: "calm", pending: "warn" };

/** @type {import("../router.js").Build} */
export default function trace({ params }) {
  if (!params.id) {
    const none = empty({ icon: "search", title: text.none, body: text.noneBody });
    return { title: text.title, body: el("div.page", null, heading(text.title), none) };
  }

  const id = encodeURIComponent(params.id);
  const traced = resource((signal) => get("trace/" + id, { signal }).catch((error) => {
    if (error.status !== 404 || !id.startsWith("evt_")) throw error;
    return get("v1/events/" + id, { signal }); // which is about no message
  }));
  const isMessage = () => traced.data()?.entries;
  onHints(["conversation", "delivery", "call", "job"], traced.reload, ({ kind, ids }) =>
    kind !== "conversation" || ids.length === 0 || ids.includes(traced.data()?.conversation_id));

  const title = () => {
    const found = traced.data();
    if (!found) return text.title;
    if (!found.entries) return found.type;
    return found.preview ? text.quoted(found.preview) : upper(types[/** @type {"text"} */ (found.type)] ?? wordOf(found.type));
  };
  const body = el("div.page.trace-page", null,
    heading(title, {
      crumb: () => isMessage() && crumbs(traced.data()),
      beside: () => traced.data() && [
        isMessage() && chip(wordOf(traced.data().status), tones[traced.data().status] ?? "good"),
        traced.data().pricing && chip(priceOf(traced.data().pricing), "calm"),
        copyable(traced.data().id, { name: isMessage() ? text.id : text.event }),
      ],
      actions: () => traced.data()?.direction === "outbound" && button(text.curl, { run: () => showCurl(traced.data()) }),
    }),
    loaded(traced, (found) => (!isMessage() ? eventParts(found()) : [
      el("ol.trace", { "aria-label": text.line }, list(() => found().entries, keyOf, (one) => step(found, one, traced.reload))),
      when(() => found().left_out > 0, () => el("p.none", null, () => (text.leftOut(found().left_out)))),
      when(() => !found().complete, () => el("p.none", null, text.cut)),
    ])));
  return { title, body };
}

/** eventParts show an event that is about no message. @param {any} event */
function eventParts(event) {
  const all = paged("v1/webhook_deliveries", { filters: () => ({ event_id: event.event_id }), kinds: ["delivery"] });
  return [
    section(text.deliveries, {}, loaded(all, (rows) => [
      when(() => rows().length > 0, () => deliveryTable(rows), () => el("p.none", null, text.unsent)),
      all.end,
    ], 1)),
    section(text.payload, {}, code(JSON.stringify(event.payload, null, 2))),
  ];
}

/** keyOf distinguishes entries: what happened stays, and more may come between. @param {any} one */
const keyOf = ({ kind, at, try: tried, status, event, delivery }) =>
  [kind, at, tried?.try, status?.reported, event?.id, delivery?.id, delivery?.attempt].join(" ");

const slash = () => el("span.quiet", null, " / ");

/** @param {any} found */
function crumbs(found) {
  const who = found.contact.name ?? found.contact.phone_number ?? found.contact.bsuid ?? text.contact;
  return [
    el("a", { href: link("inbox/" + found.conversation_id) }, text.conversation),
    slash(),
    el("a", { href: link("contacts/" + found.contact.id), dir: "auto" }, who),
    slash(),
    el("span.quiet", null, text.title),
  ];
}

/** showCurl shows the command that would send the message. @param {any} found */
function showCurl(found) {
  const body = JSON.parse(found.entries.find((/** @type {any} */ one) => one.kind === "stored")?.body ?? "{}");
  const sent = quote(JSON.stringify({ messaging_product: "chat", ...body }));
  const url = new URL(found.phone_number_id + "/messages", publicAPI).href;
  const command = `curl ${url} -H "Authorization: Bearer $CONFAB_API_KEY" -H "Content-Type: application/json" -d ${sent}`;
  dialog(text.curlTitle, () => el("div.form", null,
    el("p", null, text.curlLead),
    copyable(command, { name: text.command, block: true })), { wide: true });
}
