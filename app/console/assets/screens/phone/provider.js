/** The provider, played: how it behaves, what goes wrong, and what it was asked. */
import { el, list, signal, when } from "../../dom.js";
import { exact, msOf, now } from "../../format.js";
import { button, chip, copyable, wordOf } from "../../parts/basics.js";
import { menu } from "../../parts/menu.js";
import { sandbox } from "../../session.js";
import { quote } from "../log/curl.js";
import { act, keyOf, nameOf, select, sim } from "./sim.js";
import { provider as text } from "texts/phone.js";

/** @typedef {import("./sim.js").Sim} Sim */

/** @param {Sim} state */
export function provider(state) {
  const { person, business, settings } = state;
  const contact = () => `contacts/${encodeURIComponent(keyOf(person()))}/`;
  if (codes.peek().length === 0) sim("GET", "codes").then((all) => codes.set(all.data), () => {});
  return el("section.provider", { "aria-label": text.title },
    el("h2", null, text.title),
    el("p.quiet", null, text.lead),
    state.id && [
      toggle(text.window, () => business() && person().windows[business().phone_number_id] !== undefined,
        (open) => act("POST", contact() + "window", { open, phone_number_id: business()?.phone_number_id })),
      toggle(text.marketing, () => person().marketing === "resume",
        (on) => act("POST", contact() + "preferences", { marketing: on ? "resume" : "stop" })),
    ],
    toggle(text.autoRead, () => settings().auto_read, (on) => act("PATCH", "settings", { auto_read: on })),
    sandbox && clock(),
    faults(state),
    delays(state),
    templates(state),
    magicNumbers(),
    callLog(state));
}

/** clock moves the clock of the whole sandbox, and loads the page again. */
function clock() {
  const by = signal("25h");
  return group(text.clock,
    el("p", null, () => el("time", { datetime: new Date(now()).toISOString() }, exact.format(now()))),
    el("p.quiet", null, text.clockLead),
    choice(text.ahead, () => Object.entries(text.spans), by, by.set),
    button(text.move, { run: async () => (await act("POST", "clock", { advance: by() })) && location.reload() }));
}

/**
 * toggle is a switch that shows what the provider holds: it moves when that changed.
 * @param {string} name
 * @param {() => unknown} isOn
 * @param {(on: boolean) => Promise<boolean>} set
 * @param {string} [hint]
 */
function toggle(name, isOn, set, hint) {
  const shown = signal(0);
  const id = hint && "about-" + name;
  const onchange = async (/** @type {any} */ event) => {
    if (!(await set(event.target.checked))) shown.update((n) => n + 1); // back to what it was
  };
  return el("div.provider-toggle", null,
    el("label.switch-row", null, name, el("input.switch", {
      type: "checkbox",
      role: "switch",
      "aria-describedby": id,
      checked: () => shown() >= 0 && Boolean(isOn()),
      onchange,
    })),
    id && el("small", { id }, hint));
}

/**
 * choice is a combobox with its label.
 * @param {string} name
 * @param {() => string[][]} options
 * @param {() => string} value
 * @param {(value: string) => void} set
 */
const choice = (name, options, value, set) => el("label.provider-pick", null, el("span", null, name), select(options, value, set));

/** The codes of the provider, which stay the same. */
const codes = signal(/** @type {any[]} */ ([]));
const codeOptions = () => codes().map((one) => [String(one.code), `${one.code} ${one.title}`]);

/** @param {Sim} state */
function faults({ faults: known, person, id }) {
  const times = signal("1");
  const whom = signal("");
  const endpoint = signal("messages");
  const code = signal("131026");
  const set = async (/** @type {string} */ kind, /** @type {boolean} */ on) => {
    if (on) {
      const coded = kind === "error_code";
      const isLate = coded && endpoint() === "messages" && codes().find((one) => String(one.code) === code())?.async;
      return act("POST", "faults", { kind, times: Number(times()), endpoint: endpoint(), to: whom() || undefined,
        code: coded ? Number(code()) : undefined, async: isLate || undefined });
    }
    const mine = known().data.filter((/** @type {any} */ one) => one.kind === kind);
    return (await Promise.all(mine.map((/** @type {any} */ one) => act("DELETE", "faults/" + one.id)))).every(Boolean);
  };
  return group(text.faults,
    list(() => known().kinds, (kind) => kind.name, (kind) => toggle(kind().name,
      () => known().data.some((/** @type {any} */ one) => one.kind === kind().name), (on) => set(kind().name, on), kind().description)),
    el("div.provider-picks", null,
      choice(text.often, () => /** @type {const} */ ([1, 3, 0]).map((n) => [String(n), text.times[n]]), times, times.set),
      choice(text.whom, () => [["", text.everybody], ...(id ? [[keyOf(person()), nameOf(person())]] : [])], whom, whom.set),
      choice(text.calls, () => known().endpoints.map((/** @type {string} */ one) => [one, one]), endpoint, endpoint.set),
      choice(text.code, codeOptions, code, code.set)));
}

/** @param {Sim} state */
function delays({ settings }) {
  const field = (/** @type {string} */ name, /** @type {string} */ key) => el("label.provider-pick", null, el("span", null, name), el("input", {
    inputmode: "numeric",
    autocomplete: "off",
    placeholder: text.never,
    value: () => settings()[key] ?? "",
    onchange: (/** @type {any} */ { target }) => act("PATCH", "settings", { [key]: target.value === "" ? null : Number(target.value) }),
  }));
  const fields = [field(text.sent, "sent_ms"), field(text.delivered, "delivered_ms"), field(text.read, "read_ms")];
  return group(text.delays, el("div.provider-picks.provider-delays", null, fields));
}

/** @param {Sim} state */
function templates({ templates: all, settings }) {
  return group(text.templates,
    choice(text.verdict, () => Object.entries(text.verdicts), () => settings().template_verdict,
      (verdict) => act("PATCH", "settings", { template_verdict: verdict })),
    el("ul", null, list(all, (one) => one.id, (one) => {
      const review = button(text.review, { look: "bare" });
      menu(review, text.review, () => Object.entries(text.reviews).map(([status, name]) => ({
        name,
        run: () => act("POST", `templates/${one().id}/review`, { status }),
      })));
      const tone = () => ({ APPROVED: "good", PENDING: "warn" })[/** @type {string} */ (one().status)] ?? "bad";
      return el("li.provider-template", null, el("span", null, one().name, el("small", null, " " + one().language)),
        () => chip(wordOf(one().status.toLowerCase()), /** @type {any} */ (tone())), review);
    })));
}

function magicNumbers() {
  const code = signal("131026");
  return group(text.magic,
    el("p.quiet", null, text.magicLead),
    select(codeOptions, code, code.set, text.magic),
    () => {
      const chosen = codes().find((one) => String(one.code) === code());
      return chosen && el("p", null, copyable(chosen.phone_number, { name: text.magicNumber }), el("small", { dir: "auto" }, chosen.details));
    });
}

/** @param {Sim} state */
function callLog({ calls, base }) {
  return group(text.log,
    when(() => calls().length === 0, () => el("p.quiet", null, text.noCalls)),
    el("ol.provider-calls", null, list(calls, (one) => one.id, (one) => callRow(one(), base))));
}

/** @param {any} of @param {() => string} base */
function callRow(of, base) {
  const open = signal(false);
  const good = of.status >= 200 && of.status < 300;
  const target = of.direction === "given" ? of.path : base() + of.path;
  const token = of.direction === "asked" ? " -H \"Authorization: Bearer $ACCESS_TOKEN\"" : "";
  const curl = `curl -X ${of.method} ${quote(target)}${token}` +
    (of.request ? ` -H ${quote("Content-Type: " + of.content_type)} -d ${quote(of.request)}` : "");
  return el("li", null, el("details", { ontoggle: (/** @type {any} */ event) => open.set(event.target.open) },
    el("summary", null,
      chip(of.status ? String(of.status) : text.noAnswer, good ? "good" : "bad"),
      el("code", null, (of.direction === "given" ? "→ " : "") + of.method + " " + of.path),
      el("small", null, msOf(Math.round(of.duration_ms)))),
    when(open, () => [
      raw(text.request, of.request),
      raw(text.answer, of.response || of.error),
      copyable(curl, { name: text.curl, block: true }),
    ])));
}

/** @param {string} name @param {string} content */
const raw = (name, content) => content && [el("h4", null, name), el("pre", { tabindex: "0", "aria-label": name }, content)];

/** @param {string} title @param {...import("../../dom.js").Child} children */
const group = (title, ...children) => el("div.provider-group", { role: "group", "aria-label": title }, el("h3", null, title), children);
