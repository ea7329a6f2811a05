/** Whom a broadcast goes to: people with a label, the lines of a file, or numbers that one types. */
import { el, onDispose, signal, when } from "../../dom.js";
import { post } from "../../api.js";
import { plainNumber } from "../../format.js";
import { fieldRow, options } from "../../parts/form.js";
import { allLabels } from "../../parts/lists.js";
import { problem } from "../../parts/states.js";
import { isPhoneColumn, readHead, renamed } from "../contacts/csv.js";
import { audienceSize } from "./forecast.js";
import { audience as text } from "texts/broadcasts.js";

/** @typedef {"label" | "file" | "numbers"} Kind */

/**
 * liveField is a field of a broadcast, which passes on the typed or chosen value.
 * @param {import("../../parts/form.js").Field} field
 * @param {(value: string, control: any) => void} set
 * @param {() => string} [wrong]
 */
export function liveField(field, set, wrong = () => "") {
  const pass = (/** @type {any} */ { target }) => set(target.value, target);
  return fieldRow({ ...field, props: { ...field.props, oninput: pass, onchange: pass } }, "broadcast-" + field.name, wrong);
}

/**
 * audienceStep is the fields, what the server says of whom they name, and the body of the
 * request.
 * @param {string} of the number
 * @param {() => any} draft the broadcast without its recipients
 */
export function audienceStep(of, draft) {
  const kind = signal(/** @type {Kind} */ ("label"));
  const label = signal("");
  const typed = signal("");
  const file = signal(/** @type {File | null} */ (null));
  const wrong = signal("");
  const forecast = signal(/** @type {any} */ (null));
  const failure = signal(/** @type {unknown} */ (null));
  const counting = signal(false);
  const labels = allLabels();
  let running = new AbortController();
  let timer = 0; // of a count that waits until the typing pauses
  let counted = Promise.resolve();
  onDispose(() => running.abort());

  const lines = () => typed().split(/[\n,;]+/).map(plainNumber).filter(Boolean);
  const isChosen = () => ({ label: label() !== "", file: file() !== null, numbers: lines().length > 0 })[kind()];

  /** @param {any} broadcast */
  function request(broadcast) {
    if (kind() === "label") return { ...broadcast, audience: { label_id: label() } };
    if (kind() === "numbers") return { ...broadcast, audience: { recipients: lines().map((to) => ({ to })) } };
    const form = new FormData();
    form.set("broadcast", JSON.stringify(broadcast));
    form.set("recipients", /** @type {File} */ (file()));
    return form;
  }

  async function ask(/** @type {AbortSignal} */ signal) {
    try {
      const found = await post(of + "/broadcasts/forecast", request(draft()), { signal });
      if (signal.aborted) return;
      forecast.set(found);
      if (found.total === 0) wrong.set(text.noRecipients[kind()]);
    } catch (/** @type {any} */ error) {
      if (!signal.aborted && !refuse(error)) failure.set(error);
    } finally {
      if (!signal.aborted) counting.set(false);
    }
  }

  /** count asks the server again what would happen. */
  function count() {
    running.abort();
    running = new AbortController();
    clearTimeout(timer);
    timer = 0;
    wrong.set("");
    forecast.set(null);
    failure.set(null);
    const bad = kind() === "numbers" && lines().find((one) => !isPhone(one));
    if (bad) wrong.set(text.bad(bad));
    counting.set(!bad && isChosen());
    return (counted = counting() ? ask(running.signal) : Promise.resolve());
  }

  /** refuse shows an error of the API here, and reports whether it belongs here. @param {any} error */
  function refuse(error) {
    if (!/^(audience|recipients)/.test(error?.param ?? "") && error?.code !== "resource_not_found") return false;
    wrong.set(error.message);
    return true;
  }

  /** @param {File | undefined} chosen */
  async function chooseFile(chosen) {
    file.set(null);
    const named = chosen && (await withPhoneColumn(chosen));
    if (named) file.set(named);
    count();
    if (chosen && !named) wrong.set(text.column);
  }

  const known = () => [{ value: "", label: text.choose }, ...labels().map((one) => ({ value: one.id, label: one.name }))];
  const type = (/** @type {string} */ written) => {
    if (written === typed()) return;
    typed.set(written);
    clearTimeout(timer);
    timer = setTimeout(count, 300);
  };
  onDispose(() => clearTimeout(timer));
  const choose = (/** @type {string} */ chosen) => {
    kind.set(/** @type {Kind} */ (chosen));
    file.set(null); // the browser forgets which it was
    count();
  };

  const body = el("div.form", null,
    liveField({ name: "kind", label: text.kind, type: "radios", value: "label", options: options(text.kinds) }, choose),
    when(() => kind() === "label", () => () => liveField({
      name: "label", label: text.label, type: "select", options: known(), value: label.peek(),
    }, (id) => {
      if (id === label()) return;
      label.set(id);
      count();
    }, wrong)),
    when(() => kind() === "file", () => liveField({
      name: "file", label: text.file, type: "file", props: { accept: ".csv,text/csv" },
    }, (_, { files }) => chooseFile(files[0]), wrong)),
    when(() => kind() === "numbers", () => liveField({
      name: "numbers", label: text.numbers, type: "textarea", props: { rows: 6 }, value: typed.peek(),
    }, type, wrong)),
    () => counting() && el("p.hint", { role: "status" }, text.counting),
    () => forecast() && !wrong() && audienceSize(forecast()),
    () => failure() && problem(failure()));

  return {
    body,
    forecast,
    counting,
    count,
    request,
    refuse,
    /** who are they, in words. */
    who: () => ({
      label: text.labelled(labels().find((one) => one.id === label())?.name ?? ""),
      file: file()?.name ?? "",
      numbers: text.listed(lines().length),
    })[kind()],
    /** isWrong waits for the count, and reports whether there is nobody to send it to. */
    async isWrong() {
      if (timer) count();
      await counted;
      if (!wrong() && !isChosen()) wrong.set(text.none[kind()]);
      return Boolean(wrong() || failure());
    },
  };
}

/** @param {string} value */
const isPhone = (value) => /^\+?[1-9]\d{6,14}$/.test(value);

/**
 * withPhoneColumn is a file whose column of numbers has the name that the API knows; null for
 * one that has none.
 * @param {File} file
 */
async function withPhoneColumn(file) {
  const head = await readHead(file);
  const names = head.records[0] ?? [];
  const known = names.map((name) => name.trim().toLowerCase());
  const column = ["phone_number", "to"].map((name) => known.indexOf(name)).find((i) => i >= 0) ?? names.findIndex(isPhoneColumn);
  return column < 0 ? null : renamed(file, head, names.with(column, "phone_number"));
}
