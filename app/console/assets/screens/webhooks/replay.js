/** Replaying many deliveries: how many first, and then how it goes. */
import { el, onDispose, signal } from "../../dom.js";
import { get, post } from "../../api.js";
import { count } from "../../format.js";
import { button } from "../../parts/basics.js";
import { dialog } from "../../parts/dialog.js";
import { problem, skeleton } from "../../parts/states.js";

const text = {
  title: "Replay many",
  none: "Nothing to replay. No delivery matches the filters, or all were replayed already.",
  ask: (/** @type {number} */ n, /** @type {boolean} */ capped, /** @type {string} */ status) =>
    `${capped ? "More than " : ""}${count(n)} ${status} ${n === 1 ? "delivery goes" : "deliveries go"} out again, oldest first.`,
  filtered: "Only deliveries that match the filters.",
  action: (/** @type {number} */ n, /** @type {boolean} */ capped) => `Replay ${capped ? "all" : count(n)}`,
  cancel: "Cancel",
  close: "Done",
  progress: "Progress",
  state: (/** @type {number} */ of, /** @type {any} */ { taken, failed }) =>
    `${count(of)} replayed: ${count(taken)} delivered, ${count(failed)} failed, ${count(Math.max(0, of - taken - failed))} in progress.`,
};

const poll = 700;

/**
 * replayDialog replays what the filters leave: dead ones, or those that are being retried.
 * @param {any} webhook
 * @param {Record<string, any>} filters
 */
export function replayDialog(webhook, filters) {
  const status = filters.status === "failed" ? "failed" : "dead";
  const ask = (/** @type {boolean} */ dry) => post("v1/webhook_deliveries/bulk_replay", {
    subscription_id: webhook.id,
    status,
    event_type: filters.event_type ?? undefined,
    created_after: filters.created_after ?? undefined,
    dry_run: dry,
  });
  const stats = () => get(`v1/webhook_subscriptions/${webhook.id}/stats`);

  return dialog(text.title, (close) => {
    const found = signal(/** @type {any} */ (null));
    const failure = signal(/** @type {unknown} */ (null));
    const running = signal(0); // how many were replayed so far
    const now = signal({ taken: 0, failed: 0 });
    let open = true;
    onDispose(() => (open = false));
    ask(true).then(found.set, failure.set);

    const run = async () => {
      try {
        const before = await stats();
        for (let more = true; more && open;) {
          const some = await ask(false);
          running.update((n) => n + some.enqueued);
          more = some.capped;
        }
        while (open && now().taken + now().failed < running()) {
          const after = await stats();
          const grown = (/** @type {string} */ key) => Math.max(0, after[key] - before[key]);
          now.set({ taken: grown("succeeded"), failed: grown("failed") + grown("dead") });
          await new Promise((resolve) => setTimeout(resolve, poll));
        }
      } catch (error) {
        failure.set(error);
      }
    };

    const question = () => [
      el("div.prose", null, el("p", null, found().enqueued ? text.ask(found().enqueued, found().capped, status) : text.none),
        (filters.event_type || filters.created_after) && el("p", null, text.filtered)),
      el("div.form-end", null,
        button(text.cancel, { run: () => close() }),
        found().enqueued > 0 && button(text.action(found().enqueued, found().capped), { look: "primary", run })),
    ];
    const progress = () => [
      el("progress", { max: () => running(), value: () => now().taken + now().failed, "aria-label": text.progress }),
      el("p.prose", { role: "status" }, () => text.state(running(), now())),
      el("div.form-end", null, button(text.close, { look: "primary", run: () => close() })),
    ];
    return el("div.form", null,
      () => failure() !== null && problem(failure()),
      () => (found() ? (running() > 0 ? progress() : question()) : failure() === null && skeleton(1)));
  }, { lasting: true });
}
