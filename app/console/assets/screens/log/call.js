/** One call: what was asked, by whom, what it was answered and what it made. */
import { el } from "../../dom.js";
import { placeOf } from "../../dialogs.js";
import { sizeOf } from "../../format.js";
import { button, chip, copyable, heading, section } from "../../parts/basics.js";
import { loaded, resource } from "../../parts/states.js";
import { link } from "../../router.js";
import { publicAPI } from "../../session.js";
import { code, pretty } from "../deliveries.js";
import { tone, tookOf, whoOf } from "./calls.js";
import { copyCommand, quote } from "./curl.js";
import { datedStamp } from "./lines.js";
import { call as text } from "texts/log.js";

/** @param {string} id */
export function oneCall(id) {
  const call = resource("log/" + encodeURIComponent(id), ["call"]);
  const title = () => (call.data() ? `${call.data().method} ${call.data().path}` : text.request);
  const body = el("div.page", null,
    heading(title, {
      crumb: [el("a", { href: link("log") }, text.all), el("span.quiet", null, " / " + text.request)],
      beside: () => call.data() && [chip(String(call.data().status), tone(call.data().status)), copyable(id, { name: text.id })],
      actions: () => call.data() && apiPath(call.data()) && button(text.curl, { run: () => copyCall(call.data()) }),
    }),
    loaded(call, (found) => [
      el("dl.log-facts", null, () => facts(found()).map(([name, value]) => [el("dt", null, name), el("dd", null, value)])),
      () => bodies(found()),
    ]));
  return { title, body };
}

/**
 * @param {any} call
 * @returns {[string, import("../../dom.js").Child][]}
 */
function facts(call) {
  const made = call.made_id && placeOf(call.made_id);
  const who = call.api_key ? "settings/keys" : "settings/people/" + call.user_id;
  /** @type {[string, import("../../dom.js").Child][]} */
  const all = [
    [text.fields.when, datedStamp(call.created_at)],
    [text.fields.took, tookOf(call.latency_ms)],
    [text.fields.who, el("a", { href: link(who), dir: "auto" }, whoOf(call))],
    [text.fields.ip, el("span.mono", null, call.ip)],
    [text.fields.error, call.error_code ? chip(call.error_code, "bad") : text.none],
    [text.fields.made, call.made_id ? made ? el("a", { href: link(made.path) }, call.made_id) : call.made_id : text.none],
  ];
  if (call.made_id?.startsWith("msg_")) all.push([text.fields.trace, el("a", { href: link("trace/" + call.made_id) }, text.trace)]);
  return all;
}

/** @param {any} call */
function bodies(call) {
  if (!call.response_body) return section(text.sent, {}, el("p.none", null, reasonOf(call)));
  return [section(text.sent, {}, bodyOf(call.request_body)), section(text.answered, {}, bodyOf(call.response_body))];
}

/** reasonOf says why there are no bodies. @param {any} call */
function reasonOf(call) {
  if (call.user_id) return text.console;
  if (call.bodies === "off") return text.off;
  return call.bodies === "errors" && call.status < 400 ? text.errors : text.gone;
}

/** How many bytes of a body are kept. */
const kept = 16_000;

/** @param {{ text: string, bytes: number, is_cut: boolean }} body */
function bodyOf(body) {
  if (!body.text) return el("p.none", null, text.empty);
  return [code(pretty(body.text)), body.is_cut && el("p.hint", null, text.cut(sizeOf(kept), sizeOf(body.bytes)))];
}

/**
 * apiPath is where a program makes the same call, below the address of the API; null where
 * only the console can.
 * @param {any} call
 */
const apiPath = (call) => /^(?:\/console\/api)?\/v1\/(.+)$/.exec(call.path)?.[1] ?? null;

/** copyCall copies a call as a command. @param {any} call */
function copyCall(call) {
  const sent = call.request_body;
  const lines = [
    `curl -X ${call.method} ${quote(new URL(apiPath(call) ?? "", publicAPI).href)}`,
    "-H \"Authorization: Bearer $CONFAB_API_KEY\"",
  ];
  if (["POST", "PATCH", "PUT"].includes(call.method)) {
    lines.push("-H 'Content-Type: application/json'", "--data-binary " + (sent?.text && !sent.is_cut ? quote(sent.text) : "@body.json"));
  }
  copyCommand(lines.join(" \\\n  "), sent?.text.includes("\"...\"") ? text.copiedMasked : undefined);
}
