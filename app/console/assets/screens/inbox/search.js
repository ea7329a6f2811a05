/** Search: people whose names begin with the words, then the messages that say them, in place of the conversations. */
import { effect, el, list, onDispose, signal } from "../../dom.js";
import { get, page } from "../../api.js";
import { ageOf, stamp } from "../../format.js";
import { button, face, icon } from "../../parts/basics.js";
import { foldWords, marked } from "../../parts/marked.js";
import { empty, failed, skeleton } from "../../parts/states.js";
import { link, query } from "../../router.js";
import { isAdmin, number } from "../../session.js";
import { summary } from "./content.js";
import { keep, nameOf } from "./conversations.js";
import { tick } from "./message.js";
import { search as text } from "texts/inbox.js";

const most = 180;
/** How many pages are read until there is enough that is no copy of a broadcast. */
const mostPages = 5;
const enough = 15;

/**
 * @typedef {{ key: string, name?: any, message?: any, text?: string, broadcast?: string, title?: string, copies?: number }} Hit a person, a message, or the copies of a broadcast
 */

/**
 * results lists what was found, in place of the conversations.
 * @param {() => string} words
 * @param {ReturnType<typeof import("./conversations.js").conversations>} store
 * @param {() => string} current
 */
export function results(words, store, current) {
  const found = signal(/** @type {Hit[] | null} */ (null));
  const failure = signal(/** @type {unknown} */ (null));
  const cursor = signal(/** @type {string | null} */ (null));
  let running = new AbortController();
  onDispose(() => running.abort());

  async function search(more = false) {
    running.abort();
    const { signal } = (running = new AbortController());
    const of = number()?.phone_number_id ?? "";
    try {
      let from = more ? cursor() : null;
      let hits = more ? found() ?? [] : await people(of, words(), store, signal);
      for (let i = 0, had = hits.length; i < mostPages && hits.length < had + enough; i++) {
        const got = await page(`v1/${of}/messages`, { signal, query: { search: words(), cursor: from } });
        hits = folded(hits, await textsOf(of, got.rows, signal));
        from = got.cursor;
        if (!from) break;
      }
      const unknown = hits.map((one) => one.message?.conversation_id).filter((id, i, all) => id && all.indexOf(id) === i && !store.get(id));
      await Promise.all(unknown.map((id) => get(`v1/${of}/conversations/${id}`, { signal }).then((one) => store.merge(one), () => {})));
      if (signal.aborted) return;
      cursor.set(from);
      found.set(hits.slice(0, most));
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
      list(() => found() ?? [], (hit) => hit.key, (hit) => hitRow(hit, { words, store, current, hasMore: () => cursor() !== null })),
    ),
    () => cursor() && (found()?.length ?? 0) < most && el("p.more", null, button(text.more, { run: () => search(true) })));
}

/**
 * people are those whose names begin with the words, with the conversations that they have.
 * @param {string} of the number
 * @param {string} words
 * @param {ReturnType<typeof import("./conversations.js").conversations>} store
 * @param {AbortSignal} signal
 * @returns {Promise<Hit[]>}
 */
async function people(of, words, store, signal) {
  const wanted = foldWords(words.trim());
  const begins = (/** @type {any} */ one) => foldWords(one.name ?? "").split(/\s+/).some((_, i, all) => all.slice(i).join(" ").startsWith(wanted));
  const found = await get(`v1/${of}/contacts`, { signal, query: { search: words, limit: 20 } }).catch(() => []);
  const hits = await Promise.all(found.filter(begins).slice(0, 5).map(async (/** @type {any} */ one) => {
    const [conversation] = await get(`v1/${of}/conversations`, { signal, query: { contact_id: one.id, limit: 1 } }).catch(() => []);
    if (conversation) store.merge(conversation);
    return conversation && { key: one.id, name: conversation };
  }));
  return hits.filter(Boolean);
}

/**
 * textsOf reads what messages say, and of which broadcasts they are copies.
 * @param {string} of the number
 * @param {any[]} messages
 * @param {AbortSignal} signal
 * @returns {Promise<Hit[]>}
 */
async function textsOf(of, messages, signal) {
  if (messages.length === 0) return [];
  const told = await get(of + "/search_hits", { signal, query: { ids: messages.map((one) => one.id).join(",") } });
  return messages.map((message) => {
    const more = told.find((/** @type {any} */ one) => one.id === message.id) ?? {};
    const { broadcast_id: broadcast, broadcast_name: title } = more;
    return { key: broadcast ?? message.id, message, text: more.text || summary(message), broadcast, title, copies: 1 };
  });
}

/**
 * folded adds hits to others; the copies of a broadcast are one.
 * @param {Hit[]} known
 * @param {Hit[]} added
 */
function folded(known, added) {
  const all = new Map(known.map((one) => [one.key, one]));
  for (const one of added) {
    const same = all.get(one.key);
    all.set(one.key, same ? { ...same, copies: (same.copies ?? 0) + 1 } : one);
  }
  return [...all.values()];
}

/**
 * @param {() => Hit} hit
 * @param {{ words: () => string, store: ReturnType<typeof import("./conversations.js").conversations>, current: () => string, hasMore: () => boolean }} list
 */
function hitRow(hit, { words, store, current, hasMore }) {
  const { key, name: conversation, message: m, broadcast, title = "" } = hit();
  if (conversation) {
    return row(key, nameOf(conversation.contact), {
      href: () => link(keep("inbox/" + conversation.id, {})),
      isCurrent: () => current() === conversation.id && !query().get("message"),
      marks: words,
      below: el("span", null, text.contact),
    });
  }

  const toMessage = () => link(keep("inbox/" + m.conversation_id, { message: m.id }));
  const line = el("span", { dir: "auto" }, () => marked(hit().text ?? "", words()));
  if (broadcast) {
    return row(key, title, {
      href: () => (isAdmin ? link("broadcasts/" + broadcast) : toMessage()),
      drawing: icon("broadcasts"),
      age: m.created_at,
      below: [el("b", null, () => (hasMore() ? text.copiesOrMore : text.copies)(hit().copies ?? 1)), line],
    });
  }
  let contact = /** @type {any} */ (null); // the list forgets what it does not show
  const name = () => {
    contact = store.get(m.conversation_id)?.contact ?? contact;
    return nameOf(contact) || (m.direction === "inbound" ? m.from : m.to) || "";
  };
  return row(key, name, {
    href: toMessage,
    isCurrent: () => current() === m.conversation_id && query().get("message") === m.id,
    age: m.created_at,
    below: [m.direction === "outbound" && tick(m), line],
  });
}

/**
 * @param {string} key
 * @param {string | (() => string)} name
 * @param {{ href: () => string, below: any, isCurrent?: () => boolean, age?: string, drawing?: any, marks?: () => string }} more
 */
function row(key, name, { href, below, isCurrent = () => false, age, drawing, marks }) {
  const named = typeof name === "function" ? name : () => name;
  return el("li.row", { class: () => (isCurrent() ? "row current" : "row") },
    drawing ? el("span.face", { "aria-hidden": "true" }, drawing) : () => face(named()),
    el("div.row-text", null,
      el("a", { href, dir: "auto", "aria-describedby": "found-" + key }, () => (marks ? marked(named(), marks()) : named())),
      el("span.row-age", null, age && stamp(age, ageOf))),
    el("p.row-last.found", { id: "found-" + key }, below));
}
