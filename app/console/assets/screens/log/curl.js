/** Requests as commands of a shell. */
import { copyable } from "../../parts/basics.js";
import { dialog } from "../../parts/dialog.js";
import { toast } from "../../parts/notices.js";
import { curl as text } from "texts/log.js";

/** quote makes a word of a shell. @param {string} value */
export const quote = (value) => "'" + value.replaceAll("'", "'\\''") + "'";

/**
 * copyCommand puts a command on the clipboard, or shows it where the browser gives none.
 * @param {string} command
 * @param {string} [copied] what is said then
 */
export async function copyCommand(command, copied = text.copied) {
  try {
    await navigator.clipboard.writeText(command);
    toast(copied);
  } catch {
    dialog(text.title, () => copyable(command, { name: text.command, block: true }), { wide: true });
  }
}
