/** The file of a template's header: chosen, uploaded at once, and sent by its id; that of its example by its address. */
import { effect, el, untracked } from "../dom.js";
import { button } from "./basics.js";
import { attachments } from "../screens/inbox/attachments.js";
import { headerFile as text } from "texts/parts.js";

/**
 * headerFile is what templateForm takes for a header with a file. shown is the same parameter
 * with an address that this page can show.
 * @param {string} number
 * @param {string} [name] of the button, where it does not say what is chosen
 */
export function headerFile(number, name) {
  const files = attachments(number);
  const latest = () => files.all()[files.all().length - 1];
  const parameter = (/** @type {string} */ type, /** @type {any} */ more) => {
    const { media, file } = latest() ?? {};
    return media && { type, [type]: { id: media.id, ...(type === "document" && { filename: file?.name }), ...more } };
  };
  return {
    /** @param {string} type */
    upload: (type) => ({
      body: [files.view, button(name ?? text.choose[/** @type {"image"} */ (type)] ?? text.other, { icon: "upload", run: () => {
        files.clear();
        files.choose();
      } })],
      value: () => parameter(type, {}),
    }),
    /** @param {any[]} components */
    shown: (components) => components.map((one) => {
      const [first] = one.parameters ?? [];
      const file = one.type === "header" && first?.[first.type]?.id ? latest() : null;
      return file ? { ...one, parameters: [{ ...first, [first.type]: { ...first[first.type], link: file.url, name: file.file.name } }] } : one;
    }),
  };
}

/**
 * withUpload is the field of a file's address with a button that uploads one: its address is then filled in.
 * @param {string} number
 * @param {HTMLElement} field
 * @param {(url: string) => void} use
 */
export function withUpload(number, field, use) {
  const files = attachments(number);
  effect(() => {
    const url = files.all().at(-1)?.media?.url;
    const input = field.querySelector("input");
    if (!url || !input) return;
    input.value = url;
    untracked(() => use(url));
  });
  return el("div.field", null, field, el("div.below", null, button(text.upload, { icon: "upload", run: () => {
    files.clear();
    files.choose();
  } })), files.view);
}
