/** The hours of a number: a week to paint, or to write, and holidays. */
import { el, signal, when } from "../../dom.js";
import { APIError, put } from "../../api.js";
import { button, chip, section } from "../../parts/basics.js";
import { fieldRow, switchRow } from "../../parts/form.js";
import { toast } from "../../parts/notices.js";
import { loaded, problem, resource, wrongText } from "../../parts/states.js";
import { isAdmin } from "../../session.js";
import { hours as text } from "texts/numbers.js";

const usual = [["09:00", "17:00"]];
const workdays = ["mon", "tue", "wed", "thu", "fri"];
/** Half hours of a day, which are what is painted. */
const cells = 48;

/** @typedef {string[][]} Spans */

/** @param {Spans} spans */
const write = (spans) => spans.map((one) => one.join("-")).join(", ");
/** @param {string} written @returns {Spans} */
const read = (written) => written.split(",").map((one) => one.trim()).filter(Boolean).map((one) => one.split(/\s*[-–]\s*/));
/** @param {string} [time] */
const minutesOf = (time = "") => Number(time.split(":")[0]) * 60 + Number(time.split(":")[1]);
/** @param {number} cell */
const timeOf = (cell) => `${String(cell >> 1).padStart(2, "0")}:${cell % 2 ? "30" : "00"}`;

/** cellsOf is which half hours of a day are open. @param {Spans} spans */
const cellsOf = (spans) => Array.from({ length: cells }, (_, i) =>
  spans.some(([from, to]) => minutesOf(from) < (i + 1) * 30 && minutesOf(to) > i * 30));

/** spansOf is the spans of the half hours that are open. @param {boolean[]} open @returns {Spans} */
const spansOf = (open) => open.flatMap((is, i) => {
  const end = open.indexOf(false, i);
  return is && !open[i - 1] ? [[timeOf(i), timeOf(end < 0 ? cells : end)]] : [];
});

/** @param {any} day */
const writeHoliday = ({ date, name, spans = [] }) => [date, write(spans ?? []), name].filter(Boolean).join(" ");
/** @param {string} written */
function readHoliday(written) {
  const [, date, times, name] = written.trim().match(/^(\S+)\s*((?:\d\d:\d\d\s*[-–]\s*\d\d:\d\d(?:,\s*)?)*)\s*(.*)$/) ?? [];
  return { date, ...(times && { spans: read(times) }), ...(name && { name }) };
}

/** hoursSection shows the hours of a number; admins set them. @param {string} id */
export function hoursSection(id) {
  const all = resource(`v1/${id}/hours`);
  return section(text.title, { lead: isAdmin && text.lead }, loaded(all, (now) => [
    el("p.line", null, () => chip(now().open_now ? text.open : text.closed, now().open_now ? "good" : "quiet")),
    isAdmin ? hoursForm(`v1/${id}/hours`, all) : () => shownHours(now()),
  ]));
}

/** @param {any} hours */
function shownHours({ weekly, timezone }) {
  if (!weekly) return el("p.none", null, text.always);
  return el("dl.headers", null, Object.entries(text.days).map(([day, name]) =>
    el("div", null, el("dt", null, name), el("dd", null, write(weekly[day] ?? []) || text.closedAll))), el("p.hint", null, timezone));
}

/**
 * @param {string} path
 * @param {import("../../parts/states.js").Resource<any>} all
 */
function hoursForm(path, all) {
  const before = /** @type {any} */ (all.data());
  const always = signal(!before.weekly);
  const week = Object.keys(text.days).map((day) =>
    ({ day, spans: signal(/** @type {Spans} */ (before.weekly ? before.weekly[day] ?? [] : workdays.includes(day) ? usual : [])) }));
  const wrong = signal({ at: "", message: "" });
  const failure = signal(/** @type {unknown} */ (null));
  const busy = signal(false);
  const wrongAt = (/** @type {string} */ at) => (wrong().at === at ? wrong().message : "");
  const zones = [...new Set([before.timezone, "UTC", ...Intl.supportedValuesOf("timeZone")])].map((zone) => ({ value: zone, label: zone }));
  const own = before.weekly ? before.timezone : Intl.DateTimeFormat().resolvedOptions().timeZone;

  const save = async () => {
    if (busy()) return;
    busy.set(true);
    failure.set(null);
    wrong.set({ at: "", message: "" });
    try {
      const holidays = node.elements.namedItem("holidays").value.split("\n").filter((/** @type {string} */ one) => one.trim()).map(readHoliday);
      const weekly = always() ? {} : { weekly: Object.fromEntries(week.map(({ day, spans }) => [day, spans()])) };
      all.set(await put(path, { timezone: node.elements.namedItem("timezone").value, ...weekly, holidays }));
      toast(text.saved);
    } catch (error) {
      const at = error instanceof APIError && error.param?.replace(/^weekly\./, "").split(/[.[]/)[0];
      if (at) wrong.set({ at, message: wrongText(error) });
      else failure.set(error);
    }
    busy.set(false);
  };
  const node = el("form.form.hours", { novalidate: true, onsubmit: save },
    el("div", null, switchRow(text.always, always, always.set)),
    when(() => !always(), () => el("div.week", { role: "group", "aria-label": text.week },
      week.map((one) => dayRow(one, () => wrongAt(one.day))))),
    fieldRow({ name: "timezone", label: text.zone, type: "select", options: zones, value: own }, "hours-zone", () => wrongAt("timezone")),
    fieldRow({
      name: "holidays",
      ...text.holidays,
      type: "textarea",
      optional: true,
      value: before.holidays.map(writeHoliday).join("\n"),
      props: { rows: 3, dir: "auto" },
    }, "hours-holidays", () => wrongAt("holidays")),
    () => failure() !== null && problem(failure()),
    el("div.form-end", null, button(() => (busy() ? text.saving : text.save), { look: "primary", type: "submit" })));
  return node;
}

/**
 * dayRow is a day: its half hours to paint, and the same in words.
 * @param {{ day: string, spans: import("../../dom.js").Signal<Spans> }} one
 * @param {() => string} wrong
 */
function dayRow({ day, spans }, wrong) {
  const name = text.days[/** @type {"mon"} */ (day)];
  const paint = (/** @type {PointerEvent} */ event) => {
    event.preventDefault();
    const strip = /** @type {HTMLElement} */ (event.currentTarget);
    const before = cellsOf(spans());
    const cellAt = (/** @type {PointerEvent} */ { clientX }) => {
      const { left, width } = strip.getBoundingClientRect();
      return Math.min(cells - 1, Math.max(0, Math.floor(((clientX - left) / width) * cells)));
    };
    const from = cellAt(event);
    const fill = (/** @type {PointerEvent} */ at) => {
      const to = cellAt(at);
      spans.set(spansOf(before.map((is, i) => (i >= Math.min(from, to) && i <= Math.max(from, to) ? !before[from] : is))));
    };
    const over = new AbortController();
    fill(event);
    addEventListener("pointermove", fill, over);
    addEventListener("pointerup", () => over.abort(), over);
    addEventListener("pointercancel", () => over.abort(), over);
  };
  return el("div.week-day", null,
    el("span", { "aria-hidden": "true" }, name),
    el("div.day-strip", { "aria-hidden": "true", onpointerdown: paint }, () => cellsOf(spans()).map((is) => el(is ? "i.open" : "i"))),
    el("input", {
      "aria-label": name, value: () => write(spans()), placeholder: text.closedAll, autocomplete: "off",
      "aria-invalid": () => (wrong() ? "true" : null),
      onchange: (/** @type {any} */ { target }) => spans.set(read(target.value)),
    }),
    () => wrong() && el("p.wrong", { role: "alert" }, wrong()));
}
