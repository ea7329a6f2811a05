/**
 * Whether anything can be sent from a number now, and if not, why and what to do about it. The
 * server says it, by the rules that a send follows, so that people know before they write.
 */
import { computed, effect, el, onDispose } from "../../dom.js";
import { get } from "../../api.js";
import { together } from "../../live.js";
import { follow } from "../../parts/lists.js";
import { resource } from "../../parts/states.js";
import { link } from "../../router.js";
import { numbers } from "../../session.js";
import { onRefused, onSent } from "./outbox.js";
import { sending as text } from "texts/composer.js";

/** @typedef {{ code: string, message: string }} Refusal */

/** How often it is looked again while nothing can be sent: a month may turn, a plan may be raised. */
const again = 10_000;

/** sending reads whether anything can be sent from a number, again and again. @param {() => string} number */
export function sending(number) {
  const state = resource(async (signal) => {
    const of = number();
    if (!of) return null;
    const found = await get(`${of}/sending`, { signal }).catch((error) => {
      if (error.code !== "organization_suspended") throw error;
      return { refusal: error }; // then nothing at all is answered
    });
    return { of, refusal: found.refusal };
  }, ["account"]);
  follow(number, state.reload);

  // Of another number it says nothing. The same refusal stays the same object: nothing is drawn again.
  let last = /** @type {any} */ (null);
  const refusal = computed(() => {
    const { of, refusal: now = null } = state.data() || {};
    if (of !== number() || !now) last = null;
    else if (now.code !== last?.code || now.message !== last.message) last = now;
    return /** @type {Refusal | null} */ (last);
  });

  const read = together(state.reload);
  onDispose(onRefused(read));
  onDispose(onSent(read)); // it may have been the last one of the month
  const look = () => document.hidden || read();
  document.addEventListener("visibilitychange", look);
  onDispose(() => document.removeEventListener("visibilitychange", look));
  effect(() => {
    const timer = refusal() && setInterval(look, again);
    onDispose(() => clearInterval(timer ?? 0));
  });
  return refusal;
}

/** @param {Refusal} refusal */
export const refusalText = ({ code, message }) => text.off + (text.reasons[/** @type {"quota_exceeded"} */ (code)] ?? message);

/** remedy leads to where something can be done about it. @param {Refusal} refusal @param {string} number */
export function remedy({ code }, number) {
  const customer = numbers().find((one) => one.phone_number_id === number)?.customer_id;
  if (code === "customer_suspended" && customer) return el("a.button", { href: link("customers/" + customer) }, text.customer);
  const isOfNumber = !["organization_suspended", "subscription_inactive", "quota_exceeded"].includes(code);
  return isOfNumber && el("a.button", { href: link("numbers/" + number) }, text.see);
}
