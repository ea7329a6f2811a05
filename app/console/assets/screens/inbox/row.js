/** A conversation in the list: who it is with, what was said last and by whom, and whose it is. */
import { computed, el } from "../../dom.js";
import { ageOf, count, initials, locale, now, spanOf, stamp } from "../../format.js";
import { chip, dot, face, icon } from "../../parts/basics.js";
import { link } from "../../router.js";
import { me } from "../../session.js";
import { summary } from "./content.js";
import { keep, nameOf } from "./conversations.js";
import { tick } from "./message.js";
import { untilDay, untilText } from "./snooze.js";
import { row as text } from "texts/inbox.js";

/**
 * @typedef {object} Context
 * @property {() => string} current
 * @property {() => string} tabStop the one that Tab reaches
 * @property {ReturnType<typeof import("./selection.js").selection>} selected
 * @property {(id: string | null) => string} personName
 */

/** How long a finger rests on a row to select it, in milliseconds; and whether it did: rows then move below it, so that another may be clicked. */
const longPress = 500;
let hasRested = false;

/**
 * @param {() => any} one
 * @param {Context} at
 */
export function conversationRow(one, { current, tabStop, selected, personName }) {
  const id = one().id;
  const name = () => nameOf(one().contact);
  const isSelected = () => selected.has(id);
  const isTabStop = computed(() => tabStop() === id); // of all rows only two are others when another is opened
  const pick = (/** @type {MouseEvent} */ event, /** @type {boolean} */ isTap) => {
    if (isTap && selected.isActive()) {
      if (/** @type {Element} */ (event.target).closest(".row-pick")) return; // the box does it
      event.preventDefault();
      return selected.toggle(id);
    }
    if (!event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault(); // it would open another window
    selected.extend(id);
  };
  return el("li.row", {
    class: () => [
      "row",
      one().unread_count > 0 && "unread",
      current() === id && "current",
      isSelected() && "picked",
    ].filter(Boolean).join(" "),
    ...onLongPress(() => selected.toggle(id), pick),
    onmousedown: (/** @type {MouseEvent} */ event) => event.shiftKey && event.preventDefault(), // or words would be marked
  },
    () => (selected.isActive() ? selectBox(name(), isSelected, () => selected.toggle(id)) : face(name())),
    el("div.row-text", null,
      el("a",
        {
          href: () => link(keep("inbox/" + id)),
          dir: "auto",
          tabindex: () => (isTabStop() ? null : "-1"),
          "aria-current": () => (current() === id ? "true" : null),
          "aria-describedby": "about-" + id,
          "data-conversation": id,
        },
        name,
      ),
      el("span.row-labels", { "aria-hidden": "true" }, () => one().labels.map((/** @type {any} */ label) => dot(label.color))),
      () => one().status === "pending" && chip(text.pending, "warn"),
      el("span.row-age", null, () => stamp(one().last_message_at, ageOf))),
    el("p.row-last", { id: "about-" + id }, () => lastMessage(one(), personName),
      el("span.unseen", null, () => one().labels.map((/** @type {any} */ label) => ", " + label.name).join("")),
      el("span.unseen", null, () => (isSelected() ? text.selected : ""))),
    el("span.row-end", null, () => [
      one().snoozed_until ? snoozeOf(one()) : waitOf(one()) ?? windowOf(one()),
      one().assignee && el("span.face.tiny",
        { title: text.assigned(one().assignee.name ?? ""), role: "img", "aria-label": text.assigned(one().assignee.name ?? "") },
        initials(one().assignee.name ?? "?"),
      ),
      one().unread_count > 0 && el("b.count", { role: "img", "aria-label": text.unread(one().unread_count) }, count(one().unread_count)),
    ]));
}

/**
 * onLongPress calls run when a finger rests on a row, and not also click, nor the browser's menu.
 * @param {() => void} run
 * @param {(event: MouseEvent, isTap: boolean) => void} click
 */
function onLongPress(run, click) {
  let timer = 0;
  let isTouch = false;
  const end = () => clearTimeout(timer);
  return {
    onpointerdown: (/** @type {PointerEvent} */ event) => {
      hasRested = false;
      isTouch = event.pointerType === "touch";
      if (!isTouch) return;
      timer = setTimeout(() => {
        hasRested = true;
        run();
      }, longPress);
    },
    onpointerup: end,
    onpointercancel: end, // it scrolls
    oncontextmenu: (/** @type {PointerEvent} */ event) => event.pointerType === "touch" && event.preventDefault(),
    onclick: (/** @type {MouseEvent} */ event) =>
      (hasRested && event.detail > 0 ? event.preventDefault() : click(event, isTouch && event.detail > 0)),
  };
}

/**
 * selectBox stands in the place of the face while some are selected.
 * @param {string} name
 * @param {() => boolean} checked
 * @param {() => void} toggle
 */
const selectBox = (name, checked, toggle) => el("label.row-pick", null, el("input", {
  type: "checkbox",
  tabindex: "-1", // x does the same
  "aria-label": text.select(name),
  checked,
  onchange: toggle,
}));

/**
 * lastMessage says who wrote last, and what.
 * @param {any} one
 * @param {(id: string | null) => string} personName
 */
function lastMessage({ last_message: m }, personName) {
  if (!m) return "";
  const drawings = {
    image: "image",
    video: "film",
    audio: "mic",
    document: "templates",
    location: "place",
    contacts: "person",
    sticker: "smile",
  };
  const drawing = drawings[/** @type {"image"} */ (m.type)];
  const who = authorOf(m, personName);
  return [m.direction === "outbound" && tick(m), drawing && icon(drawing), el("span", { dir: "auto" }, (who && text.said(who)) + summary(m))];
}

/** authorOf is who of us wrote it, in a word. @param {any} m @param {(id: string | null) => string} personName */
function authorOf(m, personName) {
  if (m.direction !== "outbound") return "";
  if (!m.sent_by) return text.sources[/** @type {"api"} */ (m.source)] ?? "";
  return m.sent_by === me().id ? text.you : personName(m.sent_by).split(/\s/)[0];
}

/** From how many hours on a wait is long, and from how many too long; and from how many it is said in days. */
const longWait = 1;
const longestWait = 8;
const saidInDays = 48;
const days = new Intl.NumberFormat(locale, { style: "unit", unit: "day", unitDisplay: "narrow" });

/** waitOf says how long the person waits, if so. @param {any} one */
function waitOf(one) {
  if (!one.waiting_since) return null;
  const wait = Math.max(now() - Date.parse(one.waiting_since), 0);
  const hours = wait / 3_600_000;
  const tone = hours >= longestWait ? ".bad" : hours >= longWait ? ".warn" : "";
  return el("span.waits" + tone, null, text.waits(hours < saidInDays ? spanOf(wait) : days.format(Math.floor(hours / 24))));
}

/** snoozeOf says until when it is snoozed. @param {any} one */
function snoozeOf({ snoozed_until: until }) {
  const words = text.snoozed(untilText(until));
  return el("span.window.snoozed", { title: words, role: "img", "aria-label": words }, icon("clock"), untilDay(until));
}

/** windowOf says how much of the 24 hours is left. @param {any} one */
function windowOf(one) {
  const left = Date.parse(one.service_window_expires_at ?? "") - now();
  return left > 0 ? el("span.window", { title: text.left(spanOf(left)) }, spanOf(left)) : el("span.window.quiet", null, text.closed);
}
