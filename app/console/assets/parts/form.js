/** Forms: fields with labels and hints, and errors beside the field. */
import { effect, el, flush, signal } from "../dom.js";
import { APIError, newKey } from "../api.js";
import { button } from "./basics.js";
import { dialog, shown } from "./dialog.js";
import { problem } from "./states.js";
import { form as text } from "texts/parts.js";

/**
 * options are values with their labels, and hints, as the texts have them.
 * @param {Record<string, string | { label: string, hint: string }>} texts
 */
export const options = (texts) =>
  Object.entries(texts).map(([value, one]) => ({ value, ...(typeof one === "string" ? { label: one } : one) }));

let forms = 0;

/**
 * @typedef {object} Field
 * @property {string} name of the value, and of the error's param unless param is given
 * @property {string} label
 * @property {string} [type] of an input; "select"; "textarea"; "swatches": one of some colours; "checks": several of the options
 * @property {import("../dom.js").Child} [hint]
 * @property {string} [value]
 * @property {boolean} [required]
 * @property {boolean} [optional] says so
 * @property {string} [param]
 * @property {{ value: string, label: string, hint?: string }[]} [options] of a select, of radios and of swatches
 * @property {import("../dom.js").Props} [props] more, for the control
 * @property {boolean} [unseen] only for what fills in passwords
 * @property {string} [role] of a group of choices; group unless it says otherwise
 * @property {() => boolean} [isShown] whether it is shown; always unless it says otherwise
 */

/**
 * @typedef {object} FormOptions
 * @property {Field[]} fields
 * @property {any} [values] the first values of the fields, by their names
 * @property {() => any} [follows] the same as it changes: untouched fields follow it, and are not sent; where all are untouched, nothing is
 * @property {null} [blank] what an empty field is sent as; else it is left out
 * @property {string} submit what the button says
 * @property {string} [busy] what it says meanwhile
 * @property {(values: any, once: { idempotencyKey: string }) => Promise<any>} send
 * @property {(result: any, form?: any) => void} [done]
 */

/**
 * form builds a form. send gets the values by their names, and what makes of several tries one;
 * what it throws is shown: an error that names a field at that field, any other above the
 * buttons. done is called with what send returned.
 * @param {FormOptions & { cancel?: () => void }} options
 * @returns {HTMLFormElement}
 */
export function form({ fields, values: before, follows, blank, submit, busy: busyText = text.saving, send, done, cancel }) {
  const id = "form-" + ++forms;
  const once = { idempotencyKey: newKey() };
  const busy = signal(false);
  const dirty = signal(false); // until then the button of a page's form is quiet
  const failure = signal(/** @type {unknown} */ (null));
  const wrong = signal(/** @type {Record<string, string>} */ ({}));

  /** @type {HTMLFormElement} */
  const node = el("form.form.tracked", { novalidate: true, onsubmit: run, oninput: () => dirty.set(true), "data-dirty": () => dirty() },
    fields.map((field) => fieldRow({ value: before?.[field.name], ...field }, `${id}-${field.name}`, () => wrong()[field.name] ?? "")),
    () => failure() !== null && problem(failure()),
    el("div.form-end", null,
      cancel && button(text.cancel, { run: cancel }),
      el("button.button.primary", { type: "submit", "aria-disabled": () => busy() }, () => (busy() ? busyText : submit))));

  /** control is the field of a name; radios are one, and have one value. @param {string} name */
  const control = (name) => /** @type {any} */ (node.elements.namedItem(name));
  /** What the fields were filled with. @type {Record<string, string | null>} */
  const filled = { ...before };
  const isTouched = (/** @type {string} */ name) => control(name).value !== (filled[name] ?? "");
  const fill = () => {
    const now = follows?.();
    for (const { name } of fields) if (now && !isTouched(name)) control(name).value = filled[name] = now[name] ?? "";
  };
  effect(fill);

  async function run() {
    if (busy()) return;
    const values = read();
    failure.set(null);
    if (refuse(missing(values))) return;

    busy.set(true);
    try {
      const result = follows && Object.keys(values).length === 0 ? follows() : await send(values, once);
      busy.set(false);
      dirty.set(false);
      wrong.set({});
      done?.(result, node);
      Object.assign(filled, values);
      fill();
    } catch (error) {
      busy.set(false);
      const param = error instanceof APIError && error.param?.split(/[.[]/)[0];
      const field = param && (fields.find((one) => one.param === error.param)
        ?? fields.find((one) => (one.param ?? one.name).split(".")[0] === param));
      if (field) refuse({ [field.name]: sentence(/** @type {APIError} */ (error), field) });
      else {
        if (!(error instanceof APIError)) reportError(error);
        failure.set(error);
      }
    }
  }

  function read() {
    const data = new FormData(node);
    return Object.fromEntries(fields.filter(({ name }) => !follows || isTouched(name)).map(({ name }) => {
      const value = data.getAll(name).join(",");
      return [name, value.trim() ? value : blank];
    }));
  }

  /** @param {Record<string, string | null | undefined>} values */
  function missing(values) {
    const empty = fields.filter((one) => one.required && one.name in values && !values[one.name]);
    return Object.fromEntries(empty.map((one) => [one.name, text.required]));
  }

  /**
   * refuse shows errors, and goes to the first such field. It reports whether
   * there is one.
   * @param {Record<string, string>} problems
   */
  function refuse(problems) {
    wrong.set(problems);
    flush();
    const first = fields.find((one) => problems[one.name]);
    if (first) /** @type {HTMLElement | null} */ (node.querySelector(`[name="${first.name}"]`))?.focus();
    return first !== undefined;
  }

  return node;
}

/**
 * formDialog is a form in a dialog, which closes when it is sent, and returns what was made. With
 * shows it stays, and shows what cannot be seen again.
 * @param {string} title
 * @param {FormOptions & { lead?: string, shows?: (made: any) => import("../dom.js").Child }} options
 * @param {Parameters<typeof dialog>[2]} [look]
 * @returns {Promise<any>}
 */
export function formDialog(title, { lead, shows, done, ...options }, look = shows && { lasting: true, wide: true }) {
  return dialog(title, (/** @type {(made?: any) => void} */ close) => {
    const finish = (/** @type {any} */ made) => {
      if (shows) {
        place.replaceChildren(shown(close, shows(made)));
        return place.querySelector("button").focus();
      }
      close(made);
      done?.(made);
    };
    const place = el("div", null, lead && el("p.lead", null, lead), form({ ...options, done: finish, cancel: () => close() }));
    return place;
  }, look);
}

/**
 * switchRow is a switch with its name, and a hint. set gets what was chosen, and the switch.
 * @param {string} name
 * @param {() => unknown} isOn
 * @param {(on: boolean, control: HTMLInputElement) => void} set
 * @param {string} [hint]
 * @param {string} [role] checkbox unless it says otherwise
 */
export function switchRow(name, isOn, set, hint, role) {
  const id = hint ? "switch-" + ++forms : null;
  return [
    el("label.switch-row", null,
      el("input.switch", {
        type: "checkbox",
        role,
        "aria-describedby": id,
        checked: isOn,
        onchange: (/** @type {any} */ { target }) => set(target.checked, target),
      }),
      el("span", null, name)),
    id && el("p.hint", { id }, hint),
  ];
}

/**
 * sentence makes what the server says of a field a sentence about its label.
 * @param {APIError} error
 * @param {Field} field
 */
function sentence(error, field) {
  const param = error.param ?? "";
  return error.message.startsWith(param + " ") ? field.label + error.message.slice(param.length) : error.message;
}

/**
 * fieldRow is a field with its label, its hint and its error.
 * @param {Field} field
 * @param {string} id
 * @param {() => string} wrong
 */
export function fieldRow(field, id, wrong) {
  if (field.unseen) return el("input", { hidden: true, name: field.name, value: field.value, ...field.props });

  const { isShown } = field;
  const described = () => [field.hint && id + "-hint", wrong() && id + "-wrong"].filter(Boolean).join(" ") || null;
  const common = { name: field.name, "aria-describedby": described, "aria-invalid": () => (wrong() ? "true" : null), ...field.props };
  const below = [
    field.hint && el("p.hint", { id: id + "-hint" }, field.hint),
    () => wrong() && el("p.wrong", { id: id + "-wrong" }, wrong()),
  ];

  if (field.type === "radios" || field.type === "swatches" || field.type === "checks") {
    const { "aria-describedby": _, "aria-invalid": __, ...own } = common;
    const { role } = field;
    // A hint describes a choice, and is no part of its name.
    return el("fieldset.field." + field.type, { role, hidden: isShown && (() => !isShown()), "aria-describedby": described },
      el("legend.label", null, field.label),
      el("div.choices", null, (field.options ?? []).map((one, i) => el("label.choice", { title: field.type === "swatches" ? one.label : null },
        el("input", {
          ...own,
          "aria-describedby": one.hint && `${id}-${i}-hint`,
          type: field.type === "checks" ? "checkbox" : "radio",
          class: field.type === "swatches" ? "label-" + one.value : null,
          value: one.value,
          checked: field.type === "checks" ? field.value?.split(",").includes(one.value) : one.value === field.value,
        }),
        el(field.type === "swatches" ? "span.unseen" : "span", null, one.label,
          one.hint && el("small", { id: `${id}-${i}-hint`, "aria-hidden": "true" }, one.hint))))),
      below);
  }

  const label = el("label.label", { for: id },
    field.label,
    field.optional && el("span.optional", { "aria-hidden": "true" }, text.optional),
  );
  const control = field.type === "select"
    ? el("select", { id, ...common, value: field.value ?? field.options?.[0]?.value },
      (field.options ?? []).map((one) => el("option", { value: one.value }, one.label)),
    )
    : el(field.type === "textarea" ? "textarea" : "input", {
      id,
      type: field.type === "textarea" ? null : field.type ?? "text",
      value: field.value ?? "",
      "aria-required": field.required ? "true" : null,
      ...common,
    });
  return el("div.field", { hidden: isShown && (() => !isShown()) }, label, control, below);
}
