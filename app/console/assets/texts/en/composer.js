import { count, plural } from "../../format.js";

export const composer = {
  message: "Message",
  placeholder: (/** @type {string} */ name) => "Write to " + name,
  send: "Send",
  sendAndResolve: "Send and resolve",
  notResolved: "Not resolved: the message hasn’t been sent yet.",
  attach: "Attach file",
  quick: "Quick replies",
  templates: "Templates",
  emoji: "Emoji",
  buttons: "Buttons",
  list: "List",
  notBoth: "A message can’t have both files and buttons. Remove one of them.",
  later: "Send later",
  replyingTo: (/** @type {string} */ who) => `Reply to ${who}`,
  reply: "Reply",
  note: "Note",
  modes: "Write",
  earlier: "An earlier message",
  cancelReply: "Cancel reply",
  cancelTime: "Send now instead",
  you: "You",
  left: (/** @type {string} */ span) => span.replace(/^\d+/, "$& ") + " left to reply", // 23 h
  never: "This person hasn’t written yet. You can only send a template.",
  closed: "It’s been more than 24 hours since this person wrote. You can only send a template now.",
  choose: "Choose a template",
  kept: "Your draft is kept: ",
  notSent: "Not sent: ",
  tooLong: (/** @type {number} */ n) => plural(n, { one: `${count(n)} character over the limit`, other: `${count(n)} characters over the limit` }),
  hint: "quick replies",
  keys: "all keys",
};

export const noteForm = {
  note: "Note",
  placeholder: "Write a note for your team",
  add: "Add note",
  mention: "Mention someone",
  people: "People",
  hint: "Only your team sees notes.",
  tooLong: (/** @type {number} */ n) => plural(n, { one: `${count(n)} character over the limit`, other: `${count(n)} characters over the limit` }),
};

export const attachments = {
  files: "Files to send",
  remove: (/** @type {string} */ name) => "Remove " + name,
  again: "Try again",
  lost: "Can’t reach the server.",
  uploading: (/** @type {string} */ name) => "Uploading " + name,
  drop: "Drop files to send them",
};

export const interactive = {
  buttons: "Buttons",
  list: "List",
  add: "Add to message",
  removeButtons: "Remove buttons",
  removeList: "Remove list",
};

export const quickReplies = { list: "Quick replies", none: "No quick replies match.", empty: "No quick replies yet.", make: "Create one" };

export const templates = {
  choose: "Choose a template",
  search: "Search templates",
  list: "Templates",
  none: "No approved templates",
  noneBody: "Templates must be approved before you can send them.",
  make: "Templates",
  back: "Choose another",
  send: "Send template",
  file: "Choose file",
};

export const sendLater = {
  title: "Send later",
  at: "When",
  send: "Schedule",
  hint: "In your time zone, up to 90 days ahead.",
  wrong: "Choose a time within the next 90 days.",
  hour: "In an hour",
  tomorrow: "Tomorrow at 9",
  monday: "Monday at 9",
};

export const sending = {
  off: "This number can’t send right now. ",
  reasons: {
    organization_suspended: "Your organization is suspended. Contact the operator of this server.",
    subscription_inactive: "Your subscription isn’t active. Contact the operator of this server.",
    quota_exceeded: "Your plan’s messages for this month are used up.",
    customer_suspended: "Its customer is suspended or archived.",
    account_restricted: "The provider has restricted it.",
    whatsapp_number_not_verified: "The provider has not approved it yet.",
  },
  see: "See why",
  customer: "Open the customer",
};

export const outbox = { unknown: "This may already have been sent. Check with the recipient before you send it again." };
