/**
 * Files that are about to be sent: chosen, pasted or dropped. Each is uploaded at once,
 * while somebody still writes, so that sending is quick and survives a reload.
 */
import { el, list, onDispose, signal } from "../../dom.js";
import { sizeOf } from "../../format.js";
import { button, icon } from "../../parts/basics.js";
import { root } from "../../session.js";
import { attachments as text } from "texts/composer.js";

const most = 10;

/** @typedef {{ id: number, file: File, url: string, done: number, error: string, media: any, call: XMLHttpRequest | null }} Attachment */

/** Those of conversations: they are there as long as the page, like drafts. @type {Map<string, ReturnType<typeof noFiles>>} */
const kept = new Map();
let last = 0;

const noFiles = () => signal(/** @type {Attachment[]} */ ([]));

/** @param {string} conversation */
function filesOf(conversation) {
  const files = kept.get(conversation) ?? noFiles();
  kept.set(conversation, files);
  return files;
}

/** hasFiles reports whether files wait in a conversation until somebody sends them. @param {string} conversation */
export const hasFiles = (conversation) => filesOf(conversation)().length > 0;

/**
 * attachments are files that are about to be sent. Those of a conversation are still there when it
 * is opened again; others go with what they were made in.
 * @param {string} number
 * @param {string} [conversation]
 */
export function attachments(number, conversation) {
  const all = conversation ? filesOf(conversation) : noFiles();
  const change = (/** @type {number} */ id, /** @type {Partial<Attachment>} */ more) =>
    all.update((list) => list.map((one) => (one.id === id ? { ...one, ...more } : one)));

  /** @param {Iterable<File>} files */
  function add(files) {
    for (const file of [...files].slice(0, most - all().length)) {
      const one = { id: ++last, file, url: URL.createObjectURL(file), done: 0, error: "", media: null, call: null };
      all.update((list) => [...list, one]);
      upload(one);
    }
  }

  /** @param {Attachment} one */
  function upload(one) {
    const call = new XMLHttpRequest(); // fetch does not report the progress of an upload
    const body = new FormData();
    body.append("file", one.file, one.file.name);
    call.responseType = "json";
    call.upload.onprogress = (event) => change(one.id, { done: event.loaded / event.total });
    call.onload = () => change(
      one.id,
      call.status < 300 ? { done: 1, media: call.response?.data } : { error: call.response?.error?.message ?? text.lost },
    );
    call.onerror = () => change(one.id, { error: text.lost });
    call.open("POST", new URL(`api/v1/${number}/media`, root));
    change(one.id, { error: "", done: 0, call });
    call.send(body);
  }

  /** @param {Attachment} one */
  function drop(one) {
    one.call?.abort();
    URL.revokeObjectURL(one.url);
    all.update((list) => list.filter((each) => each.id !== one.id));
  }
  const clear = () => all().forEach(drop);
  let ended = false;
  onDispose(() => {
    ended = true;
    if (!conversation) clear();
  });

  const input = el("input", { type: "file", multiple: true, hidden: true, onchange: () => {
    add(input.files ?? []);
    input.value = "";
  } });

  const view = el("div.attachments", { role: "group", "aria-label": text.files, hidden: () => all().length === 0 }, input,
    list(all, (one) => one.id, (one) => el("div.attachment", null,
      one().file.type.startsWith("image/") ? el("img", { src: one().url, alt: "" }) : icon("templates"),
      el("span", null,
        el("b", { dir: "auto" }, one().file.name),
        () => (one().error ? el("span.wrong", { role: "alert" },
          one().error,
          " ",
          el("button.textual", { type: "button", onclick: () => upload(one()) }, text.again),
        )
          : one().media ? el("small", null, sizeOf(one().file.size))
            : el("progress", { value: one().done, max: 1, "aria-label": text.uploading(one().file.name) }))),
      button(text.remove(one().file.name), { icon: "close", look: "bare", iconOnly: true, run: () => drop(one()) }))));

  return {
    all,
    view,
    clear,
    choose: () => input.click(),
    ready: () => all().every((one) => one.media),
    /** bodies are the messages of the files; what was written goes with the first that takes it. @param {string} caption */
    bodies(caption) {
      let rest = caption;
      const made = all().map(({ media, file }) => {
        const type = typeOf(media.mime_type);
        /** @type {any} */
        const content = { id: media.id };
        if (type === "document") content.filename = file.name;
        if (rest && type !== "audio") [content.caption, rest] = [rest, ""];
        return /** @type {any} */ ({ type, [type]: content });
      });
      return rest ? [...made, { type: "text", text: { body: rest } }] : made;
    },
    /** @param {ClipboardEvent} event */
    paste(event) {
      const files = event.clipboardData?.files;
      if (!files?.length) return;
      event.preventDefault();
      add(files);
    },
    /** listen takes what is dropped on a place, while it may. @param {() => HTMLElement} place @param {() => boolean} may */
    listen(place, may) {
      queueMicrotask(() => {
        const node = place();
        if (!node) return;
        node.dataset.drop = text.drop;
        const over = (/** @type {boolean} */ yes) => (/** @type {DragEvent} */ event) => {
          if (ended || !event.dataTransfer?.types.includes("Files")) return;
          event.preventDefault(); // or the browser would leave the page for the file
          node.classList.toggle("dropping", yes && may());
        };
        const calls = { dragover: over(true), dragleave: over(false), drop: (/** @type {any} */ event) => {
          over(false)(event);
          if (!ended && may()) add(event.dataTransfer?.files ?? []);
        } };
        Object.entries(calls).forEach(([name, fn]) => node.addEventListener(name, /** @type {any} */ (fn)));
      });
    },
  };
}

/** typeOf is the kind of message that carries a kind of file. @param {string} mime */
function typeOf(mime) {
  if (/^image\/(jpeg|png)$/.test(mime)) return "image";
  if (/^video\/(mp4|3gpp)$/.test(mime)) return "video";
  return /^audio\/(aac|mp4|mpeg|amr|ogg)/.test(mime) ? "audio" : "document";
}
