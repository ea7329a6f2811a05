// Calls of the library that the simulator does not play: calling, flows and
// number settings, for which it says so, and what only the vendor's own proxy
// offers, which the library keeps to itself.

import assert from "node:assert/strict";
import { KapsoProxyRequiredError } from "@kapso/whatsapp-cloud-api";
import { check, client, env, from, missing, refused, to } from "./harness.mjs";

const number = { phoneNumberId: from };
const call = { ...number, callId: "wacid.1" };
const session = { sdpType: "offer", sdp: "v=0" };
const flowJson = { version: "7.2", screens: [] };
const flow = { flowId: "1" };
const account = { wabaId: env.wabaId, name: "survey" };

// notPlayed maps a call to what the simulator says that it does not play.
const notPlayed = {
  "calls.connect": [`POST /${from}/calls`, ({ calls }) => calls.connect({ ...number, to, session })],
  "calls.preAccept": [`POST /${from}/calls`, ({ calls }) => calls.preAccept({ ...call, session })],
  "calls.accept": [`POST /${from}/calls`, ({ calls }) => calls.accept({ ...call, session })],
  "calls.reject": [`POST /${from}/calls`, ({ calls }) => calls.reject(call)],
  "calls.terminate": [`POST /${from}/calls`, ({ calls }) => calls.terminate(call)],
  "calls.permissions.get": [`GET /${from}/call_permissions`, ({ calls }) => calls.permissions.get({ ...number, userWaId: "1" })],
  "phoneNumbers.settings.get": [`GET /${from}/settings`, ({ phoneNumbers }) => phoneNumbers.settings.get(number)],
  "phoneNumbers.settings.update": [
    `POST /${from}/settings`,
    ({ phoneNumbers }) => phoneNumbers.settings.update({ ...number, fallbackLanguage: "en_US" }),
  ],
  "flows.create": [`POST /${env.wabaId}/flows`, ({ flows }) => flows.create({ ...account, flowJson })],
  "flows.list": [`GET /${env.wabaId}/flows`, ({ flows }) => flows.list(account)],
  "flows.deploy": [`POST /${env.wabaId}/flows`, ({ flows }) => flows.deploy(flowJson, account)],
};

// unknown are calls about a flow, of which the simulator has none.
const unknown = {
  "flows.updateAsset": ({ flows }) => flows.updateAsset({ ...flow, json: flowJson }),
  "flows.publish": ({ flows }) => flows.publish(flow),
  "flows.deprecate": ({ flows }) => flows.deprecate(flow),
  "flows.preview": ({ flows }) => flows.preview(flow),
  "flows.get": ({ flows }) => flows.get(flow),
};

const person = { ...number, waId: "1" };

const proxied = {
  "messages.query": ({ messages }) => messages.query(number),
  "messages.get": ({ messages }) => messages.get({ ...number, messageId: "1" }),
  "messages.listByConversation": ({ messages }) => messages.listByConversation({ ...number, conversationId: "1" }),
  "conversations.list": ({ conversations }) => conversations.list(number),
  "conversations.get": ({ conversations }) => conversations.get({ conversationId: "1" }),
  "conversations.updateStatus": ({ conversations }) => conversations.updateStatus({ conversationId: "1", status: "ended" }),
  "contacts.list": ({ contacts }) => contacts.list(number),
  "contacts.get": ({ contacts }) => contacts.get(person),
  "contacts.update": ({ contacts }) => contacts.update({ ...person, displayName: "Ann" }),
  "calls.list": ({ calls }) => calls.list(number),
  "calls.get": ({ calls }) => calls.get(call),
};

export async function elsewhere() {
  for (const [name, [what, make]] of Object.entries(notPlayed)) {
    await check(name, () => refused(() => make(client), { httpStatus: 501, message: `The simulator does not play ${what}.` }));
  }
  for (const [name, make] of Object.entries(unknown)) {
    await check(name, () => refused(() => make(client), missing));
  }
  for (const [name, make] of Object.entries(proxied)) {
    await check(name, () => assert.rejects(make(client), KapsoProxyRequiredError));
  }
}
