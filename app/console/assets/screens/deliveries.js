/** One delivery: what was sent, how it was signed, and what came of each attempt. */
import { computed, el, signal, when } from "../dom.js";
import { post } from "../api.js";
import { msOf, time } from "../format.js";
import { button, chip, copyable, heading, section, upper } from "../parts/basics.js";
import { toast, toastError } from "../parts/notices.js";
import { empty, loaded, pace, resource } from "../parts/states.js";
import { fact, table } from "../parts/table.js";
import { link, navigate } from "../router.js";
import { copyCommand, quote } from "./log/curl.js";
import { answer, deliveryChip } from "./webhooks/words.js";
import { delivery as text } from "texts/webhooks.js";

/** @type {import("../router.js").Build} */
export default function deliveries({ params }) {
  if (!params.id) {
    const home = el("a.button", { href: link("webhooks") }, text.webhooks);
    const none = empty({ icon: "webhooks", level: "h1", title: text.none, body: text.noneBody, action: home });
    return { title: text.title, body: el("div.page", null, none) };
  }
  const path = "v1/webhook_deliveries/" + params.id;
  const one = resource(path, ["delivery"], pace);
  const body = el("div.page", null, loaded(one, () => content(one, path), 4, "h1"));
  return { title: () => one.data()?.event_type ?? text.title, body };
}

/**
 * @param {import("../parts/states.js").Resource<any>} one
 * @param {string} path
 */
function content(one, path) {
  const data = computed(() => one.data());
  const attempts = resource(path + "/attempts", ["delivery"], pace);
  const request = resource(path.slice(3) + "/request", ["delivery"], pace);
  const hook = resource("v1/webhook_subscriptions/" + data().subscription_id, ["delivery"], pace);
  const replay = async () => {
    try {
      const made = await post(path + "/replay");
      toast(text.replayed);
      navigate("deliveries/" + made.id);
    } catch (error) {
      toastError(error);
    }
  };

  return [
    heading(data().event_type, {
      crumb: [
        el("a", { href: link("webhooks") }, text.webhooks),
        " / ",
        el("a", { href: link("webhooks/" + data().subscription_id) }, () => request.data()?.url ?? text.webhook),
      ],
      beside: [() => deliveryChip(data()), copyable(data().id, { name: text.id })],
      lead: () => outcomeText(data(), request.data()?.replayed_as),
      actions: [
        () => request.data() && el("a.button", { href: link("trace/" + header(request.data(), "Webhook-Id")) }, text.trace),
        button(text.curl, { run: () => request.data() && copyCurl(request.data()) }),
        button(text.replay, { look: "primary", run: replay }),
      ],
    }),
    section(text.attempts, {}, loaded(attempts, (rows) => when(
      () => rows().length > 0,
      () => attemptTable(rows),
      () => el("p.none", null, () => untriedText(data(), hook.data())),
    ), 1)),
    loaded(request, (shown) => [
      section(text.payload, { lead: text.payloadLead }, () => code(pretty(shown().body))),
      section(text.headers, { lead: () => (shown().as_sent ? text.asSent : text.asNow) }, () => headerTable(shown().headers)),
      section(text.verify, { lead: text.verifyLead }, () => verify(shown())),
    ]),
  ];
}

/**
 * outcomeText says in a sentence how it went.
 * @param {any} one
 * @param {string | null} [replay] the delivery that repeats it
 */
function outcomeText(one, replay) {
  const why = one.error_message;
  const what = one.status === "succeeded"
    ? text.taken(one.response_status, msOf(one.duration_ms ?? 0))
    : why ? el("bdi", null, upper(why) + ".") : one.status === "dead" ? text.untriedDead : text.untried;
  return [
    what,
    one.status === "failed" && [text.next, time(one.next_attempt_at), "."],
    one.status === "dead" && (replay ? text.givenUp : text.dead),
    one.replayed_from && [" ", text.of, other(one.replayed_from), "."],
    replay && [" ", text.as, other(replay), "."],
  ];
}

/**
 * untriedText says why there was no attempt.
 * @param {any} one
 * @param {any} hook its webhook, once it is known
 */
function untriedText(one, hook) {
  if (one.status === "dead") return text.neverTried;
  return hook?.status === "paused" ? text.paused : text.noAttempts;
}

/** other leads to another delivery. @param {string} id */
const other = (id) => el("a.id", { href: link("deliveries/" + id) }, id);

/** @param {string} shown */
export const code = (shown) => el("pre.code", { tabindex: "0", translate: "no" }, shown);

/** pretty sets JSON in lines, and leaves what is none. @param {string} body */
export function pretty(body) {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

/** @param {() => any[]} rows */
function attemptTable(rows) {
  return table({
    caption: text.attempts,
    rows,
    key: (one) => String(one.attempt),
    columns: text.columns,
    kinds: { 2: "number" },
    cells: [
      (one) => String(one().attempt),
      (one) => time(one().attempted_at),
      (one) => answer(one()),
      (one) => one().error_message ?? "",
      (one) => (one().response_body_snippet
        ? el("code.snippet", { dir: "auto", tabindex: "0" }, one().response_body_snippet)
        : text.nothing),
    ],
  });
}

/**
 * @param {{ headers: { name: string, value: string }[] }} request
 * @param {string} name
 */
const header = (request, name) => request.headers.find((one) => one.name === name)?.value ?? "";

/** @param {{ name: string, value: string }[]} headers */
const headerTable = (headers) => el("dl.headers", null,
  headers.map((one) => fact(one.name, [one.value])));

/**
 * verify shows the computation of the signature, and does it with a secret that is given.
 * @param {any} request
 */
function verify(request) {
  const signature = header(request, "X-Svc-Signature");
  const at = /t=(\d+)/.exec(signature)?.[1] ?? "";
  const result = signal(/** @type {boolean | null} */ (null));
  const signed = at + "." + request.body;

  const run = async (/** @type {SubmitEvent} */ event) => {
    const secret = /** @type {HTMLInputElement} */ (/** @type {HTMLElement} */ (event.target).querySelector("input")).value.trim();
    const bytes = (/** @type {string} */ written) => new TextEncoder().encode(written);
    const key = await crypto.subtle.importKey("raw", bytes(secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes(signed)));
    result.set(signature.includes("v1=" + Array.from(mac, (byte) => byte.toString(16).padStart(2, "0")).join("")));
  };

  return el("div.form.verify", null,
    copyable(signed, { name: text.signed, block: true }),
    el("p.lead", null, text.compute),
    copyable(signature, { name: "X-Svc-Signature", block: true }),
    Boolean(crypto.subtle) && el("form.field", { onsubmit: run },
      el("label.label", { for: "secret" }, text.secret),
      el("div.together", null,
        el("input", { id: "secret", type: "password", autocomplete: "off", required: true, "aria-describedby": "secret-hint" }),
        el("button.button", null, text.run)),
      el("p.hint", { id: "secret-hint" }, text.secretHint),
      el("p", { role: "status" }, () => result() !== null && (result()
        ? [chip(text.match[0], "good"), text.match[1]]
        : [chip(text.mismatch[0], "bad"), text.mismatch[1]]))),
    el("h3", null, text.shell),
    copyable(`printf %s ${quote(signed)} | openssl dgst -sha256 -hmac "$SECRET"`, { name: text.command, block: true }));
}

/** copyCurl copies the request as a command. @param {any} request */
function copyCurl(request) {
  const headers = request.headers.map((/** @type {any} */ one) => "-H " + quote(one.name + ": " + one.value));
  copyCommand(["curl -i " + quote(request.url), ...headers, "--data-binary " + quote(request.body)].join(" \\\n  "));
}
