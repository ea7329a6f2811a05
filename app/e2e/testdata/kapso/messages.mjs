// Every type of message but the interactive ones and templates.

import assert from "node:assert/strict";
import { isBusinessScopedUserId } from "@kapso/whatsapp-cloud-api";
import { accepted, check, client, done, env, from, inbound, refused, stored, to, user } from "./harness.mjs";

const text = () =>
  check("messages.sendText", async () => {
    const reply = await inbound({ type: "text", text: { body: "hi" } });
    const id = accepted(
      await client.messages.sendText({
        ...user,
        body: "héllo 😀 https://example.com",
        previewUrl: true,
        contextMessageId: reply,
        bizOpaqueCallbackData: "kapso-text",
        recipientType: "individual",
      }),
    );
    assert.deepEqual(await stored(id), {
      messaging_product: "whatsapp",
      recipient_type: "individual",
      to,
      type: "text",
      text: { body: "héllo 😀 https://example.com", preview_url: true },
      context: { message_id: reply },
      ...(!env.apiUrl && { biz_opaque_callback_data: "kapso-text" }),
    });
  });

const userIDs = async () => {
  const recipient = "US.13491208655302741918";
  await check("messages.sendText: to a user id", async () => {
    const answer = await client.messages.sendText({ phoneNumberId: from, recipient, body: "hi" });
    const [{ id }] = answer.messages;
    assert.deepEqual(answer, {
      messagingProduct: "whatsapp",
      contacts: [{ input: recipient, userId: recipient }],
      messages: [{ id }],
    });
    assert.ok(isBusinessScopedUserId(answer.contacts[0].userId));
  });
  await check("messages.sendText: to a number and a user id", async () => {
    accepted(await client.messages.sendText({ ...user, recipient, body: "hi" }));
  });
};

const files = async (uploaded) => {
  const { png, webp, ogg, pdf, mp4 } = uploaded;
  const link = "https://example.com/file";
  const sends = {
    "messages.sendImage": () => client.messages.sendImage({ ...user, image: { id: png, caption: "c" } }),
    "messages.sendImage: by link": () => client.messages.sendImage({ ...user, image: { link, caption: "c" } }),
    "messages.sendAudio": () => client.messages.sendAudio({ ...user, audio: { id: ogg, voice: true } }),
    "messages.sendAudio: by link": () => client.messages.sendAudio({ ...user, audio: { link } }),
    "messages.sendDocument": () =>
      client.messages.sendDocument({ ...user, document: { id: pdf, filename: "a.pdf", caption: "c" } }),
    "messages.sendDocument: by link": () => client.messages.sendDocument({ ...user, document: { link } }),
    "messages.sendVideo": () => client.messages.sendVideo({ ...user, video: { id: mp4, caption: "c" } }),
    "messages.sendVideo: by link": () => client.messages.sendVideo({ ...user, video: { link } }),
    "messages.sendSticker": () => client.messages.sendSticker({ ...user, sticker: { id: webp } }),
    "messages.sendSticker: by link": () => client.messages.sendSticker({ ...user, sticker: { link } }),
  };
  for (const [name, send] of Object.entries(sends)) {
    await check(name, async () => accepted(await send()));
  }
};

// uploadAll uploads one file of each kind that messages can carry.
async function uploadAll() {
  const kinds = { png: "image/png", webp: "image/webp", ogg: "audio/ogg", pdf: "application/pdf", mp4: "video/mp4" };
  const ids = {};
  for (const [name, type] of Object.entries(kinds)) {
    const file = new Blob([name], { type });
    ids[name] = (await client.media.upload({ phoneNumberId: from, type, file, fileName: `a.${name}` })).id;
  }
  return ids;
}

const places = async () => {
  await check("messages.sendLocation", async () => {
    const location = { latitude: -33.45, longitude: -70.66, name: "Santiago", address: "CL" };
    assert.deepEqual((await stored(accepted(await client.messages.sendLocation({ ...user, location })))).location, location);
  });
  await check("messages.sendContacts", async () => {
    const contact = {
      name: { formattedName: "Ann B", firstName: "Ann", lastName: "B" },
      birthday: "2000-01-31",
      addresses: [{ street: "1 Main", city: "X", countryCode: "US", type: "HOME" }],
      emails: [{ email: "a@example.com", type: "WORK" }],
      org: { company: "Acme", title: "CEO" },
      phones: [{ phone: "+15551234567", waId: "15551234567", type: "WORK" }],
      urls: [{ url: "https://example.com", type: "WORK" }],
    };
    const request = await stored(accepted(await client.messages.sendContacts({ ...user, contacts: [contact] })));
    assert.equal(request.contacts[0].name.formatted_name, "Ann B");
    assert.equal(request.contacts[0].phones[0].wa_id, "15551234567");
  });
};

const reactions = async () => {
  const messageId = await inbound({ type: "text", text: { body: "react to me" } });
  for (const [name, emoji] of [
    ["messages.sendReaction", "👍"],
    ["messages.sendReaction: taken back", ""],
  ]) {
    await check(name, async () => {
      const id = accepted(await client.messages.sendReaction({ ...user, reaction: { messageId, emoji } }));
      assert.deepEqual((await stored(id)).reaction, { message_id: messageId, emoji });
    });
  }
};

const receipts = async () => {
  const messageId = await inbound({ type: "text", text: { body: "read me" } });
  const receipt = { phoneNumberId: from, messageId };
  await check("messages.markRead", async () => done(await client.messages.markRead(receipt)));
  await check("messages.markRead: typing", async () =>
    done(await client.messages.markRead({ ...receipt, typingIndicator: { type: "text" } })),
  );
  await check("messages.markRead: unknown message", () =>
    refused(() => client.messages.markRead({ phoneNumberId: from, messageId: "wamid.none" }), { code: 131009 }),
  );
};

const raw = () =>
  check("messages.sendRaw", async () => {
    const payload = {
      messaging_product: "whatsapp",
      recipient_type: "individual",
      to,
      type: "text",
      text: { body: "raw" },
    };
    const id = accepted(await client.messages.sendRaw({ phoneNumberId: from, payload }));
    assert.deepEqual(await stored(id), payload);
  });

export async function messages() {
  await text();
  await userIDs();
  await files(await uploadAll());
  await places();
  await reactions();
  await receipts();
  await raw();
}
