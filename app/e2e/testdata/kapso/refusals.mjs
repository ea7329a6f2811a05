// Refusals as the library's error class shows them.

import assert from "node:assert/strict";
import { accepted, check, client, connect, missing, refused, sim, user } from "./harness.mjs";
import { status } from "./webhooks.mjs";

// magic is a recipient that makes the simulator fail with a code.
const magic = (code) => `+1999000${String(code).padStart(6, "0")}`;

const send = (to, by = client) => by.messages.sendText({ ...user, to, body: "hi" });

// codes are refusals with the class and the advice that the library derives.
const codes = [
  { code: 4, httpStatus: 400, category: "throttling", retry: { action: "retry_after" } },
  { code: 10, httpStatus: 403, category: "permission", retry: { action: "fix_and_retry" } },
  { code: 190, httpStatus: 401, errorSubcode: 463, category: "authorization", retry: { action: "refresh_token" } },
  { code: 368, httpStatus: 403, category: "integrity", retry: { action: "do_not_retry" } },
  { code: 80007, httpStatus: 400, category: "throttling", retry: { action: "retry_after" } },
  { code: 130429, httpStatus: 400, category: "throttling", retry: { action: "retry_after" } },
  { code: 131000, httpStatus: 500, category: "server", retry: { action: "retry" } },
  { code: 131030, httpStatus: 400, category: "parameter", retry: { action: "fix_and_retry" } },
  { code: 131031, httpStatus: 403, category: "integrity", retry: { action: "do_not_retry" } },
  { code: 131056, httpStatus: 400, category: "throttling", retry: { action: "retry_after" } },
  { code: 132001, httpStatus: 404, category: "template", retry: { action: "fix_and_retry" } },
  { code: 132015, httpStatus: 400, category: "template", retry: { action: "fix_and_retry" } },
  { code: 133010, httpStatus: 400, category: "phoneRegistration", retry: { action: "fix_and_retry" } },
];

const synchronous = async () => {
  for (const want of codes) {
    await check(`GraphApiError: ${want.code}`, async () => {
      const error = await refused(() => send(magic(want.code)), { type: "OAuthException", ...want });
      assert.equal(error.isRateLimit(), want.category === "throttling");
      assert.equal(error.isAuthError(), want.category === "authorization");
      assert.equal(error.isTemplateError(), want.category === "template");
      assert.equal(error.requiresTokenRefresh(), want.category === "authorization");
      if (want.code > 130000) {
        assert.match(error.message, new RegExp(`^\\(#${want.code}\\) `));
        assert.ok(error.details);
      }
    });
  }
};

const asynchronous = async (receiver) => {
  for (const code of [131026, 131047]) {
    await check(`normalizeWebhook: failed with ${code}`, async () => {
      const { messages } = await send(magic(code));
      const { errors } = await status(receiver, messages[0].id, "failed");
      assert.equal(errors[0].code, code);
      assert.equal(errors[0].title, errors[0].message);
      assert.ok(errors[0].errorData.details);
    });
  }
};

const tokens = async () => {
  await check("GraphApiError: garbage token", () =>
    refused(() => send(user.to, connect({ accessToken: "nonsense" })), { httpStatus: 401, code: 190, errorSubcode: undefined }),
  );
  await check("GraphApiError: expired token", async () => {
    const { access_token: accessToken } = await sim("POST", "/tokens", { state: "expired" });
    const error = await refused(() => send(user.to, connect({ accessToken })), { httpStatus: 401, code: 190, errorSubcode: 463 });
    assert.ok(error.requiresTokenRefresh());
  });
};

const faults = async () => {
  await check("GraphApiError: unknown object", () =>
    refused(() => client.messages.sendText({ ...user, phoneNumberId: "1", body: "hi" }), missing),
  );
  await check("GraphApiError: rate limit", async () => {
    await sim("POST", "/faults", { kind: "rate_limit", times: 1 });
    assert.ok((await refused(() => send(user.to), {})).isRateLimit());
    accepted(await send(user.to));
  });
  await check("GraphApiError: server error", async () => {
    await sim("POST", "/faults", { kind: "http_500", times: 1 });
    const error = await send(user.to).catch((thrown) => thrown);
    assert.equal(error.httpStatus, 500);
    assert.equal(error.category, "server");
  });
  await check("GraphApiError: not after a hang-up", async () => {
    const taken = async () => (await sim("GET", "/messages?to=16505559876")).data.length;
    await sim("POST", "/faults", { kind: "drop_connection", times: 1 });
    await assert.rejects(send("+16505559876"), TypeError); // of fetch: nothing was answered
    assert.equal(await taken(), 1); // and yet it was taken
  });
};

export async function refusals(receiver) {
  await synchronous();
  await asynchronous(receiver);
  await tokens();
  await faults();
}
