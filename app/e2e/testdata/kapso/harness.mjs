// What the checks share: the client, the control surface of the simulator, a
// receiver for its callbacks, and how a check is reported. The client calls the
// simulator, or our gateway before it.

import assert from "node:assert/strict";
import http from "node:http";
import { GraphApiError, WhatsAppClient } from "@kapso/whatsapp-cloud-api";

export const env = {
  baseUrl: process.env.CONFAB_BASE_URL,
  simulatorUrl: process.env.CONFAB_SIMULATOR_URL,
  simulatorToken: process.env.CONFAB_SIMULATOR_TOKEN,
  apiUrl: process.env.CONFAB_API_URL, // of the server that has the gateway, if it is asked
  resetUrl: process.env.CONFAB_RESET_URL, // makes its number as good as new
  accessToken: process.env.CONFAB_ACCESS_TOKEN,
  phoneNumberId: process.env.CONFAB_PHONE_NUMBER_ID,
  wabaId: process.env.CONFAB_WABA_ID,
  appId: process.env.CONFAB_APP_ID,
  appSecret: process.env.CONFAB_APP_SECRET,
};

export const from = env.phoneNumberId;
export const to = "+16505551234";
export const user = { phoneNumberId: from, to };

// Only the base URL differs from a client of the provider.
export const connect = (change = {}) =>
  new WhatsAppClient({ accessToken: env.accessToken, baseUrl: env.baseUrl, ...change });

export const client = connect();

// provider calls the simulator, for what the gateway does not offer.
export const provider = connect({ baseUrl: env.simulatorUrl, accessToken: env.simulatorToken });

export const reported = [];

// check runs one check and reports it. Its name starts with the call that it
// makes; a colon and the circumstances may follow.
export async function check(name, run) {
  reported.push(name);
  let line = { check: name, ok: true };
  try {
    await run();
  } catch (error) {
    line = { check: name, ok: false, error: String(error?.stack ?? error) };
  }
  process.stdout.write(JSON.stringify(line) + "\n");
}

// refused expects the library's own error, with what is given.
export async function refused(call, want) {
  const error = await call().then(
    (answer) => assert.fail("not refused: " + JSON.stringify(answer)),
    (thrown) => thrown,
  );
  assert.ok(error instanceof GraphApiError, String(error?.stack ?? error));
  assert.match(error.fbtraceId, /^(A|req_)/);
  for (const [key, value] of Object.entries(want)) {
    assert.deepEqual(error[key], value, `${key} of ${error.message} ${JSON.stringify(error)}`);
  }
  if (env.resetUrl) await fetch(env.resetUrl); // a refusal may have paused or disconnected it
  return error;
}

export const missing = { httpStatus: 400, code: 100, errorSubcode: 33, type: "GraphMethodException" };

// sim calls the simulator's control surface.
export async function sim(method, path, body) {
  const response = await fetch(`${env.simulatorUrl}/_sim${path}`, {
    method,
    headers: body ? { "Content-Type": "application/json" } : {},
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  assert.equal(response.status, 200, `${method} ${path}: ${text}`);
  return JSON.parse(text);
}

// inbound lets somebody write to the business and returns the message's id.
export async function inbound(message) {
  return (await sim("POST", "/inbound", { phone_number_id: from, from: to, name: "Zoë", ...message })).id;
}

export const wamid = /^wamid\.[A-Za-z0-9+/=]+$/;

// accepted checks the whole answer to a send and returns the message's id.
export function accepted(answer, extra = {}) {
  const id = answer.messages[0].id;
  assert.match(id, wamid);
  assert.deepEqual(answer, {
    messagingProduct: "whatsapp",
    contacts: [{ input: to, waId: to.slice(1) }],
    messages: [{ id, ...extra }],
  });
  return id;
}

// stored is the body of a send as the simulator received it. The gateway sends a
// tag of its own.
export async function stored(id) {
  const found = (await sim("GET", "/messages")).data.find((message) => message.id === id);
  assert.ok(found, `the simulator knows no ${id}`);
  if (env.apiUrl) {
    assert.match(found.request.biz_opaque_callback_data, /^msg_/);
    delete found.request.biz_opaque_callback_data;
  }
  return found.request;
}

export const done = (answer) => assert.deepEqual(answer, { success: true });

const patience = 10_000;
const verifyToken = "kapso-verifies";

// receive starts the app's webhook: it answers the handshake, keeps the bytes
// and signatures of all callbacks, and waits for those that are wanted.
export async function receive() {
  const posts = [];
  const waiting = new Set();
  const server = http.createServer(async (request, response) => {
    const url = new URL(request.url, "http://receiver");
    if (request.method === "GET") {
      const known = url.searchParams.get("hub.verify_token") === verifyToken;
      response.writeHead(known ? 200 : 403).end(known ? url.searchParams.get("hub.challenge") : "");
      return;
    }
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const rawBody = Buffer.concat(chunks);
    posts.push({ rawBody, headers: request.headers, payload: JSON.parse(rawBody.toString("utf8")) });
    response.end();
    for (const look of waiting) look();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));

  // until finds the first callback that a function returns something for.
  const until = (what, find) =>
    new Promise((resolve, reject) => {
      const look = () => {
        for (const post of posts) {
          const found = find(post);
          if (found) return settle(resolve, found);
        }
      };
      const timer = setTimeout(() => settle(reject, new Error(`no callback about ${what} came`)), patience);
      const settle = (how, value) => {
        clearTimeout(timer);
        waiting.delete(look);
        how(value);
      };
      waiting.add(look);
      look();
    });

  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${server.address().port}/webhook`, until, close };
}

// subscribe makes the receiver the app's webhook, which needs the app's token, or
// a native webhook of ours with the app's secret.
export async function subscribe(receiver) {
  const fields = "messages,message_template_status_update,smb_message_echoes,user_preferences,user_id_update";
  await check("request: app subscription", async () => {
    if (env.apiUrl) {
      const response = await client.fetch(`${env.apiUrl}/webhook_subscriptions`, {
        method: "POST",
        body: JSON.stringify({
          url: receiver.url, events: fields.split(","), format: "provider", verify_token: verifyToken, secret: env.appSecret,
        }),
      });
      assert.equal(response.status, 201, await response.text());
      return;
    }
    const app = connect({ accessToken: `${env.appId}|${env.appSecret}` });
    done(
      await app.request("POST", `${env.appId}/subscriptions`, {
        body: { object: "whatsapp_business_account", callbackUrl: receiver.url, verifyToken, fields },
        responseType: "json",
      }),
    );
  });
}
