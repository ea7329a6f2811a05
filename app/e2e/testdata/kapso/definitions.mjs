// Templates of every kind, made with the library's own builder.

import assert from "node:assert/strict";
import { TemplateDefinition } from "@kapso/whatsapp-cloud-api";
import { check, env, provider } from "./harness.mjs";

const define = (name, category, components, more = {}) =>
  TemplateDefinition.buildTemplateDefinition({ name, language: "en_US", category, components, ...more });

const greeting = { type: "BODY", text: "Hello {{1}}, welcome.", example: { bodyText: [["Ann"]] } };
const url = { type: "URL", text: "Open", url: "https://example.com/{{1}}", example: ["https://example.com/1"] };

const order = () =>
  define("order", "UTILITY", [
    { type: "HEADER", format: "TEXT", text: "Order {{1}}", example: { headerText: ["42"] } },
    { type: "BODY", text: "Hello {{1}}, you paid {{2}} today.", example: { bodyText: [["Ann", "$9"]] } },
    { type: "FOOTER", text: "Acme" },
    { type: "BUTTONS", buttons: [{ type: "QUICK_REPLY", text: "Stop" }, url, { type: "PHONE_NUMBER", text: "Call", phoneNumber: "+15551234567" }] },
  ]);

const named = () =>
  define(
    "named",
    "MARKETING",
    [
      {
        type: "HEADER",
        format: "TEXT",
        text: "Our {{sale_name}} is on!",
        example: { headerTextNamedParams: [{ paramName: "sale_name", example: "Summer Sale" }] },
      },
      {
        type: "BODY",
        text: "Shop now through {{end_date}} using code {{discount_code}} at checkout.",
        example: {
          bodyTextNamedParams: [
            { paramName: "end_date", example: "Aug 31" },
            { paramName: "discount_code", example: "SALE25" },
          ],
        },
      },
    ],
    { parameterFormat: "NAMED" },
  );

const code = () =>
  define("code", "AUTHENTICATION", [
    { type: "BODY", addSecurityRecommendation: true },
    { type: "FOOTER", codeExpirationMinutes: 10 },
    { type: "BUTTONS", buttons: [{ type: "OTP", otpType: "COPY_CODE", text: "Copy" }] },
  ]);

const offer = () =>
  define("offer", "MARKETING", [
    { type: "BODY", text: "Hurry up." },
    { type: "LIMITED_TIME_OFFER", limitedTimeOffer: { text: "Expiring!", hasExpiration: true } },
    { type: "BUTTONS", buttons: [{ type: "COPY_CODE", example: "SALE25" }, url] },
  ]);

const cards = (headerHandle) => {
  const card = {
    components: [
      { type: "HEADER", format: "IMAGE", example: { headerHandle: [headerHandle] } },
      { type: "BUTTONS", buttons: [{ type: "QUICK_REPLY", text: "More" }] },
    ],
  };
  return define("cards", "MARKETING", [greeting, { type: "CAROUSEL", cards: [card, card] }]);
};

const shop = () =>
  define("shop", "MARKETING", [
    { type: "BODY", text: "Browse our catalog" },
    { type: "BUTTONS", buttons: [{ type: "CATALOG", text: "View catalog" }] },
  ]);

const survey = () =>
  define("survey", "UTILITY", [
    { type: "BODY", text: "How was it?" },
    { type: "BUTTONS", buttons: [{ type: "FLOW", text: "Rate", flowId: "1", flowAction: "navigate", navigateScreen: "START" }] },
  ]);

export const definitions = (headerHandle) => [
  order(),
  named(),
  code(),
  define("media", "MARKETING", [
    { type: "HEADER", format: "IMAGE", example: { headerHandle: [headerHandle] } },
    { type: "BODY", text: "Look at this." },
  ]),
  define("place", "UTILITY", [{ type: "HEADER", format: "LOCATION" }, greeting]),
  offer(),
  cards(headerHandle),
  shop(),
  survey(),
];

// handle uploads the example of a header, with the library's plain requests.
export async function handle() {
  let headerHandle;
  await check("request: resumable upload", async () => {
    const file = new Uint8Array([1, 2, 3]);
    const { id } = await provider.request("POST", `${env.appId}/uploads`, {
      query: { fileName: "a.png", fileLength: file.length, fileType: "image/png" },
      responseType: "json",
    });
    const address = `${env.simulatorUrl}/v23.0/${id}`;
    const response = await provider.fetch(address, { method: "POST", headers: { file_offset: "0" }, body: file });
    ({ h: headerHandle } = await response.json());
    assert.match(headerHandle, /^4::/);
  });
  return headerHandle;
}
