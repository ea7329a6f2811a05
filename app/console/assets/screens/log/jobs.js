/** The jobs that wait, run or have failed, oldest first. */
import { el, when } from "../../dom.js";
import { post } from "../../api.js";
import { time } from "../../format.js";
import { button, chip } from "../../parts/basics.js";
import { confirmAction } from "../../parts/dialog.js";
import { toast, toastError } from "../../parts/notices.js";
import { choice, entry, lines } from "./lines.js";

const text = {
  caption: "Jobs",
  columns: [
    "Job",
    "State",
    { name: "Failures", kind: "number" },
    "Due",
    "Made",
    { name: "Retry or cancel", kind: "end", unseen: true },
  ],
  state: "Status",
  kind: "Kind",
  states: { due: "waits", held: "waits for its turn", running: "runs", failed: "failed" },
  none: "Nothing waits",
  noneBody: "What is done later stands here until it is done. What failed for good stays until it is retried or cancelled.",
  retry: "Retry",
  retried: "The job is tried again",
  cancel: "Cancel",
  cancelled: "The job was cancelled",
  cancelJob: "Cancel job",
  cancelTitle: (/** @type {string} */ kind) => `Cancel “${kind}”?`,
  cancelBody: "It is not done, and cannot be brought back. A message that it was to send fails.",
};

/** @type {Record<string, "calm" | "warn" | "bad" | "good">} */
const tones = { due: "calm", held: "warn", running: "good", failed: "bad" };

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
      (one) => [one().kind + " " + one().id, () => one().last_error && el("small.log-why", { dir: "auto" }, one().last_error)],
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
    title: text.cancelTitle(job.kind),
    body: text.cancelBody,
    action: text.cancelJob,
    send: () => post(`jobs/${job.id}/cancel`),
    done: text.cancelled,
    finish: list.reload,
  });

  const states = Object.entries(text.states).map(([value, label]) => ({ value, label }));
  return [el("div.log-filters", null, choice(text.state, "status", () => states), entry(text.kind, "kind")), list.body];
}

/** @param {string} state */
const stateOf = (state) => text.states[/** @type {keyof typeof text.states} */ (state)] ?? state;
