/** Every part once, on one page, to be looked at. What is pressed here only plays. */
import { el, signal } from "./dom.js";
import { APIError } from "./api.js";
import { connection } from "./live.js";
import { applyTheme, theme } from "./session.js";
import { time } from "./format.js";
import { button, chip, copyable, dot, face, heading, section } from "./parts/basics.js";
import { connectionBar, toast, toastError, toastRegion } from "./parts/notices.js";
import { confirmAction, dialog } from "./parts/dialog.js";
import { form } from "./parts/form.js";
import { menu } from "./parts/menu.js";
import { empty, failed, loaded, problem, resource, skeleton } from "./parts/states.js";
import { table } from "./parts/table.js";
import { templateForm } from "./parts/template_form.js";
import { templatePreview } from "./parts/template_preview.js";

const colors = ["gray", "red", "orange", "amber", "yellow", "lime", "green", "emerald", "teal", "sky", "blue", "violet", "pink"];
const refused = new APIError("name is taken by another label.", { status: 400, code: "invalid_field_value", param: "name", requestID: "req_01M7FEPEJJ7AQ5T2" });
const broken = new APIError("Something went wrong on our side.", { status: 500, code: "internal_error", requestID: "req_01M7FEPEJJ7AQ5T2" });
const minutesAgo = (/** @type {number} */ n) => new Date(Date.now() - n * 60_000).toISOString();

applyTheme();
document.body.prepend(connectionBar());
document.body.append(toastRegion());

const more = button("More", { look: "plain" });
menu(more, "More", () => [
  { name: "Open the inbox", icon: "inbox", href: "#inbox" },
  { name: "Copy", icon: "copy", run: () => toast("Copied by the menu"), keys: "C" },
  { name: "Light", checked: theme() === "light", run: () => theme.set("light"), group: "Theme" },
  { name: "Dark", checked: theme() === "dark", run: () => theme.set("dark") },
  { name: "Leave", icon: "leave", run: () => {}, group: "" },
]);

const labelFields = [
  { name: "name", label: "Name", required: true, hint: "What it is called everywhere.", value: "VIP" },
  { name: "note", label: "Note", optional: true },
  { name: "team", label: "Team", type: "select", options: [{ value: "1", label: "Sales" }, { value: "2", label: "Support" }] },
  { name: "role", label: "Role", type: "radios", value: "agent", options: [{ value: "agent", label: "Agent", hint: "Answers messages" }, { value: "admin", label: "Admin", hint: "Everything" }] },
  { name: "color", label: "Color", type: "swatches", value: "teal", options: colors.map((color) => ({ value: color, label: color })) },
];

const rows = signal([
  { id: "wbd_1", type: "message.received", state: "delivered", tone: "good", tries: 1, at: minutesAgo(2) },
  { id: "wbd_2", type: "message.status", state: "retrying", tone: "warn", tries: 4, at: minutesAgo(31) },
  { id: "wbd_3", type: "message.sent", state: "dead", tone: "bad", tries: 8, at: minutesAgo(60 * 30) },
]);

const template = { name: "shipped", category: "UTILITY", components: [
  { type: "HEADER", format: "IMAGE" }, { type: "BODY", text: "Hello *{{1}}*, order _{{2}}_ left our house." }, { type: "FOOTER", text: "Bakery Nord" },
  { type: "BUTTONS", buttons: [{ type: "URL", text: "Track it", url: "https://example.com/{{1}}" }, { type: "QUICK_REPLY", text: "Stop" }] },
] };
const values = templateForm(template);

const parts = [
  heading("Parts", { lead: "Each part of the console once, so that they can be looked at together.", crumb: el("a", { href: "#up" }, "Settings"), beside: [chip("active", "good"), copyable("wbs_01M7FEPZ3W8QAQ5T", { name: "webhook id" })], actions: [button("Send test event"), button("New part", { icon: "plus", look: "primary" })] }),
  section("Buttons", {}, el("div.actions", null, button("Primary", { look: "primary" }), button("Plain"), button("Danger", { look: "danger" }), button("Bare", { look: "bare" }), button("Search", { icon: "search", look: "bare", iconOnly: true }), el("button.button.primary", { "aria-disabled": "true" }, "Saving…"), more)),
  section("Chips, faces, labels", {}, el("div.form", null,
    el("div.actions", null, chip("delivered", "good"), chip("retrying", "warn"), chip("dead", "bad"), chip("invited", "calm"), chip("no sign-in", "quiet")),
    el("div.actions", null, ["Ana Ruiz", "Jonas Okafor", "Lucía Prado", "Mira Kovač", "Tomas Berg", "李小龍"].map(face)),
    el("div.actions", null, colors.map((color) => el("span.labelled", null, dot(color), color))))),
  section("Texts to copy", {}, copyable("msg_01M7FF3W8QAQ5T2", { name: "message id" }), el("p"), copyable('curl -H "Authorization: Bearer ck_live_…" http://localhost:8080/v1/me', { name: "command", block: true })),
  section("Form", {}, form({ fields: labelFields, submit: "Save", send: async ({ name }) => { if (name === "taken") throw refused; if (name === "broken") throw broken; }, done: () => toast("Saved") })),
  section("Table", {}, table({
    caption: "Deliveries",
    rows,
    columns: ["Event", "Delivery", "State", "Tries", "Time", "Replay"],
    kinds: { 3: "number", 5: "end" },
    sorts: { 0: "type", 3: "tries" },
    cells: [
      (one) => el("a", { href: "#" + one().id }, one().type),
      (one) => el("span.mono", null, one().id),
      (one) => chip(one().state, /** @type {any} */ (one().tone)),
      (one) => String(one().tries),
      (one) => time(one().at),
      (one) => one().state === "dead" && button("Replay"),
    ],
  })),
  section("Dialogs, toasts, connection", {}, el("div.actions", null,
    button("Open dialog", { run: () => dialog("New label", (close) => form({ fields: labelFields, submit: "Create label", send: async () => {}, done: () => close(), cancel: close })) }),
    button("Delete…", { run: () => confirmAction({ title: "Delete Ana Ruiz?", body: el("p", null, "24 messages and 3 files go with it. This cannot be undone."), action: "Delete contact", word: "Ana Ruiz", send: async () => toast("Deleted") }) }),
    button("Fail…", { run: () => confirmAction({ title: "Fail?", body: el("p", null, "This one fails."), action: "Fail", send: async () => { throw broken; } }) }),
    button("Toast", { run: () => toast("Key revoked", { name: "Undo", run: () => toast("Undone") }) }),
    button("Error toast", { run: () => toastError(broken) }),
    button("Lose the connection", { run: () => connection.set(connection() === "connected" ? "reconnecting" : "connected") }))),
  section("Template", {}, el("div.split", null, values.body, templatePreview(template, values.components))),
  section("Loading", {}, skeleton(3)),
  section("A problem in a form", {}, problem(broken)),
  section("Empty", {}, empty({ icon: "key", title: "No keys yet", body: "Create a key to make your first API call.", action: button("New key", { look: "primary", icon: "plus" }) })),
  section("Failed", {}, failed(broken, () => toast("Tried again"))),
  section("Gone", {}, loaded(resource(() => Promise.reject(new APIError("No such resource.", { status: 404 }))), () => "never")),
];
document.getElementById("main")?.append(el("div.page", null, parts));
