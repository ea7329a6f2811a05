/** Replaying many deliveries: how many first, and then how it goes. */
import { el, onDispose, signal } from "../../dom.js";
import { get, post } from "../../api.js";
import { button } from "../../parts/basics.js";
import { dialog } from "../../parts/dialog.js";
import { problem, skeleton } from "../../parts/states.js";
import { replay as text } from "texts/webhooks.js";

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
      el("div.prose", null, el("p", null, found().enqueued ? (found().capped ? text.askMore : text.ask)[status](found().enqueued) : text.none),
        (filters.event_type || filters.created_after) && el("p", null, text.filtered)),
      el("div.form-end", null,
        button(text.cancel, { run: () => close() }),
        found().enqueued > 0 && button(found().capped ? text.actionAll : text.action(found().enqueued), { look: "primary", run })),
    ];
    const progress = () => [
      el("progress", { max: () => running(), value: () => now().taken + now().failed, "aria-label": text.progress }),
      el("p.prose", { role: "status" }, () => {
        const { taken, failed } = now();
        return text.state(running(), taken, failed, Math.max(0, running() - taken - failed));
      }),
      el("div.form-end", null, button(text.close, { look: "primary", run: () => close() })),
    ];
    return el("div.form", null,
      () => failure() !== null && problem(failure()),
      () => (found() ? (running() > 0 ? progress() : question()) : failure() === null && skeleton(1)));
  }, { lasting: true });
}
