/** Sending later: at a time that somebody chooses. */
import { el, signal } from "../../dom.js";
import { button } from "../../parts/basics.js";
import { dialog } from "../../parts/dialog.js";
import { presentTime } from "../../session.js";
import { sendLater as text } from "texts/composer.js";

const longest = 90 * 86_400_000;

/** @param {Date} at as a field of a form takes it */
const local = (at) => new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

/** @param {number} days */
function morning(days) {
  const at = new Date(presentTime());
  at.setDate(at.getDate() + days);
  at.setHours(9, 0, 0, 0);
  return at;
}

/**
 * openSendLater asks when.
 * @param {(when: string) => void} submit
 */
export function openSendLater(submit) {
  const inAnHour = new Date(presentTime() + 3_600_000);
  const choices = /** @type {[string, Date][]} */ ([
    [text.hour, inAnHour],
    [text.tomorrow, morning(1)],
    [text.monday, morning(((8 - new Date(presentTime()).getDay()) % 7) || 7)],
  ]);
  dialog(text.title, (close) => {
    const wrong = signal("");
    /** @type {HTMLInputElement} */
    const input = el("input",
      {
        type: "datetime-local",
        id: "send-at",
        value: local(inAnHour),
        min: local(new Date(presentTime())),
        "aria-describedby": "send-at-hint",
        autofocus: true,
      },
    );
    const finish = (/** @type {Date} */ at) => {
      const wait = at.getTime() - presentTime();
      if (!(wait > 0 && wait < longest)) return wrong.set(text.wrong);
      close();
      submit(at.toISOString());
    };
    return el("form.form", { novalidate: true, onsubmit: () => finish(new Date(input.value)) },
      el("div.actions", null, choices.map(([name, at]) => button(name, { run: () => finish(at) }))),
      el("div.field", null,
        el("label.label", { for: "send-at" }, text.at),
        input,
        el("p.hint", { id: "send-at-hint" }, text.hint),
        () => wrong() && el("p.wrong", { role: "alert" }, wrong()),
      ),
      el("div.form-end", null, el("button.button.primary", null, text.send)));
  });
}
