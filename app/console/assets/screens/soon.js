/**
 * Screens that are not here yet: what they will show, and how to do their work until then.
 * And addresses that show nothing, or not to this person.
 */
import { el } from "../dom.js";
import { copyable, heading } from "../parts/basics.js";
import { empty } from "../parts/states.js";
import { link } from "../router.js";
import { root } from "../session.js";
import { settingsPage } from "./settings.js";

const text = { until: "Until then there is the ", reference: "API", or: ", and on the server:", end: ".", command: "command",
  nothing: "There is nothing here", nothingBody: "The address may be wrong, or this may be for admins only.", back: "Go to the inbox" };

/** @type {Record<string, { title: string, icon: string, head: string, body: string, command: string }>} */
const screens = {
  contacts: {
    title: "Contacts",
    icon: "contacts",
    head: "Contacts will be here",
    body: "Everybody who wrote to you, to find, label, import and export.",
    command: "",
  },
  broadcasts: {
    title: "Broadcasts",
    icon: "broadcasts",
    head: "Broadcasts will be here",
    body: "One template to many people, and how many of them got and read it.",
    command: "",
  },
  templates: {
    title: "Templates",
    icon: "templates",
    head: "Templates will be here",
    body: "What you may write first, by status and language, as people will see it.",
    command: "confab templates sync PHONE_NUMBER_ID",
  },
  numbers: {
    title: "Numbers",
    icon: "numbers",
    head: "Numbers will be here",
    body: "The numbers that you write from, their state and quality.",
    command: "confab accounts list",
  },
  customers: {
    title: "Customers",
    icon: "customers",
    head: "Customers will be here",
    body: "Businesses whose numbers you run, and the links by which they connect them.",
    command: "confab customers list",
  },
  webhooks: {
    title: "Webhooks",
    icon: "webhooks",
    head: "Webhooks will be here",
    body: "Where events are sent, every attempt with its answer, and what can be replayed.",
    command: "confab webhooks list",
  },
  deliveries: {
    title: "Delivery",
    icon: "webhooks",
    head: "This delivery will be here",
    body: "Its payload, its headers as signed, and every attempt with the answer.",
    command: "confab deliveries show WBD",
  },
  log: {
    title: "Log",
    icon: "log",
    head: "The log will be here",
    body: "Calls of the API, jobs that wait or failed, and who changed what.",
    command: "confab audit",
  },
  trace: {
    title: "Trace",
    icon: "log",
    head: "This trace will be here",
    body: "One message’s life on one line of time, from the call that made it to the last delivery.",
    command: "",
  },
  "settings/quick-replies": {
    title: "Quick replies",
    icon: "bolt",
    head: "Quick replies will be here",
    body: "Answers that you give often, one keystroke away while you write.",
    command: "",
  },
  "settings/health": {
    title: "Health",
    icon: "pulse",
    head: "Health will be here",
    body: "What was used of the plan, what fails and why, and which numbers and webhooks need a look.",
    command: "",
  },
  phone: {
    title: "Phone",
    icon: "phone",
    head: "The phone will be here",
    body: "The other side of a conversation in this sandbox: write as somebody, and see what arrives.",
    command: "confab trigger inbound",
  },
};

/** @type {import("../router.js").Build} */
export default function soon({ params }) {
  const screen = screens[params.path] ?? screens[params.path.split("/")[0]];
  if (params.nothing || !screen) return nothing();

  const { title, icon, head, body, command } = screen;
  const until = el("p", null, text.until, el("a", { href: new URL("../docs", root).href }, text.reference), command ? text.or : text.end);
  const shown = [
    heading(title),
    empty({ icon, title: head, body: [el("p", null, body), until], action: command && copyable(command, { name: text.command }) }),
  ];
  return { title, body: params.path.startsWith("settings/") ? settingsPage(shown) : el("div.page", null, shown) };
}

function nothing() {
  const home = el("a.button", { href: link("inbox") }, text.back);
  return {
    title: text.nothing,
    body: el("div.page", null,
      empty({ icon: "search", level: "h1", title: text.nothing, body: el("p", null, text.nothingBody), action: home }),
    ),
  };
}
