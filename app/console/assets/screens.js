/**
 * The screens but for the inbox, and what the inbox shows once its list and thread are drawn. Browsers load them as one file after the inbox, which does not
 * need them: a file for each would be fifty small ones, and a quarter more to send.
 */
export { default as broadcasts } from "./screens/broadcasts.js";
export { default as contacts } from "./screens/contacts.js";
export { default as costs } from "./screens/costs.js";
export { default as customers } from "./screens/customers.js";
export * as laterInInbox from "./screens/inbox/later.js";
export { default as deliveries } from "./screens/deliveries.js";
export { default as log } from "./screens/log.js";
export { default as numbers } from "./screens/numbers.js";
export { default as phone } from "./screens/phone.js";
export { default as inboxAndPhone } from "./screens/phone/beside.js";
export { default as reports } from "./screens/reports.js";
export { default as rules } from "./screens/rules.js";
export { default as health } from "./screens/settings_health.js";
export { default as keys } from "./screens/settings_keys.js";
export { default as labels } from "./screens/settings_labels.js";
export { default as notifications } from "./screens/settings_notifications.js";
export { renewPush } from "./push.js";
export { default as people } from "./screens/settings_people.js";
export { default as profile } from "./screens/settings_profile.js";
export { default as quickReplies } from "./screens/settings_quick_replies.js";
export { default as templates } from "./screens/templates.js";
export { default as trace } from "./screens/trace.js";
export { default as webhooks } from "./screens/webhooks.js";
