/** Search: the messages that were found, in place of the conversations. */
import { effect, el, list, onDispose, signal } from "../../dom.js";
import { get, page } from "../../api.js";
import { ageOf, stamp } from "../../format.js";
import { button, face } from "../../parts/basics.js";
import { empty, failed, skeleton } from "../../parts/states.js";
import { link, query } from "../../router.js";
import { number } from "../../session.js";
import { summary } from "./content.js";
import { keep, nameOf } from "./conversations.js";
import { tick } from "./message.js";

const text = {
  list: "Conversations",
  none: "Nothing was found",
  noneBody: "Every word must occur in a message. Quotes make a phrase.",
  more: "Show more",
};
const most = 180;

/**
 * results lists the messages that were found, in place of the conversations.
 * @param {() => string} words
 * @param {ReturnType<typeof import("./conversations.js").conversations>} store
 * @param {() => string} current
 */
export function results(words, store, current) {
  const found = signal(/** @type {any[] | null} */ (null));
  const failure = signal(/** @type {unknown} */ (null));
  const cursor = signal(/** @type {string | null} */ (null));
  let running = new AbortController();
  onDispose(() => running.abort());

  async function search(more = false) {
    running.abort();
    const { signal } = (running = new AbortController());
    const base = `v1/${number()?.phone_number_id}`;
    try {
      const got = await page(base + "/messages", { signal, query: { search: words(), cursor: more ? cursor() : null } });
      const unknown = [...new Set(got.rows.map((m) => m.conversation_id))].filter((id) => !store.get(id));
      await Promise.all(unknown.map((id) => get(`${base}/conversations/${id}`, { signal }).then((one) => store.merge(one), () => {})));
      if (signal.aborted) return;
      cursor.set(got.cursor);
      found.set([...(more ? found() ?? [] : []), ...got.rows].slice(0, most));
      failure.set(null);
    } catch (error) {
      if (!signal.aborted) failure.set(error);
    }
  }
  effect(() => {
    if (words() && number()) search();
  });
  return el("div.scroll", null,
    () => (failure() ? failed(failure(), search) : found() === null ? skeleton(6) : found()?.length === 0 && empty({
      icon: "search",
      title: text.none,
      body: text.noneBody,
    })),
    el("ul.conversations", { "aria-label": text.list, role: "list" },
      list(() => found() ?? [], (m) => m.id, (m) => resultRow(m(), store, current)),
    ),
    () => cursor() && (found()?.length ?? 0) < most && el("p.more", null, button(text.more, { run: () => search(true) })));
}

/**
 * @param {any} m
 * @param {ReturnType<typeof import("./conversations.js").conversations>} store
 * @param {() => string} current
 */
function resultRow(m, store, current) {
  const name = () => nameOf(store.get(m.conversation_id)?.contact) || m.from || "";
  return el("li.row", { class: () => (current() === m.conversation_id && query().get("message") === m.id ? "row current" : "row") },
    () => face(name()),
    el("div.row-text", null,
      el("a",
        { href: () => link(keep("inbox/" + m.conversation_id, { message: m.id })), dir: "auto", "aria-describedby": "found-" + m.id },
        name,
      ),
    ),
    el("span.row-age", null, stamp(m.created_at, ageOf)),
    el("p.row-last", { id: "found-" + m.id }, m.direction === "outbound" && tick(m), el("span", { dir: "auto" }, summary(m))));
}
