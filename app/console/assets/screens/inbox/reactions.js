/** Emoji: to write them, and to react with them. */
import { el } from "../../dom.js";
import { place } from "../../parts/menu.js";
import { recipient } from "./conversations.js";
import { send } from "./outbox.js";

const text = { emoji: "Emoji", react: "React", take: "Take back" };
const quick = "👍 ❤️ 😂 😮 😢 🙏";
const groups = [
  "😀 😃 😄 😁 😅 😂 🤣 🙂 🙃 😉 😊 😇 🥰 😍 🤩 😘 😋 😜 🤗 🤔 🤨 😐 😏 🙄 😬 😌 😴 😷 🤒 🥳 😎 🤓 😕 🙁 😮 😯 😳 🥺 😢 😭 😱 😤 😡",
  "👍 👎 👌 ✌️ 🤞 🤙 👋 👏 🙌 🙏 💪 👉 👈 👆 👇 ☝️ 🤝 ✍️ 👀 🙋 🤷 🤦",
  "❤️ 🧡 💛 💚 💙 💜 🖤 🤍 💔 💕 ✨ ⭐ 🔥 🎉 🎁 🎂 🎈 💐 🌹 🌞 🌈 ☔ ❄️",
  "☕ 🍕 🍰 🍞 🥐 🍎 🚗 🚚 ✈️ 🏠 🏢 📦 📍 📞 📱 💻 📧 📄 📎 📅 ⏰ 🔑 🔒 💳 💶 ✅ ❌ ❗ ❓ ➡️ 🆗 🆕",
];

/**
 * openPicker shows emoji beside a button.
 * @param {HTMLElement} opener
 * @param {string} name
 * @param {string[]} sets
 * @param {(emoji: string) => void} choose
 */
function openPicker(opener, name, sets, choose) {
  const node = el("div.menu.emoji", {
    role: "dialog",
    "aria-label": name,
    popover: "auto",
  }, sets.map((set) => el("div", null, set.split(" ").map((emoji) =>
    el("button", { type: "button", onclick: () => {
      node.hidePopover();
      choose(emoji);
    } }, emoji)))));
  document.body.append(node);
  node.addEventListener("toggle", (/** @type {any} */ event) => event.newState === "closed" && node.remove());
  node.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const all = /** @type {HTMLElement[]} */ ([...node.querySelectorAll("button")]);
    if (by) all[(all.indexOf(/** @type {any} */ (document.activeElement)) + by + all.length) % all.length].focus();
    if (event.key !== "Escape" && event.key !== "Tab") event.stopPropagation();
  });
  node.showPopover();
  place(node, opener);
  node.querySelector("button")?.focus();
}

/** @param {HTMLElement} opener @param {(emoji: string) => void} insert */
export const openEmoji = (opener, insert) => openPicker(opener, text.emoji, groups, insert);

/**
 * react reacts to a message, or takes the reaction back.
 * @param {any} m
 * @param {HTMLElement} opener
 * @param {{ number: string, conversation: any, mine: string | undefined }} at
 */
export function react(m, opener, { number, conversation, mine }) {
  openPicker(opener, text.react, [quick, ...groups.slice(0, 2)], (emoji) => send(number, conversation.id, {
    ...recipient(conversation.contact),
    type: "reaction",
    reaction: { message_id: m.message_id, emoji: emoji === mine ? "" : emoji },
  }));
}
