/** Emoji: to write them, and to react with them. */
import { recipient } from "./conversations.js";
import { all, openPicker, reactions } from "./emoji.js";
import { send } from "./outbox.js";
import { reactions as text } from "texts/thread.js";

/** @param {HTMLElement} opener @param {(emoji: string) => void} insert */
export const openEmoji = (opener, insert) => openPicker(opener, text.emoji, all, insert);

/**
 * react reacts to a message, or takes the reaction back.
 * @param {any} m
 * @param {HTMLElement} opener
 * @param {{ number: string, conversation: any, mine: string | undefined }} at
 */
export function react(m, opener, { number, conversation, mine }) {
  openPicker(opener, text.react, reactions, (emoji) => send(number, conversation.id, {
    ...recipient(conversation.contact),
    type: "reaction",
    reaction: { message_id: m.message_id, emoji: emoji === mine ? "" : emoji },
  }));
}
