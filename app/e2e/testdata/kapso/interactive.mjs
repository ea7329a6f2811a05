// Every type of interactive message.

import assert from "node:assert/strict";
import { accepted, check, client, stored, user } from "./harness.mjs";

const frame = { ...user, bodyText: "Body", footerText: "Footer" };
const text = { type: "text", text: "Header" };
const link = "https://example.com/a.png";
const buttons = [
  { id: "1", title: "Yes" },
  { id: "2", title: "No" },
];

// sends maps each call to its name and to the type that it has on the wire.
const sends = {
  "messages.sendInteractiveButtons": ["button", (m) => m.sendInteractiveButtons({ ...frame, header: text, buttons })],
  "messages.sendInteractiveButtons: image": [
    "button",
    (m) => m.sendInteractiveButtons({ ...frame, header: { type: "image", image: { link } }, buttons }),
  ],
  "messages.sendInteractiveButtons: video": [
    "button",
    (m) => m.sendInteractiveButtons({ ...frame, header: { type: "video", video: { link } }, buttons }),
  ],
  "messages.sendInteractiveButtons: document": [
    "button",
    (m) => m.sendInteractiveButtons({ ...frame, header: { type: "document", document: { link } }, buttons }),
  ],
  "messages.sendInteractiveList": [
    "list",
    (m) =>
      m.sendInteractiveList({
        ...frame,
        header: text,
        buttonText: "Choose",
        sections: [
          { title: "One", rows: [{ id: "1", title: "First", description: "The first" }] },
          { title: "Two", rows: [{ id: "2", title: "Second" }] },
        ],
      }),
  ],
  "messages.sendInteractiveCtaUrl": [
    "cta_url",
    (m) =>
      m.sendInteractiveCtaUrl({
        ...frame,
        header: { type: "image", image: { link } },
        parameters: { displayText: "Go", url: "https://example.com" },
      }),
  ],
  "messages.sendInteractiveLocationRequest": [
    "location_request_message",
    (m) => m.sendInteractiveLocationRequest({ ...frame, parameters: { requestMessage: "Where?" } }),
  ],
  "messages.sendInteractiveFlow": [
    "flow",
    (m) =>
      m.sendInteractiveFlow({
        ...frame,
        header: text,
        parameters: {
          flowId: "1",
          flowCta: "Open",
          mode: "draft",
          flowToken: "t",
          flowAction: "navigate",
          flowActionPayload: { screen: "WELCOME" },
        },
      }),
  ],
  "messages.sendInteractiveProduct": [
    "product",
    (m) => m.sendInteractiveProduct({ ...frame, catalogId: "1", productRetailerId: "sku" }),
  ],
  "messages.sendInteractiveProductList": [
    "product_list",
    (m) =>
      m.sendInteractiveProductList({
        ...frame,
        header: text,
        catalogId: "1",
        sections: [{ title: "One", productItems: [{ productRetailerId: "sku" }] }],
      }),
  ],
  "messages.sendInteractiveCatalogMessage": [
    "catalog_message",
    (m) => m.sendInteractiveCatalogMessage({ ...user, bodyText: "Body", parameters: { thumbnailProductRetailerId: "sku" } }),
  ],
  "messages.sendInteractiveAddress": [
    "address_message",
    (m) =>
      m.sendInteractiveAddress({
        ...frame,
        parameters: { country: "IN", savedAddresses: [{ id: "1", value: { name: "Ann", inPinCode: "400063" } }] },
      }),
  ],
  "messages.sendInteractiveCallPermission": [
    "call_permission_request",
    (m) => m.sendInteractiveCallPermission({ ...frame, parameters: { phoneNumber: "+15551234567", callPurpose: "Support" } }),
  ],
  "messages.sendInteractiveCarousel": [
    "carousel",
    (m) =>
      m.sendInteractiveCarousel({
        ...user,
        bodyText: "Body",
        cards: [0, 1].map((cardIndex) => ({
          cardIndex,
          header: { type: "image", image: { link } },
          bodyText: "Card",
          action: { displayText: "View", url: "https://example.com" },
        })),
      }),
  ],
  "messages.sendInteractiveRaw": [
    "button",
    (m) =>
      m.sendInteractiveRaw({
        ...user,
        interactive: {
          type: "button",
          body: { text: "Body" },
          action: { buttons: [{ type: "reply", reply: { id: "1", title: "Yes" } }] },
        },
      }),
  ],
};

export async function interactive() {
  for (const [name, [type, send]] of Object.entries(sends)) {
    await check(name, async () => {
      const request = await stored(accepted(await send(client.messages)));
      assert.equal(request.type, "interactive");
      assert.equal(request.interactive.type, type);
    });
  }
}
