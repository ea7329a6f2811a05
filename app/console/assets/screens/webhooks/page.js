/** One webhook: its day, its deliveries and the events beside them, its secrets. */
import { computed, el, list, when } from "../../dom.js";
import { get, patch, post, remove } from "../../api.js";
import { count, time } from "../../format.js";
import { button, copyable, heading, section } from "../../parts/basics.js";
import { confirmAction } from "../../parts/dialog.js";
import { options } from "../../parts/form.js";
import { menu } from "../../parts/menu.js";
import { toast, toastError } from "../../parts/notices.js";
import { filter, isScrolled, paged, pagedList } from "../../parts/lists.js";
import { figure, sparkline } from "../../parts/plot.js";
import { loaded, pace, resource } from "../../parts/states.js";
import { table } from "../../parts/table.js";
import { link, navigate, query, setQuery } from "../../router.js";
import { presentTime } from "../../session.js";
import { eventTypes, rotateDialog, testDialog, webhookDialog } from "./forms.js";
import { replayDialog } from "./replay.js";
import { answer, answerTime, deliveryChip, problemOf, rate, statusChip } from "./words.js";
import { webhook as text } from "texts/webhooks.js";

/** @type {import("../../router.js").Build} */
export default function webhookPage({ params }) {
  const path = "v1/webhook_subscriptions/" + params.id;
  const one = resource(path, ["delivery"], pace);
  const body = el("div.page.wide", null, loaded(one, () => content(one, path), 4, "h1"));
  return { title: () => one.data()?.url ?? text.webhook, body };
}

/**
 * @param {import("../../parts/states.js").Resource<any>} one
 * @param {string} path
 */
function content(one, path) {
  const data = computed(() => one.data());
  const { id } = data();
  const day = resource(path.slice(3) + "/day", ["delivery"], pace);
  const types = resource(eventTypes);
  const all = paged("v1/webhook_deliveries", {
    filters: () => ({ ...filters(), subscription_id: id, limit: 25 }),
    kinds: ["delivery"],
    waits: isScrolled,
  });
  const again = () => Promise.all([one, day, all].map((each) => each.reload()));
  const isActive = () => data().status === "active";

  const setStatus = async (/** @type {"active" | "paused"} */ status) => {
    try {
      one.set(await patch(path, { status }));
      toast(text.changed[status]);
    } catch (error) {
      toastError(error);
    }
  };
  const edit = async () => {
    const made = await webhookDialog(data());
    if (made) one.set(made);
  };
  const test = async () => {
    try {
      if (data().format === "provider") return navigate("deliveries/" + (await post(path + "/test", {})).id);
      await testDialog(data(), types.data() ?? (await get("event_types"))); // they may not be there yet
      await again();
    } catch (error) {
      toastError(error);
    }
  };
  const more = button(text.more, { iconOnly: true, icon: "more" });
  menu(more, text.more, () => [
    ...(isActive() ? [{ name: text.pause, run: () => setStatus("paused") }] : []),
    { name: text.delete, danger: true, run: () => drop(data()) },
  ]);

  return [
    heading(() => data().url, {
      crumb: el("a", { href: link("webhooks") }, text.webhooks),
      beside: [() => statusChip(data(), day.data()), copyable(id, { name: text.id })],
      lead: () => data().description,
      actions: [
        when(() => data().status !== "active", () => button(
          data().status === "paused" ? text.resume : text.enable,
          { look: "primary", run: () => setStatus("active") },
        )),
        when(() => data().status !== "disabled", () => button(text.test, { run: () => test() })),
        button(text.edit, { run: edit }),
        more,
      ],
    }),
    () => {
      const problem = problemOf(data(), day.data());
      return problem && el("p.notice", null, problem);
    },
    loaded(day, (shown) => () => figures(shown()), 1),
    el("div.beside", null,
      el("section", null,
        el("div.heading-line", null, el("h2", null, text.deliveries),
          el("div.actions", null, when(isActive, () => button(text.replay, { run: () => replayDialog(data(), filters()).then(again) })))),
        filterBar(types),
        pagedList(all, deliveryTable, () => (query().size > 0
          ? { icon: "search", title: text.noneFiltered, body: text.noneFilteredBody, level: "h3" }
          : { icon: "webhooks", title: text.none, body: text.noneBody, level: "h3" }))),
      eventList(data)),
    secrets(one, path),
  ];
}

/** @param {any} day */
function figures(day) {
  const line = (/** @type {string} */ key, /** @type {string} */ tone) =>
    sparkline(day.hours.map((/** @type {any} */ hour) => hour[key]), tone);
  return el("div.cards", null,
    figure(text.figures.rate, rate(day), line("succeeded", "good")),
    figure(text.figures.total, count(day.total), line("total", "calm")),
    figure(text.figures.time, answerTime(day)),
    figure(text.figures.dead, count(day.dead), line("dead", "bad")));
}

/** filters are what the address asks for. */
function filters() {
  const asked = query();
  const hours = Number(asked.get("hours"));
  return {
    status: asked.get("status"),
    event_type: asked.get("type"),
    event_id: asked.get("id"),
    created_after: hours > 0 ? new Date(Math.floor(presentTime() / 60_000) * 60_000 - hours * 3_600_000).toISOString() : null,
  };
}

/** @param {import("../../parts/states.js").Resource<string[]>} types */
function filterBar(types) {
  const search = (/** @type {SubmitEvent} */ event) => {
    const wanted = /** @type {HTMLInputElement} */ (/** @type {HTMLElement} */ (event.target).querySelector("input")).value.trim();
    if (/^wbd_/.test(wanted)) navigate("deliveries/" + encodeURIComponent(wanted));
    else setQuery({ id: wanted });
  };
  return el("div.filters", null,
    filter(text.filters.status, "status", () => options(text.states)),
    filter(text.filters.type, "type", () => types.data() ?? []),
    filter(text.filters.time, "hours", () => options(text.times)),
    el("form.filter", { onsubmit: search, role: "search" },
      el("input", {
        type: "search",
        "aria-label": text.filters.search,
        placeholder: text.filters.hint,
        value: () => query().get("id") ?? "",
      })));
}

/** @param {() => any[]} rows */
export function deliveryTable(rows) {
  return table({
    caption: text.deliveries,
    rows,
    columns: text.columns,
    kinds: { 3: "number", 4: "number", 5: "number" },
    cells: [
      (one) => el("a.id", { href: link("deliveries/" + one().id) }, one().id),
      (one) => one().event_type,
      (one) => () => deliveryChip(one()),
      (one) => () => count(one().attempt_count),
      (one) => () => answer(one()),
      (one) => time(one().created_at),
    ],
  });
}

/** eventList shows what happened lately, of the kinds that are sent here. @param {() => any} data */
function eventList(data) {
  const type = () => (data().events[0] === "*" || data().format === "provider" ? null : data().events.join(","));
  const all = resource((signal) => get("v1/events", { signal, query: { limit: 15, type: type() } }), ["delivery"], pace);
  return el("aside.events", { "aria-label": text.events }, el("h2", null, text.events),
    loaded(all, (rows) => when(() => rows().length > 0, () => el("ul", null, list(rows, (one) => one.id, (one) => el("li", null,
      el("a", { href: link("trace/" + one().id) }, one().type),
      time(one().created_at)))), () => el("p.none", null, text.noEvents)), 2));
}

/**
 * @param {import("../../parts/states.js").Resource<any>} one
 * @param {string} path
 */
function secrets(one, path) {
  const revoke = (/** @type {any} */ secret) => confirmAction({
    title: text.revokeTitle,
    body: text.revokeBody,
    action: text.revoke,
    send: () => remove(path + "/secrets/" + secret.id),
    done: text.revoked,
    finish: one.reload,
  });
  return section(text.secrets, {
    lead: text.secretsLead,
    actions: when(
      () => one.data().status !== "disabled",
      () => button(text.rotate, { run: () => rotateDialog(one.data()).then(one.reload) }),
    ),
  }, table({
    caption: text.secrets,
    rows: () => one.data().secrets,
    columns: text.secretColumns,
    kinds: { 3: "end" },
    cells: [
      (secret) => el("span.id", null, secret().id),
      (secret) => time(secret().created_at),
      (secret) => time(secret().expires_at, text.never),
      (secret) => button(text.revoke, { run: () => revoke(secret()) }),
    ],
  }));
}

/** @param {any} one */
const drop = (one) => confirmAction({
  title: text.deleteTitle,
  body: [el("b", { dir: "auto" }, one.url), text.deleteBody],
  action: text.delete,
  send: () => remove("v1/webhook_subscriptions/" + one.id),
  done: text.deleted,
  finish: () => navigate("webhooks"),
});
