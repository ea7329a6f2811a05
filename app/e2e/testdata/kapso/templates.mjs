// Templates: creation of every kind, review, lists, sends, deletion.

import assert from "node:assert/strict";
import { buildTemplatePayload, buildTemplateSendPayload } from "@kapso/whatsapp-cloud-api";
import { accepted, check, client, connect, done, env, missing, refused, user } from "./harness.mjs";
import { definitions, handle } from "./definitions.mjs";

const businessAccountId = env.wabaId;
const ids = {};

// approved waits for the verdict on a template.
const approved = (receiver, id) =>
  receiver.until(`template ${id}`, ({ payload }) =>
    payload.entry.some(({ changes }) =>
      changes.some(({ value }) => value.event === "APPROVED" && String(value.message_template_id) === id),
    ),
  );

const create = async (receiver) => {
  const headerHandle = await handle();
  for (const definition of definitions(headerHandle)) {
    await check(`templates.create: ${definition.name}`, async () => {
      const answer = await client.templates.create({ businessAccountId, ...definition });
      ids[definition.name] = answer.id;
      assert.deepEqual(answer, { id: answer.id, status: "PENDING", category: definition.category });
      await approved(receiver, answer.id);
    });
  }
  await check("templates.create: twice", () =>
    refused(() => client.templates.create({ businessAccountId, ...definitions(headerHandle)[0] }), {
      code: 100,
      errorSubcode: 2388024,
      message: "Invalid parameter",
    }),
  );
  await check("templates.create: malformed", () =>
    refused(
      () =>
        client.templates.create({
          businessAccountId,
          name: "Bad Name",
          language: "en_US",
          category: "UTILITY",
          components: [{ type: "BODY", text: "Hello." }],
        }),
      { code: 100, errorSubcode: 2388046, errorData: { blameFieldSpecs: [["name"]] } },
    ),
  );
};

const read = async () => {
  await check("templates.get", async () => {
    const template = await client.templates.get({ businessAccountId, templateId: ids.order });
    assert.deepEqual(Object.keys(template).sort(), [
      "category", "components", "id", "language", "name", "parameterFormat", "status",
    ]);
    assert.equal(template.name, "order");
    assert.equal(template.status, "APPROVED");
  });
  await check("templates.get: fields", async () => {
    const template = await client.templates.get({ businessAccountId, templateId: ids.named, fields: "name,rejected_reason" });
    assert.deepEqual(template, { id: ids.named, name: "named", rejectedReason: "NONE" });
  });
  await check("templates.get: unknown", () =>
    refused(() => client.templates.get({ businessAccountId, templateId: "1" }), missing),
  );
  await check("request: template by its own id", async () => {
    assert.equal((await client.request("GET", ids.order, { responseType: "json" })).name, "order");
  });
};

const names = (page) => page.data.map(({ name }) => name);

const list = async () => {
  const all = Object.keys(ids);
  await check("templates.list", async () => {
    assert.deepEqual(names(await client.templates.list({ businessAccountId, order: "ASC" })), all);
  });
  for (const [filter, want] of [
    [{ name: "named" }, ["named"]],
    [{ status: "APPROVED" }, all],
    [{ status: "REJECTED" }, []],
    [{ category: "AUTHENTICATION" }, ["code"]],
    [{ language: "de" }, []],
  ]) {
    await check(`templates.list: by ${Object.entries(filter).flat().join(" ")}`, async () => {
      assert.deepEqual(names(await client.templates.list({ businessAccountId, ...filter })), want);
    });
  }
  await check("templates.list: pages forward", async () => {
    const seen = [];
    let page = await client.templates.list({ businessAccountId, limit: 2 });
    assert.equal(page.paging.previous, undefined);
    for (; ; ) {
      seen.push(...names(page));
      if (!page.paging.next) break;
      page = await client.templates.list({ businessAccountId, limit: 2, after: page.paging.cursors.after });
    }
    assert.deepEqual(seen, all);
  });
  await check("templates.list: pages back", async () => {
    const first = await client.templates.list({ businessAccountId, limit: 2 });
    const next = await client.fetch(first.paging.next).then((response) => response.json());
    assert.deepEqual(names(next), all.slice(2, 4));
    const back = await client.templates.list({ businessAccountId, limit: 2, before: next.paging.cursors.before });
    assert.deepEqual(names(back), names(first));
  });
  await check("templates.list: bad cursor", () =>
    refused(() => client.templates.list({ businessAccountId, after: "nonsense" }), { code: 100 }),
  );
};

const text = (value, parameterName) => ({ type: "text", text: value, ...(parameterName && { parameterName }) });
const image = { type: "image", image: { link: "https://example.com/a.png" } };

// sends is a message of each template, as the library's builders make them.
const sends = () => ({
  "buildTemplateSendPayload: positions": buildTemplateSendPayload({
    name: "order",
    language: "en_US",
    header: text("42"),
    body: [text("Ann"), { type: "currency", currency: { fallbackValue: "$9", code: "USD", amount1000: 9000 } }],
    buttons: [
      { type: "button", subType: "quick_reply", index: 0, parameters: [{ type: "payload", payload: "STOP" }] },
      { type: "button", subType: "url", index: "1", parameters: [text("42")] },
    ],
  }),
  "buildTemplateSendPayload: names": buildTemplateSendPayload({
    name: "named",
    language: "en_US",
    header: text("Summer", "sale_name"),
    body: [text("SALE25", "discount_code"), text("Aug 31", "end_date")],
  }),
  "buildTemplateSendPayload: authentication": buildTemplateSendPayload({
    name: "code",
    language: "en_US",
    body: [text("123456")],
    buttons: [{ type: "button", subType: "url", index: 0, parameters: [text("123456")] }],
  }),
  "buildTemplateSendPayload: cards": buildTemplateSendPayload({
    name: "cards",
    language: "en_US",
    body: [text("Ann")],
    cards: [0, 1].map((cardIndex) => ({
      cardIndex,
      components: [
        { type: "header", parameters: [image] },
        { type: "button", subType: "quick_reply", index: 0, parameters: [{ type: "payload", payload: "p" }] },
      ],
    })),
  }),
  "buildTemplatePayload: media": buildTemplatePayload({
    name: "media",
    language: { code: "en_US", policy: "deterministic" },
    components: [{ type: "HEADER", parameters: [image] }],
  }),
  "buildTemplatePayload: place": buildTemplatePayload({
    name: "place",
    language: "en_US",
    components: [
      { type: "header", parameters: [{ type: "location", location: { latitude: 1, longitude: 2, name: "n", address: "a" } }] },
      { type: "body", parameters: [{ type: "text", text: "Ann" }] },
    ],
  }),
  "plain components": {
    name: "offer",
    language: { code: "en_US" },
    components: [
      { type: "limited_time_offer", parameters: [{ type: "limited_time_offer", limitedTimeOffer: { expirationTimeMs: Date.now() + 1e7 } }] },
      { type: "button", subType: "copy_code", index: 0, parameters: [{ type: "coupon_code", couponCode: "SALE25" }] },
      { type: "button", subType: "url", index: 1, parameters: [text("42")] },
    ],
  },
});

const send = async () => {
  for (const [name, template] of Object.entries(sends())) {
    await check(`messages.sendTemplate: ${name}`, async () =>
      accepted(await client.messages.sendTemplate({ ...user, template }), { messageStatus: "accepted" }),
    );
  }
  const order = (change) => client.messages.sendTemplate({ ...user, template: { name: "order", language: { code: "en_US" }, ...change } });
  await check("messages.sendTemplate: unknown", async () => {
    const error = await refused(() => order({ name: "nothing" }), { httpStatus: 404, code: 132001, category: "template" });
    assert.equal(error.details, "template name (nothing) does not exist in en_US");
    assert.ok(error.isTemplateError());
  });
  await check("messages.sendTemplate: without parameters", () =>
    refused(() => order({}), { code: 132000, category: "template", retry: { action: "fix_and_retry" } }),
  );
};

const remove = async () => {
  await check("templates.delete", async () => {
    done(await client.templates.delete({ businessAccountId, name: "order" }));
    await refused(() => client.templates.get({ businessAccountId, templateId: ids.order }), missing);
  });
  await check("templates.delete: language", async () => {
    done(await connect().templates.delete({ businessAccountId, name: "named", language: "en_US" }));
  });
  await check("templates.delete: unknown", () =>
    refused(() => client.templates.delete({ businessAccountId, name: "order" }), { code: 100 }),
  );
};

export async function templates(receiver) {
  await create(receiver);
  await read();
  await list();
  await send();
  await remove();
}
