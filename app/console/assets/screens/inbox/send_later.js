/** Sending later: at a time that somebody chooses. */
import { el, signal } from "../../dom.js";
import { button } from "../../parts/basics.js";
import { dialog } from "../../parts/dialog.js";
import { fieldTime, morning, nextMonday } from "../../parts/times.js";
import { presentTime } from "../../session.js";
import { sendLater as text } from "texts/composer.js";

const longest = 90 * 86_400_000;

/**
 * openSendLater asks when.
 * @param {(when: string) => void} submit
 */
export function openSendLater(submit) {
  const inAnHour = new Date(presentTime() + 3_600_000);
  const choices = /** @type {[string, Date][]} */ ([
    [text.hour, inAnHour],
    [text.tomorrow, morning(1)],
    [text.monday, nextMonday()],
  ]);
  dialog(text.title, (close) => {
    const wrong = signal("");
    /** @type {HTMLInputElement} */
    const input = el("input",
      {
        type: "datetime-local",
        id: "send-at",
        value: fieldTime(inAnHour.getTime()),
        min: fieldTime(presentTime()),
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
