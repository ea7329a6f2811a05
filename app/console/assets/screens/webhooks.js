/** Webhooks: where events are sent, and how that goes. */
import { el, when } from "../dom.js";
import { button, heading } from "../parts/basics.js";
import { follow, isScrolled, paged, pagedList } from "../parts/lists.js";
import { sparkline } from "../parts/plot.js";
import { pace, resource } from "../parts/states.js";
import { table } from "../parts/table.js";
import { link, onQuery } from "../router.js";
import { webhookDialog } from "./webhooks/forms.js";
import webhookPage from "./webhooks/page.js";
import { answerTime, rate, readDay, statusChip } from "./webhooks/words.js";
import { webhooks as text } from "texts/webhooks.js";

/** @type {import("../router.js").Build} */
export default function webhooks({ params }) {
  if (params.id) return webhookPage({ params });

  const all = paged("v1/webhook_subscriptions", { kinds: ["delivery"], waits: isScrolled });
  const days = resource(async (signal) => {
    return new Map(await Promise.all((all.data() ?? []).map(async (one) => /** @type {const} */ ([one.id, await readDay(one, signal)]))));
  }, ["delivery"], 5 * pace);
  follow(() => (all.data() ?? []).map((one) => one.id), days.reload);
  const make = async () => {
    await webhookDialog(null);
    all.reload();
  };
  onQuery("new", make);

  const action = () => button(text.newOne, { icon: "plus", look: "primary", run: make });
  const body = el("div.page", null,
    heading(text.title, { lead: text.lead, actions: when(() => all.data()?.length, action) }),
    pagedList(
      all,
      (rows) => webhookTable(rows, (id) => days.data()?.get(id)),
      () => ({ icon: "webhooks", title: text.none, body: text.noneBody, action: action() }),
    ));
  return { title: text.title, body };
}

/**
 * @param {() => any[]} rows
 * @param {(id: string) => any} day
 */
function webhookTable(rows, day) {
  return table({
    caption: text.title,
    rows,
    columns: text.columns,
    kinds: { 2: "number", 3: "number" },
    cells: [
      (one) => el("span.stack", null,
        el("a", { href: link("webhooks/" + one().id), dir: "auto" }, () => one().url),
        el("small", { dir: "auto" }, () => one().description ?? ""),
        () => one().format === "provider" && el("small", null, text.native),
      ),
      (one) => () => statusChip(one(), day(one().id)),
      (one) => () => rate(day(one().id)),
      (one) => () => answerTime(day(one().id)),
      (one) => () => spark(day(one().id)),
    ],
  });
}

/** @param {any} day */
const spark = (day) =>
  (day && sparkline(day.hours.map((/** @type {any} */ hour) => hour.total), day.success_rate != null && day.success_rate < 0.95 ? "warn" : "good")) || "—";
