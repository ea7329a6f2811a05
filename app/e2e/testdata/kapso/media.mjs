// Media: upload, lookup, download, deletion.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { check, client, connect, done, env, from, missing, refused, sim } from "./harness.mjs";

const bytes = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
const type = "image/png";
const digits = /^[0-9]+$/;

const upload = async (change = {}) => {
  const answer = await client.media.upload({ phoneNumberId: from, type, file: new Blob([bytes], { type }), ...change });
  assert.deepEqual(Object.keys(answer), ["id"]);
  assert.match(answer.id, digits);
  return answer.id;
};

const uploads = async () => {
  const ways = {
    "media.upload": { fileName: "a.png" },
    "media.upload: without a file name": {},
    "media.upload: buffer": { file: bytes.buffer },
    "media.upload: view": { file: bytes },
    "media.upload: file": { file: new File([bytes], "a.png", { type }) },
    "media.upload: resumable": { uploadStrategy: "resumable" },
    "media.upload: kind instead of a content type": { type: "image", fileName: "photo.png" },
  };
  for (const [name, change] of Object.entries(ways)) {
    await check(name, async () => {
      const { mimeType, fileSize } = await client.media.get({ mediaId: await upload(change) });
      assert.deepEqual({ mimeType, fileSize }, { mimeType: type, fileSize: bytes.length });
    });
  }
  await check("media.upload: refused type", async () => {
    const error = await refused(() => upload({ type: "text/html" }), { code: 100, category: "parameter" });
    assert.match(error.message, /Received file of type 'text\/html'\.$/);
  });
};

const lookups = async () => {
  const mediaId = await upload();
  await check("media.get", async () => {
    const info = await client.media.get({ mediaId });
    assert.equal(new URL(info.url).origin, new URL(env.baseUrl).origin);
    assert.deepEqual(info, {
      messagingProduct: "whatsapp",
      url: info.url,
      mimeType: type,
      sha256: createHash("sha256").update(bytes).digest("hex"),
      fileSize: bytes.length,
      id: mediaId,
    });
  });
  await check("media.get: of its number", async () => {
    assert.equal((await client.media.get({ mediaId, phoneNumberId: from })).id, mediaId);
  });
  await check("media.get: of another number", () =>
    refused(() => client.media.get({ mediaId, phoneNumberId: "1" }), missing),
  );
};

const downloads = async () => {
  const mediaId = await upload();
  await check("media.download", async () => {
    assert.deepEqual(new Uint8Array(await client.media.download({ mediaId, auth: "always" })), bytes);
  });
  await check("media.download: blob", async () => {
    const blob = await client.media.download({ mediaId, phoneNumberId: from, auth: "always", as: "blob" });
    assert.equal(blob.type, type);
    assert.equal(blob.size, bytes.length);
  });
  await check("media.download: part", async () => {
    const headers = { Range: "bytes=1-3" };
    const response = await client.media.download({ mediaId, auth: "always", as: "response", headers });
    assert.equal(response.status, 206);
    assert.equal(await response.text(), "PNG");
  });
  await check("media.download: without a token", async () => {
    const ask = () => client.media.download({ mediaId, as: "response" });
    assert.equal((await ask()).status, 401); // the provider wants the token
    await sim("PATCH", "/settings", { open_downloads: true });
    try {
      const response = await ask();
      assert.equal(response.headers.get("content-type"), type);
      assert.deepEqual(new Uint8Array(await response.arrayBuffer()), bytes);
      assert.deepEqual(new Uint8Array(await client.media.download({ mediaId, auth: "never" })), bytes);
    } finally {
      await sim("PATCH", "/settings", { open_downloads: false });
    }
  });
  const { url } = await client.media.get({ mediaId });
  await check("fetch", async () => assert.equal((await client.fetch(url)).status, 200));
  await check("rawFetch", async () => assert.equal((await client.rawFetch(url)).status, 401));
};

const deletions = async () => {
  const mediaId = await upload();
  await check("media.delete", async () => {
    done(await client.media.delete({ mediaId }));
    await refused(() => client.media.get({ mediaId }), missing);
    await refused(() => client.media.delete({ mediaId, phoneNumberId: from }), missing);
  });
  await check("media.delete: other token", () =>
    refused(() => connect({ accessToken: "nonsense" }).media.delete({ mediaId: "1" }), { code: 190 }),
  );
};

export async function media() {
  await uploads();
  await lookups();
  await downloads();
  await deletions();
}
