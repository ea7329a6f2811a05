/** The forms of a webhook: its address and events, its secrets, a test event. */
import { effect, el, signal } from "../../dom.js";
import { APIError, get, patch, post } from "../../api.js";
import { copyable } from "../../parts/basics.js";
import { dialog } from "../../parts/dialog.js";
import { form, formDialog, options } from "../../parts/form.js";
import { toast, toastError } from "../../parts/notices.js";
import { navigate } from "../../router.js";
import { numbers } from "../../session.js";
import { forms as text } from "texts/webhooks.js";

/** eventTypes are the kinds of events that there are. */
export const eventTypes = (/** @type {AbortSignal} */ signal) => get("event_types", { signal });

const choices = (/** @type {string[]} */ words) => words.map((word) => ({ value: word, label: word }));

/**
 * webhookDialog makes a webhook and shows its secret, once; or changes one.
 * @param {any} one
 */
export async function webhookDialog(one) {
  let types;
  try {
    types = await get("event_types");
  } catch (error) {
    return toastError(error);
  }
  const off = one?.status === "disabled";
  return formDialog(one ? text.edit : text.newOne, {
    fields: fieldsOf(types, one),
    values: one ? {
      ...one,
      fields: one.events.join(", "),
      events: one.events.join(","),
      phone_number_ids: one.phone_number_ids.join(","),
      custom_headers: Object.entries(one.custom_headers ?? {}).map(([name, value]) => name + ": " + value).join("\n"),
    } : { events: "*" },
    blank: null,
    submit: off ? text.saveAndEnable : text.save,
    send: (values, once) => {
      const body = { ...bodyOf(values, one), status: off ? "active" : undefined };
      return one ? patch("v1/webhook_subscriptions/" + one.id, body) : post("v1/webhook_subscriptions", body, once);
    },
    done: () => toast(text.saved),
    shows: one ? undefined : (made) => secretShown(made.initial_secret),
  }, { lasting: true, wide: true });
}

/**
 * fieldsOf are the fields of a new webhook, or of one that is changed: its format stays, and what
 * is secret is not shown.
 * @param {string[]} types
 * @param {any} one
 * @returns {import("../../parts/form.js").Field[]}
 */
function fieldsOf(types, one) {
  const format = signal(one?.format ?? "svc");
  const isNative = () => format() === "provider";
  const choose = (/** @type {any} */ event) => format.set(event.target.value);
  const plain = { autocomplete: "off", spellcheck: "false" };
  const fields = { name: "fields", param: "events", ...text.fields, optional: true, isShown: isNative, props: plain };
  const all = numbers().map((each) => ({ value: each.phone_number_id, label: each.name ?? each.phone_number ?? each.phone_number_id }));
  return [
    { name: "url", ...text.url, type: "url", required: true, props: { maxlength: 2048 } },
    { name: "description", ...text.description, optional: true, props: { maxlength: 255, dir: "auto" } },
    ...(one ? [fields] : [
      {
        name: "format",
        label: text.format,
        type: "radios",
        role: "radiogroup",
        value: "svc",
        options: options(text.formats),
        props: { onchange: choose },
      },
      fields,
      { name: "verify_token", ...text.token, isShown: isNative, props: { maxlength: 255, ...plain } },
      { name: "secret", ...text.appSecret, optional: true, isShown: isNative, props: { maxlength: 128, ...plain } },
    ]),
    {
      name: "events",
      label: text.events,
      type: "checks",
      options: [{ value: "*", label: text.everything }, ...choices(types)],
      isShown: () => !isNative(),
    },
    ...(all.length > 1 ? [{ name: "phone_number_ids", ...text.numbers, type: "checks", options: all }] : []),
    { name: "custom_headers", ...text.headers, type: "textarea", optional: true },
  ];
}

/**
 * @param {Record<string, string | null>} values
 * @param {any} one
 */
function bodyOf({ events, fields, format, verify_token: token, secret, phone_number_ids: ids, custom_headers: headers, ...values }, one) {
  const split = (/** @type {string | null} */ list) => list?.split(",") ?? [];
  const isNative = (one?.format ?? format) === "provider";
  const native = isNative && !one ? { format, verify_token: token, secret } : {};
  const named = isNative ? split(fields ?? "*").map((word) => word.trim()).filter(Boolean) : split(events);
  return {
    ...values,
    ...native,
    url: values.url?.trim(),
    events: named.includes("*") ? ["*"] : named,
    phone_number_ids: ids === undefined ? undefined : split(ids),
    custom_headers: headersOf(headers ?? ""),
  };
}

/** @param {string} lines */
function headersOf(lines) {
  return Object.fromEntries(lines.split("\n").filter((line) => line.trim()).map((line) => {
    const [, name, value] = /^([^:]+):(.*)$/.exec(line.trim()) ?? [];
    if (!name) throw new APIError(text.badHeader, { param: "custom_headers" });
    return [name.trim(), value.trim()];
  }));
}

/** @param {string} secret */
const secretShown = (secret) => [
  el("h3", null, text.secretTitle),
  el("p.notice", null, text.once),
  copyable(secret, { name: text.secret, block: true }),
];

/** rotateDialog mints a further secret, and shows it once. @param {any} one */
export const rotateDialog = (one) => formDialog(text.rotateTitle, {
  lead: text.rotateLead,
  fields: [{
    name: "expires_in_hours",
    label: text.expires,
    type: "select",
    options: [{ value: "", label: text.expiry.none }, ...options(text.expiry.hours)],
  }],
  submit: text.rotate,
  send: ({ expires_in_hours: hours }, once) => post(
    `v1/webhook_subscriptions/${one.id}/secrets`,
    { expires_in_hours: hours && Number(hours) },
    once,
  ),
  shows: (made) => secretShown(made.secret),
});

/**
 * testDialog sends a test event, with a sample that can be changed.
 * @param {any} one
 * @param {string[]} types
 */
export function testDialog(one, types) {
  const known = one.events[0] === "*" ? types : one.events;
  return dialog(text.test, (close) => {
    const type = signal(known[0]);
    let sample = "";
    const node = form({
      fields: [
        {
          name: "event_type",
          label: text.type,
          type: "select",
          value: known[0],
          options: choices(types),
          props: { onchange: (/** @type {any} */ event) => type.set(event.target.value) },
        },
        { name: "payload", ...text.sample, type: "textarea", props: { rows: 12, class: "mono", spellcheck: "false" } },
      ],
      submit: text.test,
      send: ({ event_type, payload }) => (payload?.replaceAll("\r", "") === sample
        ? post(`v1/webhook_subscriptions/${one.id}/test`, { event_type })
        : post(`webhook_subscriptions/${one.id}/test`, { event_type, payload: parse(payload) })),
      done(made) {
        close();
        navigate("deliveries/" + made.id);
      },
      cancel: close,
    });
    effect(() => {
      const asked = type();
      get("event_sample", { query: { type: asked } }).then((made) => {
        if (asked !== type()) return; // another was chosen meanwhile
        const area = /** @type {HTMLTextAreaElement} */ (node.elements.namedItem("payload"));
        sample = area.value = JSON.stringify(made.payload, null, 2);
      }, toastError);
    });
    return node;
  }, { lasting: true, wide: true });
}

/** @param {string} written */
function parse(written) {
  try {
    return JSON.parse(written);
  } catch {
    throw new APIError(text.notJSON, { param: "payload" });
  }
}
