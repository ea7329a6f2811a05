/** Files of the library and of messages: where this page shows them from. */
import { signal } from "../dom.js";
import { get } from "../api.js";
import { number, root } from "../session.js";

/** hosted is where a file is shown from: its path, with any public address. @param {string} url */
export const hosted = (url) => new URL("../media/" + new URL(url, root).pathname.split("/media/")[1], root).href;

/** Files as they were read, by number and id; null until then, and for those that are not kept. @type {Map<string, import("../dom.js").Signal<any>>} */
const files = new Map();

/** libraryFile is a file of the library, once it is read. @param {string} id */
function libraryFile(id) {
  const path = `v1/${number()?.phone_number_id}/media/${encodeURIComponent(id)}`;
  const known = files.get(path) ?? signal(/** @type {any} */ (null));
  if (!files.has(path)) get(path).then(known.set, () => {});
  files.set(path, known);
  return known();
}

/**
 * sourceOf is where this page may show the file of a parameter from; "" where it may not: a
 * link to elsewhere is not fetched.
 * @param {any} file with its id in the library, or a link
 * @returns {string}
 */
export function sourceOf(file) {
  const url = file?.id ? libraryFile(file.id)?.url : file?.link;
  if (!url || !URL.canParse(url, root)) return "";
  if (url.startsWith("blob:")) return url;
  const isOurs = file.id || new URL(url, root).origin === root.origin;
  return isOurs && url.includes("/media/") ? hosted(url) : "";
}
