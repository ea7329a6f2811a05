// Numbers: verification, registration, business profile, and the reads for
// which the library has no method of their own.

import assert from "node:assert/strict";
import { check, client, connect, done, env, from, refused, sim, to } from "./harness.mjs";

const numbersShown = async (id) => (await sim("GET", "/numbers")).data.find((number) => number.phone_number_id === id);

const onboarding = async () => {
  const { phoneNumbers, messages } = client;
  const fresh = await sim("POST", "/numbers", {
    waba_id: env.wabaId,
    status: "PENDING",
    code_verification_status: "NOT_VERIFIED",
  });
  const phoneNumberId = fresh.phone_number_id;
  const number = { phoneNumberId };
  await check("phoneNumbers.register: not verified", () =>
    refused(() => phoneNumbers.register({ ...number, pin: "123456" }), { code: 133006, category: "phoneRegistration" }),
  );
  await check("phoneNumbers.requestCode", async () =>
    done(await phoneNumbers.requestCode({ ...number, codeMethod: "SMS", language: "en_US" })),
  );
  await check("phoneNumbers.verifyCode: wrong", () =>
    refused(() => phoneNumbers.verifyCode({ ...number, code: "0" }), { code: 136025 }),
  );
  await check("phoneNumbers.verifyCode", async () => {
    done(await phoneNumbers.verifyCode({ ...number, code: (await numbersShown(phoneNumberId)).verification_code }));
  });
  await check("phoneNumbers.requestCode: verified already", () =>
    refused(() => phoneNumbers.requestCode({ ...number, codeMethod: "VOICE", language: "en_US" }), { code: 136024 }),
  );
  await check("phoneNumbers.register", async () => {
    done(await phoneNumbers.register({ ...number, pin: "123456", dataLocalizationRegion: "DE" }));
    assert.equal((await numbersShown(phoneNumberId)).status, "CONNECTED");
  });
  await check("phoneNumbers.register: other PIN", () =>
    refused(() => phoneNumbers.register({ ...number, pin: "654321" }), { code: 133005 }),
  );
  await check("phoneNumbers.register: malformed PIN", () =>
    refused(() => phoneNumbers.register({ ...number, pin: "12" }), { code: 100 }),
  );
  await check("phoneNumbers.deregister", async () => {
    done(await phoneNumbers.deregister(number));
    assert.equal((await numbersShown(phoneNumberId)).status, "DISCONNECTED");
    await refused(() => messages.sendText({ ...number, to, body: "hi" }), { code: 133010, category: "phoneRegistration" });
  });
};

const profile = async () => {
  const { businessProfile } = client.phoneNumbers;
  const facts = {
    about: "We sell",
    address: "1 Main",
    description: "Things",
    email: "a@example.com",
    vertical: "RETAIL",
    websites: ["https://example.com"],
  };
  await check("phoneNumbers.businessProfile.update", async () =>
    done(await businessProfile.update({ phoneNumberId: from, ...facts })),
  );
  await check("phoneNumbers.businessProfile.get", async () => {
    const answer = await businessProfile.get({ phoneNumberId: from });
    assert.deepEqual(answer, { data: [{ messagingProduct: "whatsapp", ...facts }] });
  });
  await check("phoneNumbers.businessProfile.get: fields", async () => {
    const answer = await businessProfile.get({ phoneNumberId: from, fields: "about,websites" });
    assert.deepEqual(answer, {
      data: [{ messagingProduct: "whatsapp", about: facts.about, websites: facts.websites }],
    });
  });
  await check("phoneNumbers.businessProfile.update: refused", () =>
    refused(() => businessProfile.update({ phoneNumberId: from, vertical: "NONSENSE" }), { code: 100 }),
  );
};

const get = (path, query) => client.request("GET", path, { query, responseType: "json" });

const reads = async () => {
  await check("request: number", async () => {
    assert.deepEqual(await get(from), {
      id: from,
      displayPhoneNumber: "+1 555-000-9999",
      verifiedName: "Acme",
      qualityRating: "GREEN",
      codeVerificationStatus: "VERIFIED",
    });
    assert.deepEqual(await get(from, { fields: "status,throughput" }), {
      id: from,
      status: "CONNECTED",
      throughput: { level: "STANDARD" },
    });
  });
  await check("request: numbers by pages", async () => {
    const first = await get(`${env.wabaId}/phone_numbers`, { limit: 1 });
    assert.deepEqual(first.data.map(({ id }) => id), [from]);
    const second = await get(`${env.wabaId}/phone_numbers`, { limit: 1, after: first.paging.cursors.after });
    assert.equal(second.data.length, env.apiUrl ? 0 : 1); // it is not our organization's
    assert.equal(second.paging.next, undefined);
  });
  await check("request: subscribed apps", async () => {
    const path = `${env.wabaId}/subscribed_apps`;
    done(await client.request("POST", path, { responseType: "json" }));
    assert.equal((await get(path)).data[0].whatsappBusinessApiData.id, env.appId);
  });
  await check("request: other version", async () => {
    const other = connect({ graphVersion: "v25.0", baseUrl: `${env.baseUrl}/` });
    const response = await other.request("GET", from);
    assert.equal(response.headers.get("facebook-api-version"), "v25.0");
    assert.equal((await response.json()).id, from);
  });
};

export async function numbers() {
  await onboarding();
  await profile();
  await reads();
}
