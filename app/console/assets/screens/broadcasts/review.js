/** The last look at a broadcast: whom it goes to, what they see, who is skipped and why, and when. */
import { el } from "../../dom.js";
import { money } from "../../format.js";
import { templatePreview } from "../../parts/template_preview.js";
import { skippedList } from "./forecast.js";
import { review as text } from "texts/broadcasts.js";

/**
 * review shows a broadcast before it starts.
 * @param {object} what
 * @param {() => any} what.forecast
 * @param {() => boolean} what.counting
 * @param {() => string[]} what.facts name, number, template, audience and time
 * @param {() => any} what.template
 * @param {(components: any[]) => any[]} what.shown
 * @param {(step: number) => void} what.go
 */
export function review({ forecast, counting, facts, template, shown, go }) {
  const steps = [0, 0, 0, 1, 2]; // where each can be changed
  const fact = (/** @type {string} */ name, /** @type {number} */ i) => el("div", null,
    el("dt", null, name),
    el("dd", null,
      el("span", { dir: "auto" }, () => facts()[i]),
      i > 1 && el("button.textual", { type: "button", "aria-label": text.changes[i - 2], onclick: () => go(steps[i]) }, text.change)));
  return el("div.review", null,
    el("dl.facts", null, text.facts.map(fact)),
    () => counting() && el("p.hint", { role: "status" }, text.counting),
    () => forecast() && [
      notice(forecast()),
      el("div.audience", { role: "status" },
        el("b.figure", null, forecast().will_send === forecast().total
          ? text.all(forecast().total)
          : text.some(forecast().will_send, forecast().total)),
        skippedList(forecast().skipped, forecast().repeated),
        forecast().capped && el("p.hint", null, text.capped(forecast().total))),
      cost(forecast()),
      forecast().first.length > 0 && messages(forecast().first, template, shown),
    ]);
}

/** cost is what it may cost, as far as there are rates. @param {any} forecast */
const cost = ({ estimate, will_send: n }) => el("div.audience", null,
  el("b.figure", null, estimate ? text.cost(money(estimate)) : text.noCost),
  el("p.hint", null, estimate ? text.costHint(n) : text.noRates));

/** @param {any} forecast */
function notice({ paused_reason: code, messages_left: left, will_send: n }) {
  const words = code
    ? text.paused[/** @type {"quota_exceeded"} */ (code)] ?? text.stopped(code.replaceAll("_", " "))
    : left === 0 ? text.paused.quota_exceeded : left !== null && left < n ? text.quota(left) : "";
  return words && el("p.notice", null, words);
}

/**
 * @param {any[]} first
 * @param {() => any} template
 * @param {(components: any[]) => any[]} shown
 */
function messages(first, template, shown) {
  return el("section.first-messages", null,
    el("h2", null, text.first),
    el("p.lead", null, text.firstLead(first.length)),
    el("ul", { role: "list" }, first.map((one) => el("li", null,
      el("p.quiet", { dir: "auto" }, one.name ? `${one.name} · ${one.to ?? ""}` : one.to ?? ""),
      templatePreview(template(), shown(one.template.components ?? []))))));
}
