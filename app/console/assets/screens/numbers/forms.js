/** Connecting and registering numbers. */
import { post } from "../../api.js";
import { formDialog } from "../../parts/form.js";
import { toast } from "../../parts/notices.js";
import { sandbox } from "../../session.js";
import { readTeams, teamFields } from "../settings.js";

const text = {
  newOne: "New number",
  again: "Connect again",
  connect: "Connect",
  trying: "Asking the provider…",
  connected: "Connected",
  madeUp: "In a sandbox, the provider is simulated and numbers are made up.",
  real: "The token is checked first. Nothing is saved unless the provider accepts it.",
  register: "Register",
  registered: "Registered",
  registerLead: "If the number has two-step verification, enter its PIN. If not, this becomes its PIN.",
  madeUpFields: [
    { name: "name", label: "Name", hint: "Leave empty to generate one.", optional: true, props: { maxlength: 200, dir: "auto" } },
    { name: "phone_number", label: "Number", type: "tel", hint: "Leave empty to generate one.", optional: true },
  ],
  id: { name: "phone_number_id", label: "Phone number id", required: true },
  fields: [
    {
      name: "waba_id",
      label: "Business account id",
      required: true,
      props: { inputmode: "numeric", autocomplete: "off", maxlength: 20 },
    },
    {
      name: "access_token",
      label: "Access token",
      type: "password",
      hint: "From a system user with permission to manage and send.",
      required: true,
      props: { autocomplete: "off", maxlength: 4096 },
    },
  ],
  pin: { name: "pin", label: "PIN", props: { inputmode: "numeric", autocomplete: "one-time-code", maxlength: 6 } },
  keptHint: "Six digits. Leave empty to use the PIN stored for this number.",
  pinHint: "Six digits. Only needed to register a number that can’t send yet.",
};

/**
 * connectDialog connects a number, or one that lost its connection again. It reports whether
 * it did.
 * @param {any} one
 */
export async function connectDialog(one) {
  const teams = one ? [] : teamFields(await readTeams().catch(() => []));
  const madeUp = sandbox && !one;
  const real = () => [
    { ...text.id, props: { ...text.fields[0].props, readonly: Boolean(one) } },
    ...text.fields,
    { ...text.pin, hint: text.pinHint, optional: true },
  ];
  return formDialog(one ? text.again : text.newOne, {
    lead: madeUp ? text.madeUp : text.real,
    fields: [...(madeUp ? text.madeUpFields : real()), ...teams],
    values: one,
    submit: text.connect,
    busy: text.trying,
    send: (values) => post("numbers", values),
    done: () => toast(text.connected),
  }, { lasting: true, wide: true });
}

/** registerDialog registers a number with its PIN. It reports whether it did. @param {any} one */
export const registerDialog = (one) => formDialog(text.register, {
  lead: text.registerLead,
  fields: [{ ...text.pin, hint: text.keptHint, optional: true }],
  submit: text.register,
  busy: text.trying,
  send: (values) => post(`v1/${one.phone_number_id}/register`, values),
  done: () => toast(text.registered),
}, { lasting: true });
