/** Bringing contacts in: a file, which column is what, a trial that changes nothing, and then the import. */
import { computed, el, onDispose, signal, when } from "../../dom.js";
import { get, newKey, post } from "../../api.js";
import { count } from "../../format.js";
import { button } from "../../parts/basics.js";
import { dialog } from "../../parts/dialog.js";
import { allLabels } from "../../parts/lists.js";
import { problem } from "../../parts/states.js";
import { fact, table } from "../../parts/table.js";
import { isPhoneColumn, readHead, renamed } from "./csv.js";
import { importing as text } from "texts/contacts.js";

/** @typedef {{ file: File, head: Awaited<ReturnType<typeof readHead>>, names: string[] }} Chosen */

/**
 * importDialog brings contacts of a number in.
 * @param {string} of the number
 */
export function importDialog(of) {
  return dialog(text.title, (close) => {
    const chosen = signal(/** @type {Chosen | null} */ (null));
    const failure = signal(/** @type {unknown} */ (null));
    const result = signal(/** @type {any} */ (null));
    const busy = signal(false);
    const label = signal("");
    let ended = false;
    onDispose(() => (ended = true));

    const choose = async (/** @type {any} */ event) => {
      const file = event.target.files[0];
      failure.set(null);
      result.set(null);
      const head = await readHead(file);
      chosen.set(file && head.records.length > 1 ? { file, head, names: head.records[0].map(guess) } : null);
      if (file && head.records.length < 2) failure.set(text.empty);
    };

    const send = async (/** @type {boolean} */ dry) => {
      const what = chosen();
      if (!what || busy()) return;
      if (!what.names.includes("phone_number") && !what.names.includes("bsuid")) return failure.set(text.noNumber);
      failure.set(null);
      busy.set(true);
      try {
        let one = await post(`v1/${of}/contact_imports`, body(what, dry, label()), { idempotencyKey: newKey() });
        while (one.status === "running" && !ended) {
          result.set(one);
          await new Promise((resolve) => setTimeout(resolve, 500));
          one = await get(`v1/${of}/contact_imports/${one.id}`);
        }
        result.set(one);
      } catch (error) {
        failure.set(error);
      }
      busy.set(false);
    };

    const finished = computed(() => Boolean(result()) && result().status !== "running" && !result().dry_run);
    return el("div.form", null,
      el("p.prose", null, text.lead),
      el("label.field", null, el("span.label", null, text.file),
        el("input", { type: "file", accept: ".csv,text/csv,text/plain", onchange: choose })),
      () => failure() && (typeof failure() === "string" ? el("p.wrong", { role: "alert" }, String(failure())) : problem(failure())),
      () => chosen() && !finished() && [columns(/** @type {Chosen} */ (chosen()), () => result.set(null)), labelChoice(label)],
      () => result() && outcome(result()),
      el("div.form-end", null,
        when(finished, () => button(text.done, { look: "primary", run: close }), () => [
          button(text.cancel, { run: close }),
          when(() => chosen() && !result(), () => button(text.check, { look: "primary", "aria-disabled": () => busy(), run: () => send(true) })),
          when(() => result()?.dry_run && result().status === "completed", () => button(text.import, { look: "primary", run: () => send(false) })),
        ])));
  }, { wide: true, lasting: true });
}

/**
 * body is the file with our names of its columns.
 * @param {Chosen} chosen
 * @param {boolean} dry
 * @param {string} label
 */
function body({ file, head, names }, dry, label) {
  const form = new FormData();
  form.set("dry_run", String(dry));
  if (label) form.set("label_id", label);
  form.set("file", renamed(file, head, names));
  return form;
}

/** Other names that files have for our columns. */
const aliases = {
  full_name: "name", mail: "email", e_mail: "email", tags: "labels", label: "labels",
};
const known = new Map(Object.entries(aliases));

/**
 * guess finds which of our columns a file means; one that matches none is left out.
 * @param {string} name
 */
function guess(name) {
  const plain = name.trim().toLowerCase().replace(/[\s-]+/g, "_");
  if (name.startsWith("metadata.")) return name;
  return plain in text.fields ? plain : known.get(plain) ?? (isPhoneColumn(plain) ? "phone_number" : "");
}

/**
 * columns shows what the first lines have in each column, and lets one say what it is.
 * @param {Chosen} chosen
 * @param {() => void} changed
 */
function columns({ head, names }, changed) {
  const [titles, ...lines] = head.records;
  const choice = (/** @type {string} */ title, /** @type {number} */ i) => el("select", {
    "aria-label": text.column(title),
    value: names[i],
    onchange: (/** @type {any} */ event) => {
      names[i] = event.target.value;
      changed();
    },
  },
    [["", text.none], ...Object.entries(text.fields), [`metadata.${title.replace(/^metadata\./, "")}`, text.more]]
      .map(([value, label]) => el("option", { value }, label)));
  const values = (/** @type {number} */ i) => lines.map((cells) => cells[i]).filter(Boolean)
    .flatMap((value, nth) => [nth > 0 && " · ", el("bdi", null, value)]);
  return el("ul.sheet", { "aria-label": text.sheet }, titles.map((title, i) => el("li", null,
    el("p", { dir: "auto" }, title),
    el("p.hint", null, values(i)),
    choice(title, i))));
}

/** @param {import("../../dom.js").Signal<string>} label */
function labelChoice(label) {
  const labels = allLabels();
  const choose = (/** @type {any} */ event) => label.set(event.target.value);
  return el("label.field", null, el("span.label", null, text.label), () => el("select", { onchange: choose, value: label.peek() },
    [{ id: "", name: text.noLabel }, ...labels()].map((one) => el("option", { value: one.id }, one.name))));
}

/**
 * outcome shows what an import has done, or would do, and scrolls there: it is below all columns.
 * @param {any} one
 */
function outcome(one) {
  if (one.status === "running") return el("p.notice", { role: "status" }, text.running(one.lines));
  const shown = el("section", { "aria-label": one.dry_run ? text.wouldBe : text.was },
    el("h3", null, one.dry_run ? text.wouldBe : text.was),
    one.status === "failed" && el("p.wrong", { role: "alert" }, text.failed),
    el("dl.tally", null, Object.entries(text.counts).map(([key, name]) => fact(name, count(one[key])))),
    one.errors?.length > 0 && [
      el("p.hint", null, text.leftOut),
      table({
        caption: text.errors,
        rows: () => one.errors.map((/** @type {any} */ error, /** @type {number} */ i) => ({ ...error, i })),
        key: (error) => String(error.i),
        columns: text.columns,
        kinds: { 0: "number", 1: "about" },
        cells: [(error) => count(error().line), (error) => el("span", { dir: "auto" }, error().message)],
      }),
    ]);
  requestAnimationFrame(() => shown.scrollIntoView());
  return shown;
}
