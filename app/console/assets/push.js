/**
 * Notifications on this device, which come also while the console is closed. The browser keeps them
 * switched on; the server keeps them as long as this session lasts, so that they are switched on
 * there again when the same person comes back.
 */
import { call, get, post } from "./api.js";
import { me, preference, root } from "./session.js";
import { push as text } from "texts/settings.js";

/** Who has switched them on in this browser: a user's id. */
const owner = preference("push", "");

const workers = navigator.serviceWorker;
const worker = new URL("sw.js", root).href;
/** The one policy that the page may make: it gives the address of the service worker, and no other. */
const policy = /** @type {any} */ (globalThis).trustedTypes?.createPolicy("confab-worker", { createScriptURL: () => worker });

/** isOn reports whether this device shows notifications for the person who is signed in. */
export const isOn = () => owner() === me().id;

/** whyNot says why this device cannot show any; "" if it can. */
export async function whyNot() {
  const { problem } = await get("devices");
  if (problem) return text.insecure;
  return workers && globalThis.PushManager ? "" : text.unsupported;
}

/** switchOn lets this device show notifications. */
export async function switchOn() {
  if (await Notification.requestPermission() !== "granted") throw new Error(text.denied);
  await unsubscribe(); // from a server that was here before and had another key
  await subscribe();
  owner.set(me().id);
}

async function subscribe() {
  const { public_key: key } = await post("devices/start");
  const registration = await workers.register(policy?.createScriptURL("") ?? worker);
  await workers.ready;
  const before = await registration.pushManager.getSubscription();
  const subscription = before ?? await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  await post("devices", subscription.toJSON());
}

/** unsubscribe ends the subscription of this browser, if it has one, and returns it. */
async function unsubscribe() {
  const subscription = await (await workers.getRegistration(root.href))?.pushManager.getSubscription();
  await subscription?.unsubscribe();
  return subscription;
}

/** switchOff ends them. */
export async function switchOff() {
  owner.set("");
  const ended = await unsubscribe();
  if (ended) await call("DELETE", "devices", { endpoint: ended.endpoint }).catch(() => {}); // it is gone already
}

/** renewPush tells the server of this device again, which belongs to a session that may be new. */
export function renewPush() {
  if (isOn() && globalThis.Notification?.permission === "granted") subscribe().catch(() => {});
}
