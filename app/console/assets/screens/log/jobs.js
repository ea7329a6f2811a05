/** The jobs that wait, run or have failed, oldest first. */
import { el, when } from "../../dom.js";
import { post } from "../../api.js";
import { time } from "../../format.js";
import { button, chip } from "../../parts/basics.js";
import { confirmAction } from "../../parts/dialog.js";
import { toast, toastError } from "../../parts/notices.js";
import { link } from "../../router.js";
import { choice, lines } from "./lines.js";

const text = {
  caption: "Jobs",
  columns: [
    "Job",
    "Status",
    { name: "Failures", kind: "number" },
    "Due",
    "Created",
    { name: "Retry or cancel", kind: "end", unseen: true },
  ],
  state: "Status",
  kind: "Type",
  states: { due: "waiting", held: "waiting for its turn", running: "running", failed: "failed" },
  none: "No jobs waiting",
  noneBody: "Work that is done in the background shows up here until it is finished. Failed jobs stay until you retry or cancel them.",
  number: (/** @type {string} */ kind, /** @type {number} */ id) => `${kind} ${id}`,
  retry: "Retry",
  retried: "Job retried",
  cancel: "Cancel",
  cancelled: "Job cancelled",
  cancelJob: "Cancel job",
  cancelTitle: (/** @type {string} */ job) => `Cancel “${job}”?`,
  cancelBody: "The work won’t be done, and this can’t be undone. If the job sends a message, that message fails.",
};

/** What jobs do, by their kind, before the name of what they are about. @type {Record<string, string>} */
const kinds = {
  "send": "Send message to",
  "send.later": "Send scheduled message to",
  "receipt": "Send read receipt from",
  "conversation.wake": "End snooze at",
  "push.notify": "Prepare notifications about",
  "push.send": "Send notification about",
  "media.fetch": "Download file from",
  "media.remove": "Delete file of",
  "deliver": "Deliver event to",
  "webhook.fan_out": "Prepare deliveries to",
  "webhook.fail_deliveries": "Stop deliveries to",
  "webhook.delete": "Delete webhook",
  "broadcast.run": "Run broadcast",
  "broadcast.send": "Send broadcast message to",
  "broadcast.resume": "Resume broadcast",
  "contacts.import": "Import contacts to",
  "label.detach": "Remove deleted label",
  "label.touch": "Update label",
  "onboard": "Connect number",
  "account.check": "Check number",
  "account.unsubscribe": "Disconnect number",
  "account.purge": "Delete data of number",
};

/** Where what a job is about is shown. @type {Record<string, string>} */
const places = {
  message: "trace/",
  delivery: "deliveries/",
  webhook: "webhooks/",
  broadcast: "broadcasts/",
  number: "numbers/",
};

/** @type {Record<string, "calm" | "warn" | "bad" | "good">} */
const tones = { due: "calm", held: "warn", running: "good", failed: "bad" };

/** wordsOf says what a job does, without what it is about. @param {any} job */
const wordsOf = ({ kind, about }) => (about?.name ? kinds[kind] : kinds[kind]?.replace(/ (to|from|of)$/, "")) ?? kind;

/** nameOf is a job in words. @param {any} job */
const nameOf = (job) => [wordsOf(job), job.about?.name].filter(Boolean).join(" ");

/** title says what a job does, and leads to what it is about. @param {any} job */
function title(job) {
  const { about, kind, id } = job;
  const place = about?.id && (about.type === "label" ? "settings/labels" : places[about.type] + about.id);
  return [
    el("span", null, wordsOf(job), " ", about?.name && (place
      ? el("a", { href: link(place), dir: "auto" }, about.name)
      : el("bdi", null, about.name))),
    el("small.log-kind", null, text.number(kind, id)),
  ];
}

export function jobs() {
  const list = lines({
    path: "jobs",
    caption: text.caption,
    filters: ["status", "kind"],
    kinds: ["job"],
    key: (one) => String(one.id),
    none: { icon: "log", title: text.none, body: text.noneBody },
    columns: text.columns,
    cells: [
      (one) => [title(one()), () => one().last_error && el("small.log-why", { dir: "auto" }, one().last_error)],
      (one) => () => chip(stateOf(one().state), tones[one().state] ?? "quiet"),
      (one) => () => String(one().failures),
      (one) => () => time(one().due_at),
      (one) => time(one().created_at),
      (one) => [
        when(() => ["due", "failed"].includes(one().state), () => button(text.retry, { run: () => retry(one()) })),
        button(text.cancel, { run: () => cancel(one()) }),
      ],
    ],
  });

  async function retry(/** @type {any} */ job) {
    try {
      await post(`jobs/${job.id}/retry`);
      toast(text.retried);
      list.reload();
    } catch (error) {
      toastError(error);
    }
  }
  const cancel = (/** @type {any} */ job) => confirmAction({
    title: text.cancelTitle(nameOf(job)),
    body: text.cancelBody,
    action: text.cancelJob,
    send: () => post(`jobs/${job.id}/cancel`),
    done: text.cancelled,
    finish: list.reload,
  });

  const states = Object.entries(text.states).map(([value, label]) => ({ value, label }));
  const types = Object.keys(kinds).map((kind) => ({ value: kind, label: wordsOf({ kind }) }));
  return [
    el("div.log-filters", null, choice(text.state, "status", () => states), choice(text.kind, "kind", () => types)),
    list.body,
  ];
}

/** @param {string} state */
const stateOf = (state) => text.states[/** @type {keyof typeof text.states} */ (state)] ?? state;
