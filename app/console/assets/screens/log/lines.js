/** The lists of the log, and the fields that narrow them. */
import { effect, el, onDispose } from "../../dom.js";
import { dates, stamp as timeAs } from "../../format.js";
import { filter, isScrolled, paged, pagedList } from "../../parts/lists.js";
import { table } from "../../parts/table.js";
import { fieldTime } from "../../parts/times.js";
import { query, setQuery } from "../../router.js";
import { lines as text } from "texts/log.js";

/** Nothing moves under somebody who reads further down, or is about to click. */
const isRead = () => isScrolled() || document.querySelector("tbody:hover, tbody :focus-visible") !== null;

/**
 * lines shows a list below its filters.
 * @param {object} options
 * @param {string} options.path
 * @param {string} options.caption
 * @param {string[]} options.filters their names in the address, which are those of the API
 * @param {() => Record<string, string>} [options.always] filters that are there unless the address asks otherwise
 * @param {import("../../live.js").Kind[]} options.kinds of hints
 * @param {(row: any) => string} [options.key]
 * @param {string[]} options.columns
 * @param {Record<number, string>} [options.places] kinds of columns, by their places
 * @param {((row: () => any) => import("../../dom.js").Child)[]} options.cells
 * @param {{ icon: string, title: string, body: import("../../dom.js").Child }} options.none the empty state where there was never anything
 * @returns {{ body: import("../../dom.js").Child, reload: () => void }}
 */
export function lines({ path, filters, always = () => ({}), kinds, none, places, ...shown }) {
  const chosen = () => Object.fromEntries(filters.map((name) => [name, query().get(name) ?? ""]));
  const all = paged(path, { filters: () => ({ ...chosen(), ...always() }), kinds, key: shown.key, waits: isRead });
  const nothing = () => (Object.values(chosen()).some(Boolean) ? { icon: "search", title: text.none, body: text.noneBody } : none);
  return { body: pagedList(all, (rows) => table({ ...shown, kinds: places, rows }), nothing), reload: all.reload };
}

/** @type {Intl.DateTimeFormatOptions} */
const seconds = { day: "numeric", hour: "numeric", minute: "2-digit", second: "2-digit" };
const dayAndClock = dates({ ...seconds, month: "short" });
const dated = dates({ ...seconds, month: "long", year: "numeric", timeZoneName: "short" });

/** stamp shows when a line was written, to the second. @param {string} value */
export const stamp = (value) => timeAs(value, dayAndClock.format);

/** datedStamp is stamp with the year and the zone. @param {string} value */
export const datedStamp = (value) => timeAs(value, dated.format);

/**
 * choice is a combobox whose choice is in the address.
 * @param {string} label
 * @param {string} name
 * @param {() => ({ value: string, label: string } | string)[]} options
 */
export const choice = (label, name, options) => filter(label, name, options, undefined, "log-filter");

/**
 * entry is a field whose text is in the address once the typing pauses. One of the type
 * datetime-local is a time there, as the API takes it; a name that is offered is its id there.
 * @param {string} label
 * @param {string} name
 * @param {{ type?: string, hint?: string, offers?: () => { value: string, label: string }[] }} [options]
 */
export function entry(label, name, { type = "search", hint, offers } = {}) {
  let timer = 0;
  onDispose(() => clearTimeout(timer));
  const isTime = type === "datetime-local";
  const toField = (/** @type {string} */ given) => {
    const at = Date.parse(given);
    if (!isTime) return offers?.().find((one) => one.value === given)?.label ?? given;
    return isNaN(at) ? "" : fieldTime(at);
  };
  const toAddress = (/** @type {string} */ typed) => {
    if (isTime && typed) return new Date(typed).toISOString();
    return offers?.().find((one) => one.label === typed.trim())?.value ?? typed.trim();
  };
  const change = (/** @type {any} */ event) => {
    clearTimeout(timer);
    timer = setTimeout(() => setQuery({ [name]: toAddress(event.target.value) }), 250);
  };
  const keep = (/** @type {HTMLInputElement} */ node) => effect(() => {
    const given = toField(query().get(name) ?? "");
    if (document.activeElement !== node) node.value = given;
  });
  const pick = (/** @type {any} */ event) => isTime && event.target.showPicker?.();
  return el("label.log-filter", null, el("span", null, label),
    offers && el("datalist", { id: "offers-" + name }, () => offers().map((one) => el("option", { value: one.label }))),
    el("input", {
      type,
      list: offers ? "offers-" + name : null,
      placeholder: hint,
      maxlength: isTime ? null : 500,
      oninput: change,
      onclick: pick,
      ref: keep,
      autocomplete: "off",
      spellcheck: "false",
    }));
}
