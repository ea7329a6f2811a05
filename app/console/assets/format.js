/** Times, numbers and names, as the viewer's language and zone write them. */
import { el, signal } from "./dom.js";
import { presentTime } from "./session.js";
import { browsers as browserText, categories, language, prices as priceText, sizes } from "texts/formats.js";

/** What Intl writes in: the language of the texts, as people write it where the browser is from. */
export const locale = navigator.languages?.find((one) => one.split("-")[0] === language.split("-")[0]) ?? language;

const rules = new Intl.PluralRules(language);

/**
 * plural chooses the form of a text for a number: English has one and other, Arabic has six.
 * @param {number} n
 * @param {Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }} forms
 */
export const plural = (n, forms) => forms[rules.select(n)] ?? forms.other;

/** dates writes times in some way. @param {Intl.DateTimeFormatOptions} style */
export const dates = (style) => new Intl.DateTimeFormat(locale, style);
export const exact = dates({ dateStyle: "full", timeStyle: "long" });
export const clock = dates({ hour: "numeric", minute: "2-digit" });
export const day = dates({ day: "numeric", month: "short" });
const dayAndYear = dates({ day: "numeric", month: "short", year: "numeric" });
const ago = new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" });
const commas = new Intl.ListFormat(locale, { type: "unit" });
const ands = new Intl.ListFormat(locale, { type: "conjunction" });
const tenths = new Intl.NumberFormat(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const plain = new Intl.NumberFormat(locale);
const weekday = dates({ weekday: "short" });
const longDay = dates({ weekday: "long", day: "numeric", month: "long" });
const narrow = (/** @type {string} */ unit) => new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "narrow" });
const minutes = narrow("minute");
const hours = narrow("hour");

const minute = 60_000;
const hour = 60 * minute;
const halfDay = 12 * hour;

/** The present, which moves on twice a minute. */
export const now = signal(presentTime());
setInterval(() => now.set(presentTime()), minute / 2);

/** listOf is a list with commas. @param {string[]} words */
export const listOf = (words) => commas.format(words);

/** andOf is a list whose last is joined by "and". @param {string[]} words */
export const andOf = (words) => ands.format(words);

/** @param {number} value */
export const count = (value) => plain.format(value);

/**
 * moneyIn writes amounts of a currency. A message costs less than a cent.
 * @param {string} currency
 * @returns {(amount: number) => string}
 */
export function moneyIn(currency) {
  const style = new Intl.NumberFormat(locale, { style: "currency", currency, minimumFractionDigits: 2, maximumFractionDigits: 4 });
  return (amount) => style.format(amount);
}

/** categoryOf is what the provider charges something as, in words. @param {string} category */
export const categoryOf = (category) => categories[/** @type {"utility"} */ (category)] ?? category.replaceAll(/[_-]/g, " ");

/** priceOf says as what the provider charges for a message. @param {{ billable: boolean | null, category: string }} pricing */
export const priceOf = ({ billable, category }) =>
  `${categoryOf(category)}, ${billable ? priceText.billable : billable === null ? priceText.unknown : priceText.free}`;

/** money writes an estimate. @param {{ amount: string, currency: string }} estimate */
export const money = (estimate) => moneyIn(estimate.currency)(Number(estimate.amount));

const percent = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 });
const change = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0, signDisplay: "exceptZero" });

/** percentOf is a part of the whole: "12.5%". @param {number} part */
export const percentOf = (part) => percent.format(part);

/** changeOf is a change: "+12%". @param {number} part */
export const changeOf = (part) => change.format(part);

/**
 * relative says when something was or will be: "5 min. ago", "in 3 days", "12 Mar".
 * @param {number} at
 */
function relative(at) {
  const distance = at - now();
  const size = Math.abs(distance);
  if (size < minute) return ago.format(0, "second");
  if (size < hour) return ago.format(Math.trunc(distance / minute), "minute");
  if (size < halfDay) return ago.format(Math.trunc(distance / hour), "hour");

  const days = Math.round((startOfDay(at) - startOfDay(now())) / (24 * hour));
  if (Math.abs(days) <= 1) return ago.format(days, "day") + ", " + clock.format(at);
  if (Math.abs(days) <= 6) return ago.format(days, "day");
  return dateOf(at);
}

/** @param {number} at */
const startOfDay = (at) => new Date(at).setHours(0, 0, 0, 0);
/** @param {number} at */
const sameYear = (at) => new Date(at).getFullYear() === new Date(now()).getFullYear();

/**
 * time shows a time, relative to now.
 * @param {string | null} value
 * @param {string} [never] is shown for no time
 */
export const time = (value, never = "—") => stamp(value, relative) || never;

/**
 * date shows the day of a time.
 * @param {string | null} value
 * @param {string} [never]
 */
export const date = (value, never = "—") => stamp(value, dateOf) || never;

/**
 * stamp shows a time as one of some functions writes it, with the exact one to look at.
 * @param {string | null} value
 * @param {(at: number) => string} write
 */
export function stamp(value, write) {
  const at = Date.parse(value ?? "");
  return value && el("time", { datetime: value, title: exact.format(at) }, () => write(at));
}

/** clockOf is the time of day. @param {number} at */
export const clockOf = (at) => clock.format(at);

/** spanOf is a length of time in its largest unit: "5m", "23h". @param {number} length */
export const spanOf = (length) =>
  (length < hour ? minutes.format(Math.max(1, Math.floor(length / minute))) : hours.format(Math.floor(length / hour)));

/** ageOf is how long ago something was, as short as can be: "5m", "3h", "Thu", "12 Mar". @param {number} at */
export function ageOf(at) {
  const age = now() - at;
  if (age < 24 * hour) return age < minute ? ago.format(0, "second") : spanOf(age);
  return age < 6 * 24 * hour ? weekday.format(at) : dateOf(at);
}

/** dateOf is the day of a time: "12 Mar". @param {number} at */
export const dateOf = (at) => (sameYear(at) ? day : dayAndYear).format(at);

/** dayOf names the day of a time: "today", "yesterday", "Thursday, 12 March". @param {number} at */
export function dayOf(at) {
  const days = Math.round((startOfDay(at) - startOfDay(now())) / (24 * hour));
  return days > -2 && days < 2 ? ago.format(days, "day") : sameYear(at) ? longDay.format(at) : dayAndYear.format(at);
}

/** msOf is a number of milliseconds. @param {number} ms */
export const msOf = (ms) => sizes.milliseconds(count(ms));

/**
 * sizeOf is the size of a file.
 * @param {number} bytes
 */
export const sizeOf = (bytes) => (bytes < 1e6
  ? sizes.kilobytes(count(Math.ceil(bytes / 1e3)))
  : sizes.megabytes(tenths.format(bytes / 1e6)));

/**
 * plainNumber takes the marks off with which people write phone numbers.
 * @param {string} written
 */
export const plainNumber = (written) => written.replace(/[\s().'-]/g, "");

/**
 * initials of a name: the first letters of its first and last words.
 * @param {string} name
 */
export function initials(name) {
  const words = name.match(/[\p{L}\p{N}]+/gu) ?? ["?"];
  const ends = words.length > 1 ? [words[0], words[words.length - 1]] : [words[0]];
  return ends.map((word) => [...word][0]).join("").toUpperCase();
}

/**
 * hue chooses one of five colours for a name, always the same.
 * @param {string} name
 */
export function hue(name) {
  let sum = 0;
  for (const letter of name) sum = (31 * sum + (letter.codePointAt(0) ?? 0)) >>> 0;
  return 1 + (sum % 5);
}

/**
 * browserName names a browser and its system from what it says of itself.
 * @param {string} agent
 */
export function browserName(agent) {
  const browsers = [
    ["Edg/", "Edge"],
    ["OPR/", "Opera"],
    ["Firefox/", "Firefox"],
    ["Chrome/", "Chrome"],
    ["Safari/", "Safari"],
    ["curl/", "curl"],
  ];
  const systems = [
    ["iPhone", "iPhone"],
    ["iPad", "iPad"],
    ["Android", "Android"],
    ["Windows", "Windows"],
    ["Mac OS", "macOS"],
    ["CrOS", "ChromeOS"],
    ["Linux", "Linux"],
  ];
  const find = (/** @type {string[][]} */ all) => all.find(([mark]) => agent.includes(mark))?.[1];
  const browser = find(browsers) ?? browserText.unknown;
  const system = find(systems);
  return system ? browserText.on(browser, system) : browser;
}
