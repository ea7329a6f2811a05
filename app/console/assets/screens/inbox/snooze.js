/** Snoozing: a conversation leaves the open ones until a time that somebody chooses. */
import { el, signal } from "../../dom.js";
import { clockOf, dates, dayOf } from "../../format.js";
import { button } from "../../parts/basics.js";
import { popover } from "../../parts/popover.js";
import { fieldTime, morning, nextMonday } from "../../parts/times.js";
import { presentTime } from "../../session.js";
import { snooze as text } from "texts/inbox.js";

const longest = 365 * 86_400_000;
const dayAndClock = dates({ weekday: "short", day: "numeric", month: "short", hour: "numeric", minute: "2-digit" });
const onDay = dates({ weekday: "short", day: "numeric", month: "short" });

/** untilText is a time that lies ahead, as short as it can be said. @param {string} time */
export function untilText(time) {
  const at = Date.parse(time);
  return dayOf(at) === dayOf(presentTime()) ? clockOf(at) : dayAndClock.format(at);
}

/** untilDay is the same, without the time of another day. @param {string} time */
export function untilDay(time) {
  const at = Date.parse(time);
  return dayOf(at) === dayOf(presentTime()) ? clockOf(at) : onDay.format(at);
}

/**
 * openSnooze asks until when.
 * @param {Element} beside
 * @param {(until: string) => void} choose
 */
export function openSnooze(beside, choose) {
  const choices = /** @type {[string, Date][]} */ ([
    [text.hours, new Date(presentTime() + 3 * 3_600_000)],
    [text.tomorrow, morning(1)],
    [text.monday, nextMonday()],
  ]);
  popover(beside, { role: "dialog", "aria-label": text.snooze }, (close) => {
    const wrong = signal("");
    const finish = (/** @type {Date} */ at) => {
      const wait = at.getTime() - presentTime();
      if (!(wait > 0 && wait < longest)) return wrong.set(text.wrong);
      close();
      choose(at.toISOString());
    };
    /** @type {HTMLInputElement} */
    const input = el("input", {
      type: "datetime-local", id: "snooze-until", value: fieldTime(morning(1).getTime()), min: fieldTime(presentTime()),
    });
    return [
      choices.map(([name, at]) => button(name, {
        look: "bare", class: "menu-item", run: () => finish(at), title: dayAndClock.format(at),
      })),
      el("form.snooze-at", { novalidate: true, onsubmit: () => finish(new Date(input.value)) },
        el("label.label", { for: "snooze-until" }, text.at), input,
        () => wrong() && el("p.wrong", { role: "alert" }, wrong()),
        el("button.button", null, text.pick)),
    ];
  });
}
