// Callbacks that the simulator posted, under the library's verification and
// normalisation.

import assert from "node:assert/strict";
import { normalizeWebhook, verifySignature } from "@kapso/whatsapp-cloud-api/server";
import { accepted, check, client, env, from, inbound, sim, to, user } from "./harness.mjs";

const number = to.slice(1);
const userId = /^[A-Z]{2}\.[A-Za-z0-9]+$/;

// message waits for the message with an id and returns it normalised, with
// the events of the callback that it came in.
const message = (receiver, id) =>
  receiver.until(`message ${id}`, ({ payload }) => {
    const events = normalizeWebhook(payload);
    const found = events.messages.find((one) => one.id === id);
    return found && { events, found };
  });

export const status = (receiver, id, name) =>
  receiver.until(`${name} of ${id}`, ({ payload }) =>
    normalizeWebhook(payload).statuses.find((one) => one.id === id && one.status === name),
  );

const signatures = (receiver) =>
  check("verifySignature", async () => {
    const id = await inbound({ type: "text", text: { body: "héllo / 😀" } });
    const { rawBody, headers } = await receiver.until(`message ${id}`, (post) =>
      normalizeWebhook(post.payload).messages.some((one) => one.id === id) && post,
    );
    const signatureHeader = headers["x-hub-signature-256"];
    const { appSecret } = env;
    assert.ok(verifySignature({ appSecret, rawBody, signatureHeader }));
    assert.ok(verifySignature({ appSecret, rawBody: rawBody.toString("utf8"), signatureHeader }));
    assert.ok(!verifySignature({ appSecret: "other", rawBody, signatureHeader }));
    assert.ok(!verifySignature({ appSecret, rawBody: Buffer.concat([rawBody, Buffer.from(" ")]), signatureHeader }));
    // The bytes are signed, not their meaning: the provider escapes more than we.
    assert.ok(!verifySignature({ appSecret, rawBody: JSON.stringify(JSON.parse(rawBody)), signatureHeader }));
  });

const texts = async (receiver) => {
  await check("normalizeWebhook: text", async () => {
    const id = await inbound({ type: "text", text: { body: "héllo / 😀" } });
    const { events, found } = await message(receiver, id);
    assert.equal(events.object, "whatsapp_business_account");
    assert.equal(events.phoneNumberId, from);
    assert.equal(events.displayPhoneNumber, "15550009999");
    assert.equal(events.contacts[0].profile.name, "Zoë");
    assert.equal(events.contacts[0].waId, number);
    assert.match(events.contacts[0].userId, userId);
    assert.deepEqual(found, {
      from: number,
      fromUserId: events.contacts[0].userId,
      id,
      timestamp: found.timestamp,
      type: "text",
      text: { body: "héllo / 😀" },
      kapso: { direction: "inbound" },
    });
  });
  await check("normalizeWebhook: user without a number", async () => {
    const bsuid = "US.99991208655302741918";
    const id = await inbound({ from: undefined, bsuid, username: "zoe.b", type: "text", text: { body: "hi" } });
    const { events, found } = await message(receiver, id);
    assert.equal(found.from, undefined);
    assert.equal(found.fromUserId, bsuid);
    assert.equal(found.kapso.direction, "inbound");
    assert.equal(events.contacts[0].profile.username, "zoe.b");
  });
};

// contents are the other types of inbound message: what is injected, and what
// the library must make of it.
const contents = {
  button: [{ button: { payload: "p", text: "Yes" } }, (m) => assert.deepEqual(m.button, { payload: "p", text: "Yes" })],
  interactive: [
    { interactive: { type: "button_reply", button_reply: { id: "1", title: "Yes" } } },
    (m) => assert.deepEqual(m.interactive.buttonReply, { id: "1", title: "Yes" }),
  ],
  "interactive: flow": [
    { interactive: { type: "nfm_reply", nfm_reply: { name: "flow", body: "Sent", response_json: '{"flow_token":"t","my_rating":5}' } } },
    (m) => assert.deepEqual(m.kapso, { flowResponse: { flowToken: "t", myRating: 5 }, flowToken: "t", flowName: "flow", direction: "inbound" }),
  ],
  order: [
    { order: { catalog_id: "1", text: "please", product_items: [{ product_retailer_id: "s", quantity: 1, item_price: 2, currency: "USD" }] } },
    (m) => assert.equal(m.kapso.orderText, "please"),
  ],
  location: [{ location: { latitude: 1.5, longitude: -2 } }, (m) => assert.equal(m.location.latitude, 1.5)],
  contacts: [
    { contacts: [{ name: { formatted_name: "Ann" }, phones: [{ phone: "+1", wa_id: "1" }] }] },
    (m) => assert.equal(m.contacts[0].phones[0].waId, "1"),
  ],
  reaction: [
    { reaction: { message_id: "wamid.x", emoji: "👍" } },
    (m) => assert.deepEqual(m.reaction, { messageId: "wamid.x", emoji: "👍" }),
  ],
  unsupported: [{}, (m) => assert.equal(m.errors[0].code, 131051)],
  image: [
    { image: { data: Buffer.from("pixels").toString("base64"), mime_type: "image/png", caption: "c" } },
    async (m) => {
      assert.equal(m.image.mimeType, "image/png");
      const bytes = await client.media.download({ mediaId: m.image.id, phoneNumberId: from, auth: "always" });
      assert.equal(Buffer.from(bytes).toString(), "pixels");
    },
  ],
};

const types = async (receiver) => {
  for (const [name, [content, look]] of Object.entries(contents)) {
    await check(`normalizeWebhook: ${name}`, async () => {
      const [type] = name.split(":");
      const { found } = await message(receiver, await inbound({ type, ...content }));
      assert.equal(found.type, type);
      await look(found);
    });
  }
};

const statuses = (receiver) =>
  check("normalizeWebhook: status", async () => {
    const id = accepted(await client.messages.sendText({ ...user, body: "hi", bizOpaqueCallbackData: "kapso-status" }));
    const sent = await status(receiver, id, "sent");
    assert.equal(sent.recipientId, number);
    assert.match(sent.recipientUserId, userId);
    assert.equal(sent.bizOpaqueCallbackData, "kapso-status");
    assert.equal(sent.pricing.pricingModel, "PMP");
    await sim("POST", `/messages/${encodeURIComponent(id)}/status`, { status: "read" });
    await status(receiver, id, "read");
  });

const echoes = (receiver) =>
  check("normalizeWebhook: echo", async () => {
    const { id } = await sim("POST", "/echo", { phone_number_id: from, to, type: "text", text: { body: "from the phone" } });
    const { found } = await message(receiver, id);
    assert.equal(found.to, number);
    assert.deepEqual(found.kapso, { direction: "outbound", source: "smb_message_echo" });
  });

// rest are callbacks that the library hands on under the field's name.
const rest = async (receiver) => {
  const field = (name) => receiver.until(name, ({ payload }) => normalizeWebhook(payload).raw[name]?.[0]);
  await check("normalizeWebhook: template review", async () => {
    const update = await field("messageTemplateStatusUpdate");
    assert.equal(update.event, "APPROVED");
    assert.equal(typeof update.messageTemplateId, "number");
  });
  await check("normalizeWebhook: preferences", async () => {
    await sim("POST", `/contacts/${number}/preferences`, { marketing: "stop" });
    assert.equal((await field("userPreferences")).userPreferences[0].value, "stop");
  });
  await check("normalizeWebhook: identity", async () => {
    await sim("PATCH", "/settings", { as_of: "2026-09-30" }); // whose callbacks the client knows
    await sim("POST", `/contacts/${number}/identity`, {});
    const [{ userId: change }] = (await field("userIdUpdate")).userIdUpdate;
    assert.notEqual(change.previous, change.current);
  });
};

export async function webhooks(receiver) {
  await signatures(receiver);
  await texts(receiver);
  await types(receiver);
  await statuses(receiver);
  await echoes(receiver);
  await rest(receiver);
}
