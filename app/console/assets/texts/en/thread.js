import { count, plural } from "../../format.js";

export const thread = {
  region: (/** @type {string} */ name) => "Conversation with " + name,
  log: "Messages",
  newest: "Newest messages",
  fresh: (/** @type {number} */ n) => count(n) + " new",
};

export const head = {
  back: "Back",
  details: "Details",
  resolve: "Resolve",
  reopen: "Reopen",
  more: "More actions",
  snooze: "Snooze",
  wake: "End snooze",
  snoozed: (/** @type {string} */ until) => "Snoozed until " + until,
  unread: "Mark unread",
  goOn: "Go on to the next",
  takeOver: "Take over",
  handOver: "Hand over",
  held: (/** @type {string} */ who) => "Held by " + who,
  you: "you",
  bot: (/** @type {string} */ name) => `bot ${name}`,
  phoneApp: "the phone app",
  looking: (/** @type {string} */ names, /** @type {number} */ n) =>
    plural(n, { one: `${names} is looking at this too`, other: `${names} are looking at this too` }),
  typing: (/** @type {string} */ names, /** @type {number} */ n) => plural(n, { one: `${names} is typing`, other: `${names} are typing` }),
};

export const message = {
  reply: "Reply",
  react: "React",
  more: "More",
  trace: "Trace",
  copy: "Copy text",
  cancel: "Cancel sending",
  again: "Send again",
  edit: "Edit",
  drop: "Remove",
  edited: "Edited",
  deleted: "Deleted by the sender",
  you: "You",
  sources: { api: "API", app: "Phone app", broadcast: "Campaign", gateway: "API", rule: "Rule" },
  notSent: "Not sent: ",
  unread: "Unread messages",
  quoted: "Original message",
  missing: "An earlier message",
  reactedBy: (/** @type {string} */ emoji, /** @type {string} */ who) => `${who} reacted ${emoji}`,
};

/** Failures in words, by their code. */
export const failures = {
  outside_24h_window: "it’s been more than 24 hours since this person wrote. Send a template instead",
  marketing_opted_out: "this person opted out of marketing messages",
  marketing_blocked_by_user: "this person blocked marketing messages",
  recipient_unavailable: "this number can’t be reached",
  unsupported_message_type: "this person’s app can’t show this type of message",
  account_restricted: "the provider has restricted your number",
  account_locked: "the provider has locked your number",
  conversation_held: "someone else is handling this conversation",
  consent_required: "this person hasn’t opted in",
  customer_suspended: "this number’s customer is suspended",
  permission_revoked: "permission to send from this number was revoked",
  auth_expired: "access to the provider has expired. An admin needs to connect the number again",
  app_rate_limited: "too many messages at once. Try again later",
  account_rate_limited: "too many messages from this number. Try again later",
  template_not_found: "the template doesn’t exist in this language",
  template_paused: "the provider has paused this template",
  template_policy_violation: "the template violates the provider’s policy",
  media_upload_failed: "the file couldn’t be uploaded to the provider",
  media_download_failed: "the file couldn’t be downloaded",
  undeliverable: "it couldn’t be delivered",
  policy_violation: "it violates the provider’s policy",
  subscription_inactive: "your subscription isn’t active",
  message_cancelled: "it was cancelled",
  131056: "too many messages to this person. Try again later", // by the provider's number
};

export const content = {
  kinds: {
    image: "Photo",
    video: "Video",
    audio: "Audio",
    sticker: "Sticker",
    document: "Document",
    location: "Location",
    contacts: "Contact",
    template: "Template",
    order: "Order",
    interactive: "Message with buttons",
    other: "Sent by another program. This message can’t be shown here.",
    unsupported: "This message type isn’t supported. Ask them to send it another way.",
  },
  voice: "Voice message",
  reacted: (/** @type {string} */ emoji) => `Reacted ${emoji}`,
  tookBack: "Removed a reaction",
  loading: "Downloading the file…",
  lost: "The file couldn’t be downloaded.",
  gone: "This file is no longer stored.",
  linked: "Sent as a link",
  shareContact: "Share contact info",
  items: (/** @type {number} */ n) => plural(n, { one: `${count(n)} item`, other: `${count(n)} items` }),
  templateOf: (/** @type {string} */ name) => `Template ${name}`,
};

export const changes = {
  by: (/** @type {string} */ what, /** @type {string} */ who) => (who ? `${what} by ${who}` : what),
  assigned: (/** @type {string} */ who) => "Assigned to " + who,
  unassigned: "Unassigned",
  byTurn: (/** @type {string} */ who) => `Assigned to ${who} automatically`,
  labeled: (/** @type {string} */ label) => "Labelled " + label,
  unlabeled: (/** @type {string} */ label) => `Label ${label} removed`,
  resolved: "Resolved",
  reopened: "Reopened",
  answered: "Reopened by a new message",
  pending: "Marked as pending",
  snoozed: (/** @type {string} */ until) => "Snoozed until " + until,
  woken: "Snooze ended",
  handedOver: (/** @type {string} */ who) => "Handed over to " + who,
  released: "Released",
  rule: "a rule",
  phoneApp: "the phone app",
  api: "API",
};

export const notes = {
  note: "Note",
  by: (/** @type {string} */ who) => "Note by " + who,
  own: "Your note",
  key: "API",
  edited: "edited",
  more: "More",
  edit: "Edit note",
  save: "Save",
  delete: "Delete note",
  deleteTitle: "Delete this note?",
  deleteBody: "This deletes it for everyone on the team. It can’t be undone.",
};

export const pictures = {
  title: "Picture",
  previous: "Previous picture",
  next: "Next picture",
  zoomIn: "Zoom in",
  zoomOut: "Zoom out",
  download: "Download",
};

export const player = {
  play: "Play",
  pause: "Pause",
  position: "Position",
  at: (/** @type {string} */ now, /** @type {string} */ length) => `${now} of ${length}`,
  speed: (/** @type {string} */ factor) => `Speed ${factor}`,
  broken: "This browser can’t play it.",
  download: "Download",
};

export const reactions = { emoji: "Emoji", react: "React" };
