/** Pictures: in their own shape in a thread, and large in a dialog that goes through all of the conversation. */
import { computed, effect, el, onDispose, signal } from "../../dom.js";
import { page } from "../../api.js";
import { clockOf, dayOf, stamp } from "../../format.js";
import { along } from "../../keys.js";
import { button, icon } from "../../parts/basics.js";
import { dialog } from "../../parts/dialog.js";
import { hosted, sourceOf } from "../../parts/library.js";
import { number } from "../../session.js";
import { pictures as text } from "texts/thread.js";

/** The longer side of a picture in a thread, and the box of one whose shape is not known yet. */
const longest = 320;
const shortest = 96;
const unknown = { width: 300, height: 225 };
const zooms = [1, 1.5, 2, 3, 4];
const pageSize = 50;

/**
 * The shapes of pictures that were loaded, by their addresses. Until one is known its picture
 * stands in a box that stays, so that the messages around it do not move.
 * @type {Map<string, { width: number, height: number }>}
 */
const shapes = new Map();

/** fitted is a shape within bounds. @param {{ width: number, height: number }} shape */
function fitted({ width, height }) {
  const scale = Math.min(1, longest / width, longest / height);
  return { width: Math.max(shortest, width * scale), height: Math.max(shortest, height * scale) };
}

/**
 * picture shows a picture of a message. A click opens it.
 * @param {any} m
 * @param {string} src
 * @param {string} name
 */
export function picture(m, src, name) {
  const shape = shapes.get(src);
  const { width, height } = shape ? fitted(shape) : unknown;
  const learn = (/** @type {any} */ { target }) => shapes.set(src, { width: target.naturalWidth, height: target.naturalHeight });
  /** @type {HTMLElement} */
  const node = el("button.picture", { type: "button", "aria-haspopup": "dialog", onclick: () => openPictures(m, src, name) },
    el("img", { src, alt: name, loading: "lazy", onload: learn }),
  );
  node.style.width = `${Math.round(width)}px`;
  node.style.aspectRatio = `${width} / ${height}`;
  return node;
}

/** @typedef {{ id: string, at: string, src: string, name: string, caption: string }} Shown */

/** shownOf is a message as the dialog shows it. @param {any} m @param {string} src @param {string} [name] @returns {Shown} */
const shownOf = (m, src, name) => ({
  id: m.id,
  at: m.created_at,
  src,
  name: name || m.image?.caption || text.title,
  caption: m.image?.caption ?? "",
});

/**
 * openPictures shows a picture of a message, and leads to the others of the conversation.
 * @param {any} m
 * @param {string} src
 * @param {string} [name]
 */
export const openPictures = (m, src, name) => dialog(text.title, () => viewer(shownOf(m, src, name), m.conversation_id));

/** @param {Shown} first @param {string} conversation */
function viewer(first, conversation) {
  const current = signal(first);
  const { all, readOlder } = picturesOf(first, conversation);
  const zoom = signal(0);
  /** @type {HTMLImageElement} */
  let image;

  const neighbour = (/** @type {number} */ by) => all()[all().findIndex((one) => one.id === current().id) + by];
  const go = (/** @type {number} */ by) => {
    const next = neighbour(by);
    if (!next) return;
    zoom.set(0);
    current.set(next);
  };
  effect(() => {
    if (!neighbour(-1)) readOlder();
  });

  const magnify = (/** @type {number} */ to) => zoom.set(Math.max(0, Math.min(zooms.length - 1, to)));
  let fit = 0; // the width of the whole picture in the dialog
  effect(() => {
    const factor = zooms[zoom()];
    if (!image) return;
    if (image.style.maxWidth !== "none") fit = image.getBoundingClientRect().width;
    image.style.maxWidth = image.style.maxHeight = factor === 1 ? "" : "none";
    image.style.width = factor === 1 ? "" : `${fit * factor}px`;
  });

  const press = (/** @type {KeyboardEvent} */ event) => {
    const by = zoom.peek() > 0 ? 0 : along(event); // arrows move a picture that is magnified
    const run = by ? () => go(by) : {
      "+": () => magnify(zoom.peek() + 1),
      "-": () => magnify(zoom.peek() - 1),
    }[event.key];
    if (!run || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    run();
  };
  document.addEventListener("keydown", press);
  onDispose(() => document.removeEventListener("keydown", press));

  const tool = (
    /** @type {string} */ name,
    /** @type {string} */ drawing,
    /** @type {() => boolean} */ can,
    /** @type {() => void} */ run,
  ) => button(name, { icon: drawing, look: "bare", iconOnly: true, "aria-disabled": () => !can() || null, run });
  return el("div.viewer", null,
    el("div.viewer-stage", { tabindex: "0", autofocus: true, role: "group", "aria-label": () => current().name },
      el("img", {
        src: () => current().src,
        alt: () => current().name,
        ref: (/** @type {HTMLImageElement} */ node) => (image = node),
        onclick: () => magnify(zoom.peek() > 0 ? 0 : 2),
        class: () => (zoom() > 0 ? "zoomed" : ""),
      })),
    el("p.viewer-caption", { role: "status", dir: "auto" },
      () => current().caption, " ", () => stamp(current().at, (at) => `${dayOf(at)}, ${clockOf(at)}`)),
    el("div.viewer-tools", null,
      tool(text.previous, "back", () => Boolean(neighbour(-1)), () => go(-1)),
      tool(text.next, "next", () => Boolean(neighbour(1)), () => go(1)),
      tool(text.zoomOut, "minus", () => zoom() > 0, () => magnify(zoom() - 1)),
      tool(text.zoomIn, "plus", () => zoom() < zooms.length - 1, () => magnify(zoom() + 1)),
      el("a.button", { href: () => current().src, download: "" }, icon("download"), el("span", null, text.download))));
}

/**
 * picturesOf are the pictures of a conversation, the oldest first: at first the one that was
 * opened, then what was sent last, then more as somebody goes back. The headers of templates are
 * among them.
 * @param {Shown} first
 * @param {string} conversation
 */
function picturesOf(first, conversation) {
  const lists = ["image", "template"].map((type) => ({
    type,
    read: signal(/** @type {any[]} */ ([])),
    cursor: /** @type {string | null | undefined} */ (undefined),
  }));
  const all = computed(() => {
    // Where one list has more, the other may not be shown further back, or pictures would be left out.
    const from = lists.map(({ read, cursor }) => (cursor === null ? "" : read().at(-1)?.created_at ?? "")).toSorted().at(-1) ?? "";
    const others = lists.flatMap(({ read }) => read()).filter((m) => m.id !== first.id && m.created_at >= from);
    return [first, ...others.map((m) => shownOf(m, srcOf(m))).filter((one) => one.src)].toSorted((a, b) => (a.at < b.at ? -1 : 1));
  });
  let isReading = false;
  let hasEnded = false;
  onDispose(() => (hasEnded = true));

  async function readOlder() {
    const rest = lists.filter(({ cursor }) => cursor !== null);
    if (isReading || rest.length === 0 || hasEnded) return;
    isReading = true;
    const path = `v1/${number()?.phone_number_id}/messages`;
    const pages = await Promise.all(rest.map(({ type, cursor }) =>
      page(path, { query: { conversation_id: conversation, type, limit: pageSize, cursor } }).catch(() => null)));
    isReading = false;
    if (hasEnded) return;
    pages.forEach((got, i) => {
      if (!got) return;
      rest[i].cursor = got.cursor;
      rest[i].read.update((before) => [...before, ...got.rows]);
    });
  }
  return { all, readOlder };
}

/** srcOf is where a picture of a message is shown from; "" where it has none. @param {any} m */
function srcOf(m) {
  if (m.type === "template") return sourceOf(headerPicture(m));
  return m.media?.url && !m.image?.link ? hosted(m.media.url) : "";
}

/** @param {any} m */
const headerPicture = (m) => m.template?.components?.find((/** @type {any} */ one) => one.type?.toLowerCase() === "header")?.parameters?.[0]?.image;
