/** Connecting and registering numbers. */
import { post } from "../../api.js";
import { formDialog } from "../../parts/form.js";
import { toast } from "../../parts/notices.js";
import { sandbox } from "../../session.js";
import { readTeams, teamFields } from "../settings.js";
import { forms as text } from "texts/numbers.js";

const pin = { name: "pin", label: text.pin, optional: true, props: { inputmode: "numeric", autocomplete: "one-time-code", maxlength: 6 } };

/**
 * connectDialog connects a number, or one that lost its connection again. It reports whether
 * it did.
 * @param {any} one
 */
export async function connectDialog(one) {
  const teams = one ? [] : teamFields(await readTeams().catch(() => []));
  const madeUp = sandbox && !one;
  const id = { inputmode: "numeric", autocomplete: "off", maxlength: 20 };
  const real = () => [
    { name: "phone_number_id", label: text.id, required: true, props: { ...id, readonly: Boolean(one) } },
    { name: "waba_id", label: text.waba, required: true, props: id },
    { name: "access_token", ...text.token, type: "password", required: true, props: { autocomplete: "off", maxlength: 4096 } },
    { ...pin, hint: text.pinHint },
  ];
  const generated = [
    { name: "name", ...text.name, optional: true, props: { maxlength: 200, dir: "auto" } },
    { name: "phone_number", ...text.number, type: "tel", optional: true },
  ];
  return formDialog(one ? text.again : text.newOne, {
    lead: madeUp ? text.madeUp : text.real,
    fields: [...(madeUp ? generated : real()), ...teams],
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
  fields: [{ ...pin, hint: text.keptHint }],
  submit: text.register,
  busy: text.trying,
  send: (values) => post(`v1/${one.phone_number_id}/register`, values),
  done: () => toast(text.registered),
}, { lasting: true });
