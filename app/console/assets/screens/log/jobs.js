/** The jobs that wait, run or have failed, oldest first. */
import { el, when } from "../../dom.js";
import { post } from "../../api.js";
import { count, time } from "../../format.js";
import { button, chip } from "../../parts/basics.js";
import { options } from "../../parts/form.js";
import { confirmAction } from "../../parts/dialog.js";
import { toast, toastError } from "../../parts/notices.js";
import { link } from "../../router.js";
import { choice, lines } from "./lines.js";
import { jobs as text, kinds } from "texts/log.js";

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
const wordsOf = ({ kind, about }) => kinds[/** @type {"send"} */ (kind)]?.[about?.name ? "before" : "plain"] ?? kind;

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
    places: { 2: "number", 5: "end" },
    cells: [
      (one) => [title(one()), () => one().last_error && el("small.log-why", { dir: "auto" }, one().last_error)],
      (one) => () => chip(stateOf(one().state), tones[one().state] ?? "quiet"),
      (one) => () => count(one().failures),
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

  const types = Object.keys(kinds).map((kind) => ({ value: kind, label: wordsOf({ kind }) }));
  return [
    el("div.log-filters", null, choice(text.state, "status", () => options(text.states)), choice(text.kind, "kind", () => types)),
    list.body,
  ];
}

/** @param {string} state */
const stateOf = (state) => text.states[/** @type {keyof typeof text.states} */ (state)] ?? state;
