/** Dialogs: over the page, until they are closed. */
import { append, el, scope, signal } from "../dom.js";
import { APIError } from "../api.js";
import { button } from "./basics.js";
import { toast } from "./notices.js";
import { problem } from "./states.js";
import { dialog as text } from "texts/parts.js";

let dialogs = 0;

/**
 * dialog shows a dialog. What build returns is its content; build gets a function that
 * closes it. The promise is kept when it is closed, with what it was closed with. The
 * focus then goes back to where it was.
 * @template T
 * @param {string} title
 * @param {(close: (result?: T) => void) => import("../dom.js").Child} build
 * @param {{ wide?: boolean, lasting?: boolean }} [options] lasting: a click beside it does not close it
 * @returns {Promise<T | undefined>}
 */
export function dialog(title, build, { wide = false, lasting = false } = {}) {
  return new Promise((resolve) => {
    const before = /** @type {any} */ (document.activeElement);
    const id = "dialog-" + ++dialogs;
    /** @type {T | undefined} */
    let result;
    /** @type {HTMLDialogElement} */
    const node = el("dialog.dialog" + (wide ? ".wide" : ""), { "aria-labelledby": id });
    const close = (/** @type {T} */ given) => {
      result = given;
      node.close();
    };
    const [, dispose] = scope(() => append(node, el("div.dialog-body", null,
      el("header.dialog-head", null,
        el("h2", { id }, title),
        button(text.close, { icon: "close", look: "bare", iconOnly: true, run: () => node.close() }),
      ),
      build(/** @type {any} */ (close)))));

    node.addEventListener("close", () => {
      dispose();
      node.remove();
      if (before?.isConnected && document.activeElement === document.body) before.focus(); // unless it has moved on
      resolve(result);
    });
    // The dialog itself is only hit beside its body.
    node.addEventListener("mousedown", (event) => {
      if (event.target === node && !lasting) node.close();
    });
    document.body.append(node);
    node.showModal();
    const content = ".dialog-body > :not(.dialog-head)";
    const first = node.querySelector("[autofocus]") ?? node.querySelector(`${content} :is(input, select, textarea, button, a)`);
    if (first instanceof HTMLElement) first.focus();
  });
}

/**
 * shown is what a dialog shows at its end: what cannot be seen again.
 * @param {() => void} close
 * @param {...import("../dom.js").Child} children
 */
export const shown = (close, ...children) => el("div.form", null, children,
  el("div.form-end", null, button(text.done, { look: "primary", run: close })));

/** fold makes white space what a page shows of it. @param {string} words */
const fold = (words) => words.trim().split(/\s+/).join(" ");

/**
 * confirmAction asks before something that cannot be undone. action is what the button says; send
 * does it, and the dialog stays open with the reason if that fails. With word, that must be
 * typed first. When it is done, done is shown, and finish is called.
 * @param {object} options
 * @param {string} options.title
 * @param {import("../dom.js").Child | import("../dom.js").Child[]} options.body a paragraph, or several
 * @param {string} options.action
 * @param {() => Promise<unknown>} options.send
 * @param {string} [options.word]
 * @param {string} [options.done]
 * @param {() => void} [options.finish]
 */
export const confirmAction = ({ title, body, action, send, word, done, finish }) => dialog(title, (close) => {
  const typed = signal("");
  const busy = signal(false);
  const failure = signal(/** @type {unknown} */ (null));
  const waits = () => busy() || (word && fold(typed()) !== fold(word));
  const run = async () => {
    if (waits()) return;
    busy.set(true);
    failure.set(null);
    try {
      await send();
      close();
      if (done) toast(done);
      finish?.();
    } catch (error) {
      if (!(error instanceof APIError)) reportError(error);
      failure.set(error);
      busy.set(false);
    }
  };
  return el("form.form", { onsubmit: run },
    el("div.prose", null, [body].flat().map((one) => el("p", null, one))),
    () => failure() && problem(failure()),
    word && el("label.field", null,
      el("span.label", null, text.type(word)),
      el("input", { autocomplete: "off", oninput: (/** @type {any} */ e) => typed.set(e.target.value) }),
    ),
    el("div.form-end", null,
      button(text.cancel, { run: () => close(), autofocus: word ? null : true }),
      el("button.button.danger", { "aria-disabled": () => Boolean(waits()) }, () => (busy() ? text.busy : action))));
});
