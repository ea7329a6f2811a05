/** Templates: one is chosen, its parameters are filled in, and what the person will see is shown meanwhile. */
import { computed, el, list, signal } from "../../dom.js";
import { get } from "../../api.js";
import { button, chip, upper } from "../../parts/basics.js";
import { dialog } from "../../parts/dialog.js";
import { headerFile } from "../../parts/header_file.js";
import { everyRow } from "../../parts/lists.js";
import { empty, loaded, resource } from "../../parts/states.js";
import { templateForm } from "../../parts/template_form.js";
import { templatePreview } from "../../parts/template_preview.js";
import { link } from "../../router.js";
import { recipient } from "./conversations.js";
import { reason } from "./message.js";
import { send } from "./outbox.js";
import { templates as text } from "texts/composer.js";

/** @param {any} at */
export function pickTemplate(at) {
  dialog(text.choose, (close) => {
    const chosen = signal(/** @type {any} */ (null));
    const all = resource((signal) => everyRow(`v1/${at.number}/templates`, {}, 1000, signal), ["template"]);
    const { id } = at.conversation().contact;
    const refusals = resource((signal) => get(at.number + "/sending", { signal, query: { contact_id: id } }), ["contact"]);
    const refused = () => refusals.data()?.[chosen()?.category === "MARKETING" ? "marketing" : "template"];
    return [
      () => refused() && refusalNotice(refused()),
      () => (chosen()
        ? fillIn(at, chosen(), { back: () => chosen.set(null), close, refused })
        : loaded(all, (rows) => choice(rows, chosen.set))),
    ];
  }, { wide: true, lasting: true });
}

/** refusalNotice says why the person gets no such template. @param {{ code: string, message: string }} refused */
function refusalNotice(refused) {
  return el("p.notice", { role: "status" }, upper(reason(refused)) + ".");
}

/** @param {() => any[]} rows @param {(one: any) => void} choose */
function choice(rows, choose) {
  const typed = signal("");
  const fits = (/** @type {any} */ one) => `${one.name} ${one.content}`.toLowerCase().includes(typed().toLowerCase());
  const fitting = computed(() => rows().filter(fits).slice(0, 100));
  if (rows().length === 0) return empty({
    icon: "templates",
    title: text.none,
    body: text.noneBody,
    action: el("a.button", { href: link("templates") }, text.make),
  });
  return el("div.form", null,
    el("input",
      {
        type: "search",
        "aria-label": text.search,
        placeholder: text.search,
        autofocus: true,
        oninput: (/** @type {any} */ event) => typed.set(event.target.value),
      },
    ),
    el("ul.template-list", { "aria-label": text.list, role: "list" }, list(fitting, (one) => one.id, (one) => el("li", null,
      el("button", { type: "button", "aria-describedby": "template-" + one().id, onclick: () => choose(one()) }, one().name),
      el("span", { id: "template-" + one().id }, chip(one().language, "quiet"), " ", el("span", { dir: "auto" }, one().content))))));
}

/**
 * fillIn shows a form with what the template leaves open, and above it what becomes of it.
 * @param {any} at
 * @param {any} template
 * @param {{ back: () => void, close: () => void, refused: () => unknown }} more refused: why it cannot be sent
 */
function fillIn(at, template, { back, close, refused }) {
  const fields = templateForm(template, headerFile(at.number, text.file).upload);
  const submit = () => {
    if (refused() || fields.lacks()) return;
    const components = fields.components();
    const { name, language } = template;
    send(at.number, at.id, {
      ...recipient(at.conversation().contact),
      type: "template",
      template: { name, language, ...(components.length && { components }) },
    });
    close();
    at.toNewest();
  };
  return el("form.fill-in", { novalidate: true, onsubmit: submit },
    el("p", null,
      el("b", { dir: "auto" }, template.name), " ", chip(template.language, "quiet"), " ", button(text.back, { look: "bare", run: back }),
    ),
    templatePreview(template, fields.components),
    fields.body,
    el("div.form-end", null, el("button.button.primary", { type: "submit", "aria-disabled": () => Boolean(refused()) }, text.send)));
}
