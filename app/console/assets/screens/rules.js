/** Rules: what happens by itself, in an order that can be changed, and ready-made rules to switch on. */
import { el, list, signal, when } from "../dom.js";
import { patch, post } from "../api.js";
import { button, chip, heading, icon, section } from "../parts/basics.js";
import { switchRow } from "../parts/form.js";
import { everyRow } from "../parts/lists.js";
import { toast, toastError } from "../parts/notices.js";
import { empty, loaded, resource } from "../parts/states.js";
import { link, navigate } from "../router.js";
import { ruleEditor } from "./rules/editor.js";
import { readNamed, sentenceOf } from "./rules/words.js";
import { rules as text } from "texts/rules.js";

const { away, welcome, close } = text.readyMade;

/** Rules that most teams want. */
const readyMade = [
  { name: away.name, on: "message_received", if: { hours: "closed" }, then: [{ reply: { text: away.reply } }] },
  { name: welcome.name, on: "message_received", if: { first_contact: true }, then: [{ reply: { text: welcome.reply } }] },
  { name: close, on: "conversation_idle", if: { idle_minutes: 14 * 24 * 60 }, then: [{ resolve: true }] },
];

/** doing is when a rule runs and what it does, but for its name and its words, which may be changed. @param {any} rule */
const doing = (rule) => JSON.stringify([rule.on, rule.if, rule.then.map((/** @type {any} */ action) => Object.keys(action))]);

/** @type {import("../router.js").Build} */
export default function rules({ params }) {
  return params.id ? ruleEditor(params.id) : allRules();
}

function allRules() {
  /** @type {import("../parts/states.js").Resource<any[]>} */
  const all = resource(async (signal) => {
    const rows = await everyRow("v1/rules", {}, Infinity, signal); // there are a hundred at most
    return moves.count > 0 ? all.data() ?? rows : rows;
  }, ["rule"]);
  const moves = { count: 0, stored: Promise.resolve() }; // while some are not stored, the list stays as it is here
  const known = resource(readNamed, ["label", "user", "quick_reply"]);
  const sentence = (/** @type {any} */ rule) => sentenceOf(rule, known.data() ?? { labels: [], people: [], replies: [] });
  const missing = () => readyMade.filter((one) => !all.data()?.some((/** @type {any} */ rule) => doing(rule) === doing(one)));

  const add = () => button(text.newOne, { icon: "plus", look: "primary", run: () => navigate("rules/new") });
  const body = el("div.page", null,
    heading(text.title, { lead: text.lead, actions: when(() => all.data()?.length, add) }),
    loaded(all, (rows) => [
      when(
        () => rows().length > 0,
        () => ruleList(all, sentence, moves),
        () => empty({ icon: "rules", title: text.none, body: text.noneBody, action: add() }),
      ),
      when(() => missing().length > 0, () => section(
        text.ready,
        { lead: [text.readyLead[0], el("a", { href: link("numbers") }, text.readyLead[1]), text.readyLead[2]] },
        el("div.ready-made", null, list(missing, (one) => one.name, (one) => el("div", null, readyMadeRow(one(), all, sentence))))),
      ),
    ]));
  return { title: text.title, body };
}

/**
 * @param {any} rule
 * @param {import("../parts/states.js").Resource<any[]>} all
 * @param {(rule: any) => string} sentence
 */
function readyMadeRow(rule, all, sentence) {
  const add = async (/** @type {HTMLInputElement} */ control) => {
    try {
      const made = await post("v1/rules", rule);
      all.set([...(all.data() ?? []), made]);
      toast(text.added);
    } catch (error) {
      control.checked = false;
      toastError(error);
    }
  };
  return switchRow(rule.name, () => false, (_, control) => void add(control), sentence(rule));
}

/**
 * ruleList shows the rules in their order: a row is dragged by its handle, or moved by its buttons.
 * @param {import("../parts/states.js").Resource<any[]>} all
 * @param {(rule: any) => string} sentence
 * @param {{ count: number, stored: Promise<void> }} moves
 */
function ruleList(all, sentence, moves) {
  const rows = () => all.data() ?? [];
  const said = signal(""); // where a rule is now, for those who do not see it
  const at = (/** @type {string} */ id) => rows().findIndex((one) => one.id === id);

  /** place puts a rule elsewhere, on the screen. @param {string} id @param {number} to */
  const place = (id, to) => {
    const rest = rows().filter((one) => one.id !== id);
    if (to >= 0 && to <= rest.length) all.set(rest.toSpliced(to, 0, rows()[at(id)]));
  };
  const store = (/** @type {any} */ { id, name }) => {
    said.set(text.place(name, at(id) + 1, rows().length));
    moves.stored = moves.stored.then(async () => { // of two at once the first could come last
      try {
        await post("v1/rules/reorder", { ids: rows().map((one) => one.id) });
      } catch (error) {
        toastError(error);
      }
      if (--moves.count === 0) all.reload();
    });
  };
  const turn = async (/** @type {any} */ rule, /** @type {HTMLInputElement} */ control) => {
    try {
      const changed = await patch("v1/rules/" + rule.id, { enabled: control.checked });
      all.set(rows().map((one) => (one.id === rule.id ? changed : one)));
    } catch (error) {
      control.checked = rule.enabled;
      toastError(error);
    }
  };

  const mover = (/** @type {() => any} */ rule, /** @type {number} */ by) => button(() => (by < 0 ? text.up : text.down)(rule().name), {
    icon: "down",
    look: "bare",
    iconOnly: true,
    "aria-disabled": () => !rows()[at(rule().id) + by],
    run() {
      if (!rows()[at(rule().id) + by]) return;
      moves.count++;
      place(rule().id, at(rule().id) + by);
      store(rule());
    },
  });
  return [
    el("ol.rules", { "aria-label": text.title }, list(rows, (one) => one.id, (rule) => el("li.rule", { "data-off": () => !rule().enabled },
      el("span.rule-handle", {
        "aria-hidden": "true",
        onpointerdown: (/** @type {PointerEvent} */ event) => {
          if (event.button !== 0) return;
          moves.count++;
          drag(event, (to) => place(rule().id, to), () => store(rule()));
        },
      }, icon("grip")),
      el("div.stack", null,
        el("a", { href: link("rules/" + rule().id), dir: "auto" }, () => rule().name),
        el("small", { dir: "auto" }, () => sentence(rule())),
        () => rule().disabled_reason && el("p", null, chip(text.reasons[/** @type {"label_gone"} */ (rule().disabled_reason)], "warn")),
        () => rule().stop && el("p", null, chip(text.stops, "quiet"))),
      el("span.rule-moves", null, mover(rule, -1), mover(rule, 1)),
      el("input.switch", {
        type: "checkbox",
        "aria-label": () => rule().name,
        checked: () => rule().enabled,
        onchange: (/** @type {any} */ event) => void turn(rule(), event.target),
      })))),
    el("p.unseen", { role: "status" }, said),
  ];
}

/**
 * drag lets a row follow the pointer: it goes below the rows whose middle the pointer has passed.
 * @param {PointerEvent} event
 * @param {(to: number) => void} place
 * @param {() => void} done
 */
function drag(event, place, done) {
  event.preventDefault(); // nothing is selected meanwhile
  const row = /** @type {HTMLElement} */ (/** @type {Element} */ (event.target).closest("li"));
  const others = () => [...(row.parentElement?.children ?? [])].filter((one) => one !== row).map((one) => one.getBoundingClientRect());
  const move = (/** @type {PointerEvent} */ { clientY }) => place(others().filter(({ top, bottom }) => (top + bottom) / 2 < clientY).length);
  const over = new AbortController();
  const end = () => {
    over.abort();
    delete row.dataset.dragged;
    done();
  };
  row.dataset.dragged = "";
  addEventListener("pointermove", move, over);
  addEventListener("pointerup", end, over);
  addEventListener("pointercancel", end, over);
}
