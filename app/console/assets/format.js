/** Times, numbers and names, as the viewer's language and zone write them. */
import { el, signal } from "./dom.js";

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const clock = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const dayAndYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const ago = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" });
const plain = new Intl.NumberFormat();

const minute = 60_000;
const hour = 60 * minute;
const halfDay = 12 * hour;

/** The present, which moves on twice a minute. */
const now = signal(Date.now());
setInterval(() => now.set(Date.now()), minute / 2);

/** @param {number} value */
export const count = (value) => plain.format(value);

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
  return sameYear(at) ? day.format(at) : dayAndYear.format(at);
}

/** @param {number} at */
const startOfDay = (at) => new Date(at).setHours(0, 0, 0, 0);
/** @param {number} at */
const sameYear = (at) => new Date(at).getFullYear() === new Date(now()).getFullYear();

/**
 * time shows a time, relative to now, with the exact one to look at.
 * @param {string | null} value
 * @param {string} [never] stands for no time
 */
export function time(value, never = "—") {
  if (!value) return never;
  const at = Date.parse(value);
  return el("time", { datetime: value, title: exact.format(at) }, () => relative(at));
}

/**
 * date shows the day of a time.
 * @param {string | null} value
 * @param {string} [never]
 */
export function date(value, never = "—") {
  if (!value) return never;
  const at = Date.parse(value);
  return el("time", { datetime: value, title: exact.format(at) }, () => (sameYear(at) ? day : dayAndYear).format(at));
}

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
 * browserName tells a browser and its system from what it says of itself.
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
  const browser = find(browsers) ?? "Unknown browser";
  const system = find(systems);
  return system ? `${browser} on ${system}` : browser;
}
