/** A new broadcast in four steps: what, to whom, when, and a last look at it. */
import { computed, effect, el, flush, signal, when } from "../../dom.js";
import { newKey, post } from "../../api.js";
import { exact, plainNumber } from "../../format.js";
import { button, heading } from "../../parts/basics.js";
import { options } from "../../parts/form.js";
import { everyRow, ofNumber } from "../../parts/lists.js";
import { headerFile } from "../../parts/header_file.js";
import { empty, loaded, problem, resource } from "../../parts/states.js";
import { templateForm } from "../../parts/template_form.js";
import { templatePreview } from "../../parts/template_preview.js";
import { toast, toastError } from "../../parts/notices.js";
import { link, navigate, query } from "../../router.js";
import { accountName, numbers, presentTime } from "../../session.js";
import { audienceStep, liveField } from "./audience.js";
import { review } from "./review.js";
import { newBroadcast as text } from "texts/broadcasts.js";

/** @type {() => import("../../router.js").Screen} */
export function newBroadcast() {
  return {
    title: text.title,
    body: el("div.page", null,
      heading(text.title, { crumb: el("a", { href: link("broadcasts") }, text.broadcasts) }),
      ofNumber((of) => {
        const all = resource((signal) => everyRow(`v1/${of}/templates`, { status: "approved" }, 6000, signal), ["template"]);
        return loaded(all, (rows) => when(() => rows().length === 0, noTemplates, () => steps(of, rows)));
      })),
  };
}

const noTemplates = () => empty({
  icon: "templates",
  title: text.noTemplates,
  body: text.noTemplatesBody,
  action: button(text.newTemplate, { look: "primary", run: () => navigate("templates/new") }),
});

/**
 * @param {string} of the number
 * @param {() => any[]} templates
 */
function steps(of, templates) {
  const at = signal(0);
  const what = first(of, templates);
  const draft = () => ({ name: what.name().trim(), template: what.content() });
  const audience = audienceStep(of, draft);
  const time = timeStep(of, what.content);
  const checks = [what.isWrong, audience.isWrong, time.isWrong];

  /** go leads to a step, or to the first before it that needs something. @param {number} to */
  async function go(to) {
    for (let i = 0; i < to; i++) if (await checks[i]()) return show(i);
    if (to === 1 || to === 3) audience.count(); // the template may be another
    show(to);
  }

  /** @param {number} step */
  function show(step) {
    const moved = at() !== step;
    at.set(step);
    flush();
    const part = /** @type {HTMLElement} */ (place.children[step]);
    const wrong = /** @type {HTMLElement | null} */ (part.querySelector("[aria-invalid=true]"));
    if (wrong) wrong.focus();
    else if (moved) part.focus();
  }

  const refuse = (/** @type {any} */ error) => {
    const step = [what, audience, time].findIndex((one) => one.refuse(error));
    if (step >= 0) show(step);
    return step >= 0;
  };
  const from = () => accountName(numbers().find((one) => one.phone_number_id === of));
  const facts = () => [what.name().trim(), from(), what.chosen() ? titleOf(what.chosen()) : "", audience.who(), time.words()];
  const request = () => audience.request({ ...draft(), scheduled_at: time.at() });
  const start = startButton(of, request, { refuse, later: time.later, forecast: audience.forecast });
  const bodies = [
    what.body,
    audience.body,
    time.body,
    [review({ ...audience, facts, template: what.chosen, shown: what.shown, go: show }), start.problem],
  ];
  const part = (/** @type {any} */ body, /** @type {number} */ i) =>
    el("section", { hidden: () => at() !== i, "aria-label": text.steps[i], tabindex: "-1" }, body);
  const place = el("div", null, bodies.map(part));

  return [
    el("ol.steps", null, text.steps.map((title, i) => el("li", { "aria-current": () => (at() === i ? "step" : null) }, title))),
    el("div", { class: () => (at() === 3 ? "" : "split") },
      el("div.form.builder", { "data-dirty": "true", class: () => (at() === 3 ? "form builder wide" : "form builder") },
        place,
        el("div.form-end", null,
          when(() => at() > 0, () => button(text.back, { run: () => show(at() - 1) })),
          when(() => at() < 3, () => button(text.next, { look: "primary", run: () => go(at() + 1) }), () => start.button))),
      el("div.beside", { hidden: () => at() === 3 }, () => what.chosen() && templatePreview(what.chosen(), what.preview))),
  ];
}

/** @param {any} template */
const titleOf = (template) => `${template.name} (${template.language})`;

/**
 * first is the step of the name, the template and what it leaves open.
 * @param {string} of the number
 * @param {() => any[]} templates
 */
function first(of, templates) {
  const name = signal("");
  const chosen = signal(/** @type {any} */ (null));
  const wrongName = signal("");
  const wrongTemplate = signal("");
  const fields = computed(() => {
    const file = chosen() && headerFile(of);
    return file && { ...templateForm(chosen(), file.upload), file };
  });
  const asked = query().get("template");
  effect(() => {
    if (!chosen() && asked) chosen.set(templates().find((one) => one.id === asked) ?? null);
  });

  const known = [{ value: "", label: text.choose }, ...templates().map((one) => ({ value: one.id, label: titleOf(one) }))];
  const choose = (/** @type {string} */ id) => {
    wrongTemplate.set("");
    chosen.set(templates().find((one) => one.id === id) ?? null);
  };
  const type = (/** @type {string} */ typed) => {
    wrongName.set("");
    name.set(typed);
  };
  const shown = (/** @type {any[]} */ components) => fields()?.file.shown(components) ?? components;
  return {
    name,
    chosen,
    shown,
    preview: () => shown(fields()?.components() ?? []),
    content: () => ({ name: chosen().name, language: chosen().language, components: fields()?.components() ?? [] }),
    body: el("div.form", null,
      liveField({ name: "name", ...text.name, props: { maxlength: 200, dir: "auto", autocomplete: "off" } }, type, wrongName),
      liveField({
        name: "template", label: text.template, type: "select", options: known, value: chosen()?.id ?? "",
      }, choose, wrongTemplate),
      () => fields() && !fields()?.body.hidden && [
        fields()?.body, fields()?.body.querySelector("input[type=text]") && el("p.hint", null, text.fieldsHint),
      ]),
    isWrong() {
      wrongName.set(name().trim() ? "" : text.noName);
      wrongTemplate.set(chosen() ? "" : text.noTemplate);
      const lacks = fields()?.lacks() ?? false;
      return Boolean(wrongName() || wrongTemplate() || lacks);
    },
    /** @param {any} error */
    refuse(error) {
      if (error?.param === "name") wrongName.set(error.message);
      else if (fields()?.refuse(error)) return true;
      else if (error?.param?.startsWith("template")) wrongTemplate.set(error.message);
      else return false;
      return true;
    },
  };
}

/**
 * timeStep is the step of the time, and of a test before it.
 * @param {string} of the number
 * @param {() => any} content
 */
function timeStep(of, content) {
  const later = signal(false);
  const typed = signal("");
  const wrong = signal("");
  return {
    later,
    at: () => (later() ? new Date(typed()).toISOString() : undefined),
    words: () => (later() && typed() ? exact.format(new Date(typed())) : text.now),
    body: el("div.form", null,
      liveField({ name: "when", label: text.when, type: "radios", value: "now", options: options(text.times) },
        (chosen) => later.set(chosen === "later")),
      when(later, () => liveField({ name: "at", label: text.at, type: "datetime-local", value: typed.peek() }, (value) => {
        wrong.set("");
        typed.set(value);
      }, wrong)),
      testSend(of, content)),
    isWrong() {
      wrong.set(later() && !typed() ? text.noTime : later() && new Date(typed()).getTime() < presentTime() ? text.past : "");
      return wrong() !== "";
    },
    /** @param {any} error */
    refuse(error) {
      if (error?.param !== "scheduled_at") return false;
      wrong.set(error.message);
      return true;
    },
  };
}

/**
 * startButton makes the broadcast. problem is what went wrong with it as a whole.
 * @param {string} of the number
 * @param {() => any} request
 * @param {{ refuse: (error: any) => boolean, later: () => boolean, forecast: () => any }} more
 */
function startButton(of, request, { refuse, later, forecast }) {
  const busy = signal(false);
  const failure = signal(/** @type {unknown} */ (null));
  const nobody = signal(false);
  const idempotencyKey = newKey();
  const start = async () => {
    nobody.set(forecast()?.will_send === 0);
    if (busy() || nobody()) return;
    busy.set(true);
    failure.set(null);
    try {
      const made = await post(`v1/${of}/broadcasts`, request(), { idempotencyKey });
      toast(text.made);
      navigate("broadcasts/" + made.id, { replace: true });
    } catch (error) {
      busy.set(false);
      if (!refuse(error)) failure.set(error);
    }
  };
  const words = () => (busy() ? text.busy : later() ? text.schedule : text.start);
  return {
    button: el("button.button.primary", { type: "button", "aria-disabled": () => busy(), onclick: start }, words),
    problem: [
      () => failure() && problem(failure()),
      () => nobody() && forecast()?.will_send === 0 && el("p.wrong", { role: "alert" }, text.nobody),
    ],
  };
}

/**
 * @param {string} of the number
 * @param {() => any} content
 */
function testSend(of, content) {
  const to = signal("");
  const wrong = signal("");
  const send = async () => {
    const shown = (/** @type {string} */ _, /** @type {string} */ name, /** @type {string} */ fallback) => fallback.trim() || name.trim();
    const template = JSON.parse(JSON.stringify(content()).replace(/\{\{([^{}|]*)\|?([^{}]*)\}\}/g, shown));
    wrong.set("");
    try {
      const body = { messaging_product: "chat", to: plainNumber(to()), type: "template", template };
      await post(`v1/${of}/messages`, body, { idempotencyKey: newKey() });
      toast(text.tested(to().trim()));
    } catch (/** @type {any} */ error) {
      if (error.param === "to") wrong.set(error.message);
      else toastError(error);
    }
  };
  return el("fieldset.group", null,
    el("legend.label", null, text.test), el("p.hint", null, text.testLead),
    liveField({ name: "to", label: text.to, type: "tel", props: { maxlength: 30, placeholder: "+15550001111" } }, to.set, wrong),
    button(text.sendTest, { run: send }));
}
