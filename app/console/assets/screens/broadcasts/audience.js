/** Whom a broadcast goes to: people with a label, the lines of a file, or numbers that one types. */
import { el, signal, when } from "../../dom.js";
import { get } from "../../api.js";
import { count, plainNumber } from "../../format.js";
import { fieldRow } from "../../parts/form.js";
import { allLabels } from "../../parts/lists.js";
import { isPhoneColumn, parseHead, readHead, renamed } from "../contacts/csv.js";

const text = {
  kinds: {
    name: "kind",
    label: "To",
    type: "radios",
    value: "label",
    options: [
      { value: "label", label: "Everybody with a label" },
      {
        value: "file",
        label: "The lines of a CSV file",
        hint: "As a spreadsheet saves it. One column has phone numbers; the others are fields.",
      },
      { value: "numbers", label: "These numbers", hint: "One a line, 10,000 at most." },
    ],
  },
  label: "Label",
  choose: "Choose one",
  file: { name: "file", label: "CSV file", type: "file", props: { accept: ".csv,text/csv" } },
  numbers: { name: "numbers", label: "Numbers", type: "textarea", props: { rows: 6 } },
  size: (/** @type {number} */ n, /** @type {boolean} */ more) => `${more ? "More than " : ""}${count(n)} ${n === 1 ? "person" : "people"}`,
  skipped: "Will be skipped:",
  reasons: {
    opted_out: "stopped marketing messages",
    no_consent: "did not agree to be written to",
    unreachable: "without a phone number",
    invalid: "without a valid phone number",
    repeated: "there twice",
  },
  large: "The file is too large to be looked through here: it is checked when the broadcast is made.",
  column: "No column of the file is called phone number. Rename the one that has them.",
  format: "None of these is a phone number. Write each with its country code: +15550001111.",
  bad: (/** @type {string} */ line) => `“${line}” is no phone number.`,
  none: "Choose whom it goes to.",
  counting: "One moment: they are being counted.",
  noRecipients: "Nobody is there to send it to.",
};

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

/** How much of a file is looked through in the browser. */
const mostBytes = 8 << 20;

/** @typedef {{ total: number, more?: boolean, note?: string, wrong?: string, skipped: Record<string, number>, file?: File }} Size */

/**
 * audienceStep is the fields, their errors, and the body of the request.
 * @param {string} of the number
 * @param {() => boolean} isMarketing
 */
export function audienceStep(of, isMarketing) {
  const kind = signal("label");
  const label = signal("");
  const typed = signal("");
  const size = signal(/** @type {Size | null} */ (null));
  const labels = allLabels();

  /** The count, unless nothing is chosen. @type {Promise<Size> | Size | "" | undefined} */
  let counted;
  const measure = async (/** @type {typeof counted} */ chosen) => {
    counted = chosen;
    size.set(null);
    const found = await Promise.resolve(chosen).catch((error) => ({ total: 0, wrong: error.message, skipped: {} }));
    if (counted === chosen) size.set(found || null);
  };
  const chooseLabel = (/** @type {string} */ id) => {
    label.set(id);
    measure(id && get(of + "/audience", { query: { label_id: id } }).then((found) => ({ ...found, more: found.capped, skipped: found })));
  };
  const lines = () => typed().split(/[\n,;]+/).map(plainNumber).filter(Boolean);
  const type = (/** @type {string} */ written) => {
    typed.set(written);
    const bad = lines().find((one) => !isPhone(one));
    measure(bad ? { total: 0, wrong: text.bad(bad), skipped: {} } : lines().length > 0 ? sizeOf(lines()) : "");
  };

  const body = el("div.form", null,
    liveField(text.kinds, (chosen) => {
      kind.set(chosen);
      if (chosen === "label") chooseLabel(label());
      else if (chosen === "numbers") type(typed());
      else measure(""); // the browser forgets which file it was
    }),
    when(() => kind() === "label", () => el("label.field", null,
      el("span.label", null, text.label),
      () => el("select", { onchange: (/** @type {any} */ event) => chooseLabel(event.target.value), value: label.peek() },
        [{ id: "", name: text.choose }, ...labels()].map((one) => el("option", { value: one.id }, one.name))))),
    when(() => kind() === "file", () => liveField(text.file, (_, { files: [chosen] }) => measure(chosen && fileSize(chosen)))),
    when(() => kind() === "numbers", () => liveField({ ...text.numbers, value: typed() }, type)),
    () => size() && summary(/** @type {Size} */ (size()), isMarketing()));

  return {
    body,
    wrong: () => {
      const known = size();
      if (!known) return counted ? text.counting : text.none;
      return known.wrong || (known.total === 0 ? text.noRecipients : "");
    },
    request(/** @type {any} */ broadcast) {
      if (kind() === "label") return { ...broadcast, audience: { label_id: label() } };
      if (kind() === "numbers") return { ...broadcast, audience: { recipients: lines().map((to) => ({ to })) } };
      const form = new FormData();
      form.set("broadcast", JSON.stringify(broadcast));
      form.set("recipients", /** @type {File} */ (size()?.file));
      return form;
    },
  };
}

/** @param {string} value */
const isPhone = (value) => /^\+?[1-9]\d{6,14}$/.test(value);

/**
 * sizeOf counts how many of some numbers will be sent to.
 * @param {string[]} values
 * @returns {Size}
 */
function sizeOf(values) {
  const filled = values.map((one) => one.replace("+", "")).filter(Boolean);
  const valid = [...new Set(filled)].filter(isPhone).length;
  const repeated = filled.length - new Set(filled).size;
  const total = values.length - repeated;
  return { total, skipped: { invalid: total - valid, repeated }, wrong: valid > 0 ? "" : text.format };
}

/**
 * fileSize looks through a file. Its column of numbers gets the name that the API knows.
 * @param {File} file
 * @returns {Promise<Size>}
 */
async function fileSize(file) {
  const head = await readHead(file);
  const names = head.records[0] ?? [];
  const known = names.map((name) => name.trim().toLowerCase());
  const column = ["phone_number", "to"].map((name) => known.indexOf(name)).find((i) => i >= 0) ?? names.findIndex(isPhoneColumn);
  if (column < 0) return { file, total: 0, wrong: text.column, skipped: {} };
  const sent = renamed(file, head, names.with(column, "phone_number"));
  if (file.size > mostBytes) return { file: sent, total: NaN, note: text.large, skipped: {} };
  const { records } = parseHead(await file.text(), Infinity);
  return { file: sent, ...sizeOf(records.slice(1).map((cells) => written(cells[column] ?? ""))) };
}

/** written is a number as the server reads it. @param {string} cell */
const written = (cell) => (/^\s*'?\+(?!.*\(0)/.test(cell) ? plainNumber(cell) : cell.trim());

/**
 * @param {Size} size
 * @param {boolean} marketing
 */
function summary({ total, more = false, note, wrong, skipped }, marketing) {
  if (wrong || note) return el("p." + (wrong ? "wrong" : "notice"), { role: "status" }, wrong ?? note);
  const lost = Object.entries(text.reasons).filter(([key]) => skipped[key] > 0 && (marketing || key !== "opted_out"));
  return el("div.audience", { role: "status" },
    el("b", null, text.size(total, more)),
    lost.length > 0 && [
      el("p", null, text.skipped),
      el("ul", null, lost.map(([key, words]) => el("li", null, `${count(skipped[key])} ${words}`))),
    ]);
}
