/** Connecting and registering numbers. */
import { el } from "../../dom.js";
import { post } from "../../api.js";
import { dialog } from "../../parts/dialog.js";
import { form } from "../../parts/form.js";
import { toast } from "../../parts/notices.js";
import { sandbox } from "../../session.js";
import { readTeams, teamFields } from "../settings.js";

const text = {
  newOne: "New number",
  again: "Connect again",
  connect: "Connect",
  trying: "Asking the provider…",
  connected: "Connected",
  madeUp: "In a sandbox the provider is played, and numbers are made up.",
  real: "The token is tried first. Nothing is stored unless the provider takes it.",
  register: "Register",
  registered: "Registered",
  registerLead: "Where the number has two-step verification the PIN must match; where it has none, this one becomes its PIN.",
  optional: "Made up when empty.",
  fields: { name: "Name", phone: "Number", id: "Phone number id", waba: "Business account id", token: "Access token", pin: "PIN" },
  tokenHint: "Of a system user, with the permissions to manage and to send.",
  pinHint: "Six digits. Only to register a number that cannot send yet.",
};

const digits = { inputmode: "numeric", autocomplete: "off", maxlength: 20 };
const pin = { name: "pin", label: text.fields.pin, props: { ...digits, maxlength: 6, autocomplete: "one-time-code" } };

/**
 * connectDialog connects a number, or one that lost its connection again. It tells whether
 * it did.
 * @param {any} one
 */
export async function connectDialog(one) {
  const teams = one ? [] : teamFields(await readTeams().catch(() => []));
  const madeUp = sandbox && !one;
  return dialog(one ? text.again : text.newOne, (close) => el("div", null,
    el("p.lead", null, madeUp ? text.madeUp : text.real),
    form({
      fields: madeUp
        ? [
          { name: "name", label: text.fields.name, hint: text.optional, optional: true, props: { maxlength: 200, dir: "auto" } },
          { name: "phone_number", label: text.fields.phone, type: "tel", hint: text.optional, optional: true },
          ...teams,
        ]
        : [
          {
            name: "phone_number_id",
            label: text.fields.id,
            value: one?.phone_number_id,
            required: true,
            props: { ...digits, readonly: Boolean(one) },
          },
          { name: "waba_id", label: text.fields.waba, value: one?.waba_id ?? "", required: true, props: digits },
          {
            name: "access_token",
            label: text.fields.token,
            type: "password",
            hint: text.tokenHint,
            required: true,
            props: { autocomplete: "off", maxlength: 4096 },
          },
          { ...pin, hint: text.pinHint, optional: true },
          ...teams,
        ],
      submit: text.connect,
      busy: text.trying,
      send: (values) => post("numbers", Object.fromEntries(Object.entries(values).filter(([, value]) => value.trim()))),
      done() {
        toast(text.connected);
        close(true);
      },
      cancel: () => close(false),
    })), { lasting: true, wide: true });
}

/** registerDialog registers a number with its PIN. It tells whether it did. @param {any} one */
export function registerDialog(one) {
  return dialog(text.register, (close) => el("div", null,
    el("p.lead", null, text.registerLead),
    form({
      fields: [{ ...pin, required: true }],
      submit: text.register,
      busy: text.trying,
      send: (values) => post(`v1/${one.phone_number_id}/register`, values),
      done() {
        toast(text.registered);
        close(true);
      },
      cancel: () => close(false),
    })), { lasting: true });
}
