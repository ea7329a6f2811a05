/**
 * The composer: a text, files, an answer to one message. While the 24-hour window is
 * closed it is the template picker, because nothing else could be sent. While nothing can be
 * sent from the number, it says why, and keeps the draft.
 */
import { computed, effect, el, flush, onDispose, signal, when } from "../../dom.js";
import { clockOf, dayOf, now, spanOf, stamp } from "../../format.js";
import { bind } from "../../keys.js";
import { reportPresence } from "../../live.js";
import { button, icon } from "../../parts/basics.js";
import { toastFailure } from "../../parts/notices.js";
import { me, presentTime } from "../../session.js";
import { attachments } from "./attachments.js";
import { summary } from "./content.js";
import { recipient } from "./conversations.js";
import { noDraft, unsentIn } from "./drafts.js";
import { attached, openButtons, openList } from "./interactive.js";
import { reason } from "./message.js";
import { noteForm } from "./note_form.js";
import { send, settled } from "./outbox.js";
import { openQuickReplies } from "./quick_replies.js";
import { openEmoji } from "./reactions.js";
import { openSendLater } from "./send_later.js";
import { refusalText, remedy } from "./sending.js";
import { pickTemplate } from "./templates.js";
import { composer as text } from "texts/composer.js";

const longestText = 4096;
const longestCaption = 1024; // and above buttons
const typingLasts = 4000;

/** @param {any} at */
export function composer(at) {
  const isOpen = computed(() => {
    const until = at.conversation()?.service_window_expires_at;
    return !at.conversation() || (until !== null && Date.parse(until) > now());
  });
  // It closes on the second, not when the time that is shown moves on.
  effect(() => {
    const left = Date.parse(at.conversation()?.service_window_expires_at ?? "") - presentTime();
    if (isOpen() && now() && left < 60_000) setTimeout(() => now.set(presentTime()), left);
  });
  const files = attachments(at.number, at.id);
  const { isNote } = at;
  const isWriting = computed(() => !at.refusal() && isOpen() && !isNote());
  files.listen(() => /** @type {HTMLElement} */ (root.closest(".thread")), isWriting);
  const kept = () => keptDraft(at.draft.value().text, files.all());
  const reply = () => when(
    () => Boolean(at.refusal()),
    () => closed(
      "warning",
      () => at.refusal() && [refusalText(at.refusal()), kept],
      () => at.refusal() && remedy(at.refusal(), at.number),
    ),
    () => when(isOpen, () => writing(at, files), () => closed(
      "lock",
      () => [at.conversation().service_window_expires_at ? text.closed : text.never, kept],
      () => button(text.choose, { look: "primary", icon: "templates", run: () => pickTemplate(at) }),
    )),
  );
  const root = el("div.composer", { "data-mode": () => (isNote() ? "note" : "reply") },
    modes(isNote),
    el("div", { role: "tabpanel", id: "compose", "aria-labelledby": () => (isNote() ? "compose-note" : "compose-reply") },
      when(isNote, () => noteForm(at), reply)));
  return root;
}

/** modes are the two sorts of what can be written. @param {import("../../dom.js").Signal<boolean>} isNote */
function modes(isNote) {
  const tab = (/** @type {string} */ id, /** @type {string} */ name, /** @type {boolean} */ note) => el("button", {
    type: "button", role: "tab", id, "aria-controls": "compose",
    "aria-selected": () => isNote() === note, tabindex: () => (isNote() === note ? "0" : "-1"),
    onclick: () => {
      isNote.set(note);
      flush();
      /** @type {HTMLElement | null} */ (document.querySelector(".composer textarea"))?.focus();
    },
  }, name);
  const all = [tab("compose-reply", text.reply, false), tab("compose-note", text.note, true)];
  const move = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
    event.preventDefault();
    isNote.update((on) => !on);
    flush();
    all[Number(isNote())].focus();
  };
  return el("div.compose-modes", { role: "tablist", "aria-label": text.modes, onkeydown: move }, all);
}

/** @param {string} words @param {import("./attachments.js").Attachment[]} files */
const keptDraft = (words, files) => (words || files.length > 0) &&
  el("span.kept", { dir: "auto" }, text.kept + [words, ...files.map((one) => one.file.name)].filter(Boolean).join(" · "));

/**
 * closed is shown in place of the field while nothing could be sent.
 * @param {string} drawing
 * @param {() => import("../../dom.js").Child} words
 * @param {() => import("../../dom.js").Child} action
 */
const closed = (drawing, words, action) => el("div.closed", { role: "note" }, icon(drawing), el("p", null, words), action);

/** @param {any} at @param {ReturnType<typeof attachments>} files */
function writing(at, files) {
  const { id, number } = at;
  /** @type {ReturnType<typeof import("./drafts.js").draftOf>} */
  const draft = at.draft;
  const value = () => draft.value().text;
  const replyTo = computed(() => draft.value().replyTo);
  const sendAt = computed(() => draft.value().sendAt);
  /** @type {import("../../dom.js").Signal<any>} */
  const picker = signal(null);
  /** @type {HTMLTextAreaElement} */
  let box;

  const interactive = computed(() => draft.value().interactive);
  const isShort = () => files.all().length > 0 || (interactive() !== null && interactive().type !== "list");
  const excess = computed(() => [...value()].length - (isShort() ? longestCaption : longestText));
  const isBoth = () => files.all().length > 0 && interactive() !== null;
  const canSend = () => excess() <= 0 && !isBoth() && (files.all().length > 0 ? files.ready() : value().trim() !== "");
  const add = (/** @type {any} */ made) => {
    draft.change({ interactive: made, error: null });
    flush();
    box.focus();
  };
  const setText = (/** @type {string} */ next) => {
    draft.change({ text: next, error: null });
    flush();
  };
  const insert = (/** @type {string} */ piece) => {
    box.focus();
    box.setRangeText(piece, box.selectionStart, box.selectionEnd, "end");
    setText(box.value);
  };

  /** @param {string} [when] sends it then */
  const submit = (when = draft.value().sendAt) => {
    if (!canSend()) return;
    if (when && Date.parse(when) <= presentTime()) return openSendLater(submit); // that time is over
    const words = value().trim();
    const answers = draft.value().replyTo;
    const to = recipient(at.conversation().contact);
    const more = { ...(answers && { context: { message_id: answers } }), ...(when && { scheduled_at: when }) };
    const tapped = draft.value().interactive;
    const written = tapped
      ? { type: "interactive", interactive: { ...tapped, body: { text: words } } }
      : { type: "text", text: { body: words } };
    const bodies = files.all().length > 0 ? files.bodies(words) : [written];
    bodies.forEach((body, i) => send(number, id, { ...to, ...body, ...(i === 0 ? more : when && { scheduled_at: when }) }));
    files.clear();
    draft.set(noDraft);
    flush();
    reportPresence(id, false);
    at.toNewest();
    box.focus();
  };

  // It is resolved only once the server has the message; what was refused is a draft again.
  const sendAndResolve = async () => {
    if (!canSend()) return;
    submit();
    await settled();
    if (await unsentIn(id)) toastFailure(text.notResolved);
    else at.resolve(".composer :is(textarea, .button)");
  };
  bind(text.message, [["mod+shift+enter", text.sendAndResolve, () => void sendAndResolve()]]);

  const typing = typingReporter(id);
  const type = () => {
    setText(box.value);
    typing();
    if (/^\/\S*$/.test(box.value)) openQuick();
    else picker()?.filter();
  };
  const openQuick = () => openQuickReplies({ picker, box, name: at.name, insert, setText, value, add });
  onDispose(() => picker.peek()?.close());
  const press = (/** @type {KeyboardEvent} */ event) => {
    if (picker()?.press(event)) return void event.preventDefault();
    if (event.key === "Escape" && replyTo()) draft.change({ replyTo: "" });
    else if (event.key === "Escape") box.blur();
    else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      submit();
    }
  };

  // Some tools that type for people send the character apart from the key.
  const keepLine = (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && !event.shiftKey && event.preventDefault();

  effect(() => {
    const now = value();
    if (box && box.value !== now) box.value = now; // it came back, or was sent
  });

  const tool = (/** @type {string} */ name, /** @type {string} */ drawing, /** @type {any} */ run, more = {}) =>
    button(name, { icon: drawing, look: "bare", iconOnly: true, onclick: run, ...more });

  return el("form.write", { onsubmit: () => submit() },
    el("div.write-box", null,
      () => replyTo() && answered(at, replyTo(), () => draft.change({ replyTo: "" })),
      () => sendAt() && scheduled(sendAt(), () => draft.change({ sendAt: "" })),
      () => interactive() && attached(interactive(), () => draft.change({ interactive: null })),
      files.view,
      () => picker()?.view,
      el("textarea", {
        "aria-label": text.message, rows: 1, dir: "auto", placeholder: () => text.placeholder(at.name()), value: value(),
        ref: (/** @type {HTMLTextAreaElement} */ node) => (box = node), oninput: type, onkeydown: press, onkeypress: keepLine,
        onpaste: files.paste,
        "aria-controls": () => (picker() ? "quick-replies" : null), "aria-activedescendant": () => picker()?.active() ?? null,
        "aria-invalid": () => (excess() > 0 ? "true" : null), "aria-describedby": "write-note",
      }),
      el("div.write-tools", null,
        tool(text.attach, "clip", files.choose),
        tool(text.emoji, "smile", (/** @type {any} */ event) => openEmoji(event.currentTarget, insert)),
        tool(text.quick, "bolt", openQuick),
        tool(text.templates, "templates", () => pickTemplate(at)),
        tool(text.buttons, "checks", () => openButtons(interactive(), add)),
        tool(text.list, "log", () => openList(interactive(), add)),
        when(() => "scheduled_at" in (at.store.newest() ?? {}),
          () => tool(text.later, "clock", () => canSend() && openSendLater(submit), { "aria-disabled": () => !canSend() }),
        ),
        el("div.joined", null,
          el("button.button.primary", { type: "submit", "aria-disabled": () => !canSend() }, icon("send"), el("span", null, text.send)),
          button(text.sendAndResolve,
            { icon: "check", look: "primary", iconOnly: true, "aria-disabled": () => !canSend(), run: () => void sendAndResolve() },
          )))),
    el("p.write-note", { id: "write-note" },
      () => (excess() > 0 || isBoth() ? el("span.wrong", null, isBoth() ? text.notBoth : text.tooLong(excess()))
        : draft.value().error ? el("span.wrong", { role: "alert" }, text.notSent + reason(draft.value().error) + ".")
          : el("span", null, windowLeft(at))),
      el("span.write-keys", { "aria-hidden": "true" }, el("kbd", null, "/"), " " + text.hint, el("kbd", null, "?"), " " + text.keys)));
}

/** @param {any} at */
const windowLeft = (at) => {
  const until = at.conversation()?.service_window_expires_at;
  return until ? text.left(spanOf(Date.parse(until) - now())) : "";
};

/** @param {any} at @param {string} id @param {() => void} cancel */
function answered(at, id, cancel) {
  const m = () => at.store.byProviderID(id);
  const who = () => (m()?.direction === "inbound" ? at.name() : at.personName(m()?.sent_by ?? null) || text.you);
  return el("div.answered", null,
    el("p.quote", { dir: "auto" },
      el("b", null, () => (m() ? text.replyingTo(who()) : text.reply)), el("span", null, () => (m() ? summary(m()) : text.earlier))),
    button(text.cancelReply, { icon: "close", look: "bare", iconOnly: true, run: cancel }));
}

/** scheduled says when a message that came back is to be sent. @param {string} time @param {() => void} cancel */
const scheduled = (time, cancel) => el("div.answered", null,
  el("p.quote", null, el("b", null, text.later), stamp(time, (at) => dayOf(at) + ", " + clockOf(at))),
  button(text.cancelTime, { icon: "close", look: "bare", iconOnly: true, run: cancel }));

/** typingReporter shows colleagues that somebody types, and when that is over. @param {string} id */
function typingReporter(id) {
  let timer = 0;
  onDispose(() => clearTimeout(timer));
  return () => {
    if (!me.peek().id) return;
    reportPresence(id, true); // again after something was sent
    clearTimeout(timer);
    timer = setTimeout(() => reportPresence(id, false), typingLasts);
  };
}
