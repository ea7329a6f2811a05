/**
 * A sound and a notification for new messages that concern the person, as they have chosen in the
 * settings, while the tab is not in front. Both are off until somebody switches them on.
 */
import { onEvent } from "../../live.js";
import { button } from "../../parts/basics.js";
import { menu } from "../../parts/menu.js";
import { toast } from "../../parts/notices.js";
import { navigate } from "../../router.js";
import { isOn } from "../../push.js";
import { me, preference, presentTime, sound } from "../../session.js";
import { summary } from "./content.js";
import { nameOf } from "./conversations.js";
import { notify as text } from "texts/details.js";

const notifications = preference("notifications", "off");
/** How old news may be, and how long it is quiet after a sound, in milliseconds. */
const fresh = 300_000;
const rest = 1000;

/** beep plays two short tones. */
function beep() {
  const context = new AudioContext();
  [660, 880].forEach((frequency, i) => {
    const [tone, volume] = [context.createOscillator(), context.createGain()];
    tone.frequency.value = frequency;
    volume.gain.setValueAtTime(0.08, context.currentTime + i * 0.12);
    volume.gain.exponentialRampToValueAtTime(0.001, context.currentTime + i * 0.12 + 0.2);
    tone.connect(volume).connect(context.destination);
    tone.start(context.currentTime + i * 0.12);
    tone.stop(context.currentTime + i * 0.12 + 0.2);
  });
  setTimeout(() => context.close(), 1000);
}

let quietUntil = 0;

/** concerns reports whether the person wants to hear of messages of somebody's conversations. @param {string | null} who */
function concerns(who) {
  const about = me.peek().notify_about;
  return about === "everything" || (about === "mine_and_unassigned" && (!who || who === me.peek().id));
}

// What comes late, after a sleep, is no news: the badge shows it.
onEvent(["message.received"], ({ created_at: at, payload: { svc, entry } }) => {
  const { conversation_id: id, contact, conversation: { assigned_to: who } } = svc;
  if (!concerns(who) || (!document.hidden && document.hasFocus()) || presentTime() - Date.parse(at) > fresh) return;
  if (sound.peek() === "on" && Date.now() > quietUntil) {
    quietUntil = Date.now() + rest;
    beep();
  }
  if (isOn() || notifications.peek() !== "on" || globalThis.Notification?.permission !== "granted") return;
  const shown = new Notification(nameOf(contact), { body: summary(entry[0].changes[0].value.messages[0]), tag: id });
  shown.onclick = () => {
    focus();
    navigate("inbox/" + id);
    shown.close();
  };
});

async function toggleNotifications() {
  if (notifications.peek() === "on") return notifications.set("off");
  const answer = await globalThis.Notification?.requestPermission();
  if (answer === "granted") notifications.set("on");
  else toast(text.denied);
}

/** notifyButton opens the menu of both. */
export function notifyButton() {
  const opener = button(text.open, { icon: "bell", look: "bare", iconOnly: true });
  menu(opener, text.open, () => [
    {
      name: text.sound,
      checked: sound() === "on",
      toggles: true,
      run: () => (sound.set(sound.peek() === "on" ? "off" : "on"), sound.peek() === "on" && beep()),
    },
    { name: text.notify, checked: notifications() === "on", toggles: true, run: () => void toggleNotifications() },
  ]);
  return opener;
}
