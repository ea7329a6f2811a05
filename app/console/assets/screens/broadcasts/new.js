/** A new broadcast in three steps: what, to whom, when. */
import { computed, effect, el, signal, when } from "../../dom.js";
import { newKey, post } from "../../api.js";
import { plainNumber } from "../../format.js";
import { button, heading } from "../../parts/basics.js";
import { everyRow, ofNumber } from "../../parts/lists.js";
import { empty, loaded, problem, resource } from "../../parts/states.js";
import { templateForm } from "../../parts/template_form.js";
import { templatePreview } from "../../parts/template_preview.js";
import { toast, toastError } from "../../parts/notices.js";
import { link, navigate, query } from "../../router.js";
import { audienceStep, liveField } from "./audience.js";

const text = {
  title: "New broadcast",
  broadcasts: "Broadcasts",
  steps: ["Template", "Audience", "When"],
  name: {
    name: "name",
    label: "Name",
    hint: "For your team. People do not see it.",
    props: { maxlength: 200, dir: "auto", autocomplete: "off" },
  },
  template: { name: "template", label: "Template", type: "select" },
  choose: "Choose one",
  fieldsHint: "Write {{name}}, {{email}}, another field of a contact or a column of your file, and each person gets its own.",
  noTemplates: "No approved template",
  noTemplatesBody: "A broadcast needs a template that the provider has approved.",
  newTemplate: "New template",
  next: "Next",
  back: "Back",
  missing: "Give it a name, choose a template and fill in all of its fields.",
  when: {
    name: "when",
    label: "When",
    type: "radios",
    value: "now",
    options: [{ value: "now", label: "Now" }, { value: "later", label: "Later" }],
  },
  at: { name: "at", label: "Time", type: "datetime-local" },
  noTime: "Say when it starts.",
  test: "Test",
  testLead: "Send it to one number first and look at it there. Fields show their names.",
  to: { name: "to", label: "Phone number", type: "tel", props: { maxlength: 30, placeholder: "+15550001111" } },
  sendTest: "Send test",
  tested: (/** @type {string} */ to) => `Sent to ${to}`,
  start: "Start broadcast",
  schedule: "Schedule broadcast",
  busy: "One moment…",
  made: "The broadcast is on its way",
};

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
  const stepProblem = signal("");
  const name = signal("");
  const chosen = signal(/** @type {any} */ (null));
  const fields = computed(() => (chosen() ? templateForm(chosen()) : null));
  const audience = audienceStep(of, () => chosen()?.category === "MARKETING");
  const asked = query().get("template");
  effect(() => {
    if (!chosen() && asked) chosen.set(templates().find((one) => one.id === asked) ?? null);
  });

  const content = () => ({ name: chosen().name, language: chosen().language, components: fields()?.components() ?? [] });
  const go = (/** @type {number} */ to) => {
    const wrong = to > 0 && !(name().trim() && fields()?.filled()) ? text.missing : to > 1 ? audience.wrong() : "";
    stepProblem.set(wrong);
    if (!wrong) at.set(to);
  };
  const refuse = (/** @type {any} */ error) => {
    const isField = fields()?.refuse(error);
    if (isField) at.set(0);
    return isField;
  };
  const end = last(of, { name, content, audience, refuse });
  const part = (/** @type {number} */ i, /** @type {any[]} */ ...children) => el("section", { hidden: () => at() !== i, "aria-label": text.steps[i] }, children);

  return [
    el("ol.steps", null, text.steps.map((title, i) => el("li", { "aria-current": () => (at() === i ? "step" : null) }, title))),
    el("div.split", null,
      el("div.form.builder", { oninput: () => stepProblem.set("") },
        part(0, first(templates, name, chosen, fields)),
        part(1, audience.body),
        part(2, end.body),
        () => stepProblem() && el("p.wrong", { role: "alert" }, stepProblem()),
        el("div.form-end", null,
          when(() => at() > 0, () => button(text.back, { run: () => go(at() - 1) })),
          when(() => at() < 2, () => button(text.next, { look: "primary", run: () => go(at() + 1) }), () => end.start))),
      el("div.beside", null, () => chosen() && templatePreview(chosen(), () => fields()?.components()))),
  ];
}

/**
 * @param {() => any[]} templates
 * @param {import("../../dom.js").Signal<string>} name
 * @param {import("../../dom.js").Signal<any>} chosen
 * @param {() => ReturnType<typeof templateForm> | null} fields
 */
function first(templates, name, chosen, fields) {
  const known = templates().map((one) => ({ value: one.id, label: `${one.name} (${one.language})` }));
  const options = [{ value: "", label: text.choose }, ...known];
  const choose = (/** @type {string} */ id) => chosen.set(templates().find((one) => one.id === id) ?? null);
  return el("div.form", null,
    liveField(text.name, name.set),
    liveField({ ...text.template, options, value: chosen()?.id ?? "" }, choose),
    () => fields() && !fields()?.body.hidden && [fields()?.body, el("p.hint", null, text.fieldsHint)]);
}

/**
 * @param {string} of the number
 * @param {any} what
 */
function last(of, { name, content, audience, refuse }) {
  const later = signal(false);
  const at = signal("");
  const wrong = signal("");
  const busy = signal(false);
  const failure = signal(/** @type {unknown} */ (null));
  const idempotencyKey = newKey();

  const start = async () => {
    if (busy()) return;
    wrong.set(later() && !at() ? text.noTime : "");
    if (wrong()) return;
    busy.set(true);
    failure.set(null);
    const scheduled_at = later() ? new Date(at()).toISOString() : undefined;
    try {
      const body = audience.request({ name: name().trim(), template: content(), scheduled_at });
      const made = await post(`v1/${of}/broadcasts`, body, { idempotencyKey });
      toast(text.made);
      navigate("broadcasts/" + made.id, { replace: true });
    } catch (/** @type {any} */ error) {
      busy.set(false);
      if (error.param === "scheduled_at") wrong.set(error.message);
      else if (!refuse(error)) failure.set(error);
    }
  };
  const body = el("div.form", null,
    liveField(text.when, (chosen) => later.set(chosen === "later")),
    when(later, () => liveField(text.at, at.set, wrong)),
    testSend(of, content),
    () => failure() && problem(failure()));
  const words = () => (busy() ? text.busy : later() ? text.schedule : text.start);
  return { body, start: el("button.button.primary", { type: "button", "aria-disabled": () => busy(), onclick: start }, words) };
}

/**
 * @param {string} of the number
 * @param {() => any} content
 */
function testSend(of, content) {
  const to = signal("");
  const wrong = signal("");
  const send = async () => {
    const template = JSON.parse(JSON.stringify(content()).replace(/\{\{([^{}]*)\}\}/g, (_, name) => name.trim()));
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
    liveField(text.to, to.set, wrong),
    button(text.sendTest, { run: send }));
}
