/** What is asked of a webhook: its address and events, its secrets, a test event. */
import { effect, el, signal } from "../../dom.js";
import { APIError, get, newKey, patch, post } from "../../api.js";
import { copyable } from "../../parts/basics.js";
import { dialog, shown } from "../../parts/dialog.js";
import { form } from "../../parts/form.js";
import { toast, toastError } from "../../parts/notices.js";
import { navigate } from "../../router.js";
import { numbers } from "../../session.js";

const text = {
  newOne: "New webhook",
  edit: "Edit webhook",
  save: "Save",
  saveAndEnable: "Save and enable",
  saved: "Saved",
  fields: { url: "URL", description: "Description", events: "Events", numbers: "Numbers", headers: "Headers" },
  urlHint: "An https URL of your program. It must answer 2xx within ten seconds.",
  descriptionHint: "Whose it is: “shop”, “data warehouse”.",
  everything: "All, also future ones",
  numbersHint: "None chosen: all numbers.",
  headersHint: "Sent with each event, a line each: Name: value",
  badHeader: "Each line must be a name, a colon and a value.",
  secretTitle: "Signing secret",
  secret: "secret",
  once: "Copy it now: it is not shown again. Your program checks with it that an event is from here.",
  rotateTitle: "Rotate secret",
  rotate: "Rotate",
  rotateLead: "From now on both sign. Give your program the new one, then revoke the old one.",
  lifetime: "The new one expires",
  lifetimes: [
    { value: "", label: "Never" },
    { value: "2160", label: "In 90 days" },
    { value: "8760", label: "In a year" },
  ],
  test: "Send test event",
  type: "Type",
  sample: "Sample",
  sampleHint: "It goes to this webhook only. Change what you like.",
  notJSON: "Sample must be a JSON object.",
};

/** eventTypes are the kinds of events that there are. */
export const eventTypes = (/** @type {AbortSignal} */ signal) => get("event_types", { signal });

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
  return dialog(one ? text.edit : text.newOne, (close) => {
    const place = el("div");
    const off = one?.status === "disabled";
    const idempotencyKey = newKey();
    place.append(form({
      fields: fieldsOf(one, types),
      submit: off ? text.saveAndEnable : text.save,
      send: (values) => {
        const body = { ...bodyOf(values), status: off ? "active" : undefined };
        return one ? patch("v1/webhook_subscriptions/" + one.id, body) : post("v1/webhook_subscriptions", body, { idempotencyKey });
      },
      done(made) {
        if (one) {
          toast(text.saved);
          close(made);
        } else place.replaceChildren(secretShown(made.initial_secret, close));
      },
      cancel: close,
    }));
    return place;
  }, { lasting: true, wide: true });
}

/**
 * @param {any} one
 * @param {string[]} types
 * @returns {import("../../parts/form.js").Field[]}
 */
function fieldsOf(one, types) {
  const all = numbers().map((each) => ({ value: each.phone_number_id, label: each.name ?? each.phone_number ?? each.phone_number_id }));
  const headers = Object.entries(one?.custom_headers ?? {}).map(([name, value]) => name + ": " + value).join("\n");
  return [
    { name: "url", label: text.fields.url, type: "url", hint: text.urlHint, value: one?.url, required: true, props: { maxlength: 2048 } },
    {
      name: "description",
      label: text.fields.description,
      hint: text.descriptionHint,
      value: one?.description ?? "",
      optional: true,
      props: { maxlength: 255, dir: "auto" },
    },
    {
      name: "events",
      label: text.fields.events,
      type: "checks",
      value: one?.events.join(",") ?? "*",
      options: [{ value: "*", label: text.everything }, ...types.map((type) => ({ value: type, label: type }))],
    },
    ...(all.length > 1 ? [{
      name: "phone_number_ids",
      label: text.fields.numbers,
      type: "checks",
      hint: text.numbersHint,
      value: one?.phone_number_ids.join(","),
      options: all,
    }] : []),
    { name: "custom_headers", label: text.fields.headers, type: "textarea", hint: text.headersHint, value: headers, optional: true },
  ];
}

/** @param {Record<string, string>} values */
function bodyOf(values) {
  const split = (/** @type {string} */ list) => list.split(",").filter(Boolean);
  const events = split(values.events);
  return {
    url: values.url.trim(),
    description: values.description || null,
    events: events.includes("*") ? ["*"] : events,
    phone_number_ids: values.phone_number_ids === undefined ? undefined : split(values.phone_number_ids),
    custom_headers: headersOf(values.custom_headers),
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

/**
 * @param {string} secret
 * @param {() => void} close
 */
function secretShown(secret, close) {
  return shown(close,
    el("h3", null, text.secretTitle),
    el("p.notice", null, text.once),
    copyable(secret, { name: text.secret, block: true }));
}

/** rotateDialog mints a further secret, and shows it once. @param {any} one */
export function rotateDialog(one) {
  return dialog(text.rotateTitle, (close) => {
    const place = el("div");
    const idempotencyKey = newKey();
    place.append(el("p.lead", null, text.rotateLead), form({
      fields: [{ name: "expires_in_hours", label: text.lifetime, type: "select", options: text.lifetimes }],
      submit: text.rotate,
      send: ({ expires_in_hours: hours }) => post(
        `v1/webhook_subscriptions/${one.id}/secrets`,
        hours ? { expires_in_hours: Number(hours) } : {},
        { idempotencyKey },
      ),
      done: (made) => place.replaceChildren(secretShown(made.secret, close)),
      cancel: close,
    }));
    return place;
  }, { lasting: true, wide: true });
}

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
          options: types.map((each) => ({ value: each, label: each })),
          props: { onchange: (/** @type {any} */ event) => type.set(event.target.value) },
        },
        { name: "payload", label: text.sample, type: "textarea", hint: text.sampleHint, props: { rows: 12, class: "mono", spellcheck: "false" } },
      ],
      submit: text.test,
      send: ({ event_type, payload }) => (payload.replaceAll("\r", "") === sample
        ? post(`v1/webhook_subscriptions/${one.id}/test`, { event_type })
        : post(`webhook_subscriptions/${one.id}/test`, { event_type, payload: parse(payload) })),
      done(made) {
        close();
        navigate("deliveries/" + made.id);
      },
      cancel: close,
    });
    effect(() => {
      get("event_sample", { query: { type: type() } }).then((made) => {
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
