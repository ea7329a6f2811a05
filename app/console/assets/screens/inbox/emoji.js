/** The emoji picker: emoji in groups, and a search by the words that people have for them. */
import { computed, el, signal } from "../../dom.js";
import { foldWords } from "../../parts/marked.js";
import { popover } from "../../parts/popover.js";

const text = { search: "Search emoji", none: "No emoji found" };

/** Each emoji with its words, by groups. */
const groups = {
  faces: [
    "😀 grin happy", "😃 smile happy", "😄 laugh happy eyes", "😁 beam teeth", "😅 sweat relief phew",
    "😂 joy tears laugh lol", "🤣 rolling laugh lol", "🙂 slight smile", "🙃 upside down silly", "😉 wink",
    "😊 blush pleased", "😇 angel innocent", "🥰 love hearts adore", "😍 heart eyes love", "🤩 star struck wow",
    "😘 kiss", "😋 yum tasty delicious", "😜 tongue wink silly", "🤗 hug", "🤔 think hmm", "🤨 eyebrow doubt",
    "😐 neutral", "😏 smirk", "🙄 roll eyes", "😬 grimace awkward", "😌 relieved calm", "😴 sleep tired",
    "😷 mask sick ill", "🤒 fever sick ill", "🥳 party celebrate birthday", "😎 cool sunglasses", "🤓 nerd glasses",
    "😕 confused", "🙁 frown sad", "😮 wow surprised open mouth", "😯 hushed surprised", "😳 flushed embarrassed",
    "🥺 please pleading", "😢 cry sad tear", "😭 sob cry sad", "😱 scream shock fear", "😤 huff steam",
    "😡 angry mad red", "🤯 mind blown", "🥲 smile tear", "🫡 salute", "🤝 handshake deal agree",
  ],
  hands: [
    "👍 thumbs up yes good like", "👎 thumbs down no bad dislike", "👌 ok perfect", "✌️ peace victory",
    "🤞 fingers crossed luck", "🤙 call me", "👋 wave hello bye", "👏 clap applause bravo", "🙌 hooray raised hands",
    "🙏 thanks please pray", "💪 strong muscle", "👉 point right", "👈 point left", "👆 point up", "👇 point down",
    "☝️ one up", "✍️ write sign", "👀 eyes look see", "🙋 raise hand question", "🤷 shrug dunno", "🤦 facepalm",
    "🫶 heart hands love",
  ],
  things: [
    "❤️ red heart love", "🧡 orange heart", "💛 yellow heart", "💚 green heart", "💙 blue heart", "💜 purple heart",
    "🖤 black heart", "🤍 white heart", "💔 broken heart", "💕 hearts love", "✨ sparkles shine new", "⭐ star",
    "🔥 fire hot", "💯 hundred perfect", "🎉 party tada celebrate congratulations", "🎁 gift present",
    "🎂 cake birthday", "🎈 balloon party", "💐 flowers bouquet", "🌹 rose flower", "🌞 sun sunny", "🌈 rainbow",
    "☔ rain umbrella", "❄️ snow cold", "🌱 plant grow", "🐶 dog", "🐱 cat",
  ],
  work: [
    "☕ coffee tea", "🍕 pizza", "🍰 cake", "🍞 bread", "🥐 croissant", "🍎 apple", "🍷 wine", "🍺 beer", "🚗 car",
    "🚚 truck delivery", "✈️ plane travel flight", "🏠 house home", "🏢 office building", "🏥 hospital",
    "📦 package parcel box", "📍 pin location place", "📞 phone call", "📱 mobile phone", "💻 laptop computer",
    "📧 email mail", "📄 document page", "📎 paperclip attachment", "📅 calendar date", "⏰ alarm clock time",
    "⏳ hourglass wait", "🔑 key", "🔒 lock secure", "🔔 bell", "🔧 wrench repair fix", "🛒 cart shopping",
    "🏷️ tag price sale", "🧾 receipt invoice", "💳 card pay", "💶 euro money", "💵 dollar money", "📷 camera photo",
    "✅ check done yes", "❌ cross no wrong", "❗ exclamation important", "❓ question", "⚠️ warning", "➡️ arrow right",
    "🆗 ok", "🆕 new", "🆓 free",
  ],
};

/** @param {string} entry */
const emojiOf = (entry) => entry.slice(0, entry.indexOf(" "));
/** @param {string} entry */
const wordsOf = (entry) => entry.slice(entry.indexOf(" ") + 1);

/** What people react with most. */
const quick = ["👍", "❤️", "😂", "😮", "😢", "🙏"];
/** @param {string} entry */
const isQuick = (entry) => quick.includes(emojiOf(entry));

/** All there are, and those to react with: first what people react with most. */
export const all = Object.values(groups);
const toReact = [groups.faces, groups.hands, groups.things];
export const reactions = [toReact.flat().filter(isQuick), ...toReact.map((set) => set.filter((entry) => !isQuick(entry)))];

/** find lists the emoji that have a word beginning with each that was typed. @param {string[][]} sets @param {string} typed */
function find(sets, typed) {
  const wanted = foldWords(typed.trim()).split(/\s+/);
  const fits = (/** @type {string} */ entry) => wanted.every((word) => (" " + wordsOf(entry)).includes(" " + word));
  return sets.flat().filter(fits);
}

/**
 * openPicker shows emoji beside a button.
 * @param {HTMLElement} opener
 * @param {string} name
 * @param {string[][]} sets
 * @param {(emoji: string) => void} choose
 */
export function openPicker(opener, name, sets, choose) {
  const typed = signal("");
  const shown = computed(() => (typed().trim() ? [find(sets, typed())] : sets));
  popover(opener, { role: "dialog", "aria-label": name, class: "menu popover emoji" }, (close) => {
    const pick = (/** @type {string} */ entry) => {
      close();
      choose(emojiOf(entry));
    };
    const press = (/** @type {KeyboardEvent} */ event) => {
      const entry = shown()[0]?.[0];
      if (event.key === "Enter" && typed().trim() && entry && event.target instanceof HTMLInputElement) pick(entry);
      else if (!move(event)) return;
      event.preventDefault();
    };
    return el("div", { onkeydown: press },
      el("input", {
        type: "search", "aria-label": text.search, placeholder: text.search, autocomplete: "off",
        oninput: (/** @type {any} */ event) => typed.set(event.target.value),
      }),
      el("div.emoji-sets", null, () => shown().map((set) => el("div", null, set.map((entry) =>
        el("button", { type: "button", title: wordsOf(entry), onclick: () => pick(entry) }, emojiOf(entry)))))),
      el("p.none", { role: "status" }, () => (shown().flat().length === 0 ? text.none : "")));
  });
}

/** move goes through the emoji by arrows, up and down by rows, and from and to the search. It reports whether it did. @param {KeyboardEvent} event */
function move(event) {
  const box = /** @type {HTMLElement} */ (event.currentTarget);
  const buttons = [...box.querySelectorAll("button")];
  const at = buttons.indexOf(/** @type {any} */ (document.activeElement));
  if (at < 0) {
    if (event.key !== "ArrowDown") return false;
    buttons[0]?.focus();
    return true;
  }
  const { x, y } = buttons[at].getBoundingClientRect();
  const inRow = (/** @type {HTMLElement[]} */ row) => {
    const { y: top } = row[0]?.getBoundingClientRect() ?? { y: 0 };
    return row.filter((one) => one.getBoundingClientRect().y === top)
      .reduce((near, one) => (Math.abs(one.getBoundingClientRect().x - x) < Math.abs(near.getBoundingClientRect().x - x) ? one : near), row[0]);
  };
  const to = {
    ArrowRight: () => buttons[at + 1],
    ArrowLeft: () => buttons[at - 1],
    ArrowDown: () => inRow(buttons.slice(at).filter((one) => one.getBoundingClientRect().y > y)),
    ArrowUp: () => inRow(buttons.slice(0, at).reverse().filter((one) => one.getBoundingClientRect().y < y)) ?? box.querySelector("input"),
  }[event.key];
  to?.()?.focus();
  return Boolean(to);
}
