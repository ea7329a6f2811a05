/** One call: what was asked, by whom, what it was answered and what it made. */
import { el } from "../../dom.js";
import { placeOf } from "../../dialogs.js";
import { chip, copyable, heading } from "../../parts/basics.js";
import { loaded, resource } from "../../parts/states.js";
import { link } from "../../router.js";
import { isAdmin } from "../../session.js";
import { tone, tookOf, whoOf } from "./calls.js";
import { stamp } from "./lines.js";

const text = {
  all: "All calls",
  request: "Request",
  id: "request id",
  fields: { when: "When", took: "Took", who: "Who", ip: "Address", error: "Error", made: "Made", trace: "Trace" },
  none: "—",
  bodies: "Bodies are not kept. What a message said, and everything that became of it, is in its trace.",
  trace: "Follow the message",
};

/** @param {string} id */
export function oneCall(id) {
  const call = resource("log/" + encodeURIComponent(id), ["call"]);
  const title = () => (call.data() ? `${call.data().method} ${call.data().path}` : text.request);
  const body = el("div.page", null,
    heading(title, {
      crumb: [el("a", { href: link("log") }, text.all), el("span.quiet", null, " / " + text.request)],
      beside: () => call.data() && [chip(String(call.data().status), tone(call.data().status)), copyable(id, { name: text.id })],
    }),
    loaded(call, (found) => el("dl.log-facts", null,
      () => facts(found()).map(([name, value]) => [el("dt", null, name), el("dd", null, value)]))));
  return { title, body };
}

/**
 * @param {any} call
 * @returns {[string, import("../../dom.js").Child][]}
 */
function facts(call) {
  const made = call.made_id && placeOf(call.made_id);
  const who = call.api_key ? "settings/keys" : isAdmin ? "settings/people/" + call.user_id : "";
  /** @type {[string, import("../../dom.js").Child][]} */
  const all = [
    [text.fields.when, stamp(call.created_at)],
    [text.fields.took, tookOf(call.latency_ms)],
    [text.fields.who, el("a", { href: link(who), dir: "auto" }, whoOf(call))],
    [text.fields.ip, el("span.mono", null, call.ip)],
    [text.fields.error, call.error_code ? chip(call.error_code, "bad") : text.none],
    [text.fields.made, call.made_id ? made ? el("a", { href: link(made.path) }, call.made_id) : call.made_id : text.none],
  ];
  if (call.made_id?.startsWith("msg_")) {
    all.push([text.fields.trace, [el("a", { href: link("trace/" + call.made_id) }, text.trace), el("p.hint", null, text.bodies)]]);
  }
  return all;
}
