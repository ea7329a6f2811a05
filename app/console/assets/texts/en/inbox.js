import { count, plural } from "../../format.js";

export const inbox = {
  title: "Inbox",
  details: "Details",
  unsent: "Resolve with an unsent message?",
  unsentBody: {
    draft: "Your message wasn’t sent. It stays as a draft in this browser.",
    waiting: "Your message hasn’t been sent yet. This browser sends it as soon as it can.",
  },
  resolveAnyway: "Resolve anyway",
  choose: "Choose a conversation",
  chooseBody: "Press j and k to move through the list, x to select, and Enter to open. Press ? for all keys.",
  noNumber: "No number connected yet",
  noNumberBody: "Connect a number to see its messages here.",
  numbers: "Numbers",
  keys: {
    next: "Next conversation",
    previous: "Previous conversation",
    open: "Open conversation",
    reply: "Reply",
    resolve: "Resolve",
    reopen: "Reopen",
    assign: "Assign",
    label: "Label",
    unread: "Mark unread",
    select: "Select",
    clear: "Clear selection",
    search: "Search messages",
  },
};

export const list = {
  tabs: "Inbox",
  names: {
    open: "Open",
    mine: "Mine",
    unassigned: "Unassigned",
    waiting: "Waiting",
    mentions: "Mentions",
    unread: "Unread",
    snoozed: "Snoozed",
    resolved: "Resolved",
    all: "All",
  },
  more: "More",
  sort: "Sort",
  sorts: { newest: "Newest", waiting: "Waiting longest" },
  filter: "Filter by label",
  anyLabel: "Any label",
  search: "Search messages",
  list: "Conversations",
  fresh: (/** @type {number} */ n) => count(n) + " new",
  noConversations: "Nobody has written yet",
  noConversationsBody: "When someone writes to your number, the conversation appears here.",
  trigger: "confab trigger inbound --from +15550002222 --text hello",
  command: "command",
  done: "All done here",
  doneBody: "There are no conversations in this tab.",
};

export const row = {
  you: "You",
  sources: { api: "API", app: "Phone app", broadcast: "Campaign", gateway: "API", rule: "Rule" },
  said: (/** @type {string} */ who) => who + ": ",
  unread: (/** @type {number} */ n) => count(n) + " unread",
  left: (/** @type {string} */ span) => span.replace(/^\d+/, "$& ") + " left to reply", // 23 h
  closed: "template only",
  pending: "Pending",
  waits: (/** @type {string} */ span) => "waiting " + span,
  snoozed: (/** @type {string} */ until) => "Snoozed until " + until,
  assigned: (/** @type {string} */ name) => "Assigned to " + name,
  select: (/** @type {string} */ name) => "Select " + name,
  selected: ", selected",
};

export const search = {
  list: "Conversations",
  none: "No results",
  noneBody: "Every word must be in the message. Use quotes for an exact phrase.",
  more: "Show more",
  contact: "Contact",
  copies: (/** @type {number} */ n) => plural(n, { one: `Broadcast · ${count(n)} copy`, other: `Broadcast · ${count(n)} copies` }),
  copiesOrMore: (/** @type {number} */ n) => plural(n, { one: `Broadcast · ${count(n)}+ copy`, other: `Broadcast · ${count(n)}+ copies` }),
};

export const selection = {
  bar: "Selected",
  selected: (/** @type {number} */ n) => count(n) + " selected",
  assign: "Assign",
  label: "Label",
  snooze: "Snooze",
  resolve: "Resolve",
  clear: "Clear selection",
  most: (/** @type {number} */ n) => `You can select up to ${count(n)} conversations.`,
  unsent: "Resolve with unsent messages?",
  unsentBody: (/** @type {number} */ n) => plural(n, {
    one: `${count(n)} conversation has unsent text. It stays as a draft in this browser.`,
    other: `${count(n)} conversations have unsent text. It stays as a draft in this browser.`,
  }),
  resolveAnyway: "Resolve anyway",
  done: {
    assign: (/** @type {number} */ n) => plural(n, { one: `${count(n)} conversation assigned`, other: `${count(n)} conversations assigned` }),
    label: (/** @type {number} */ n) => plural(n, { one: `${count(n)} conversation labelled`, other: `${count(n)} conversations labelled` }),
    snooze: (/** @type {number} */ n) => plural(n, { one: `${count(n)} conversation snoozed`, other: `${count(n)} conversations snoozed` }),
    resolve: (/** @type {number} */ n) => plural(n, { one: `${count(n)} conversation resolved`, other: `${count(n)} conversations resolved` }),
  },
  /** Before the names of those that failed. */
  failed: {
    assign: (/** @type {number} */ n, /** @type {number} */ all) => plural(all, {
      one: `${count(n)} of ${count(all)} conversation not assigned: `,
      other: `${count(n)} of ${count(all)} conversations not assigned: `,
    }),
    label: (/** @type {number} */ n, /** @type {number} */ all) => plural(all, {
      one: `${count(n)} of ${count(all)} conversation not labelled: `,
      other: `${count(n)} of ${count(all)} conversations not labelled: `,
    }),
    snooze: (/** @type {number} */ n, /** @type {number} */ all) => plural(all, {
      one: `${count(n)} of ${count(all)} conversation not snoozed: `,
      other: `${count(n)} of ${count(all)} conversations not snoozed: `,
    }),
    resolve: (/** @type {number} */ n, /** @type {number} */ all) => plural(all, {
      one: `${count(n)} of ${count(all)} conversation not resolved: `,
      other: `${count(n)} of ${count(all)} conversations not resolved: `,
    }),
  },
  others: (/** @type {number} */ n) => ` and ${count(n)} more`,
};

export const views = {
  save: "Save view",
  options: "View options",
  name: "Name",
  for: "Visible to",
  people: { me: "Only me", all: "Everyone" },
  rename: "Edit view",
  done: "Save",
  delete: "Delete view",
  deleteTitle: (/** @type {string} */ name) => `Delete the view “${name}”?`,
  deleteBody: "Its conversations stay as they are.",
  sharedBody: "This removes the view for everyone. Its conversations stay as they are.",
};

export const assign = {
  assign: "Assign",
  search: "Search people",
  people: "People",
  nobody: "Nobody",
  you: "You",
  none: "No match",
};

export const labels = { labels: "Labels", none: "No labels yet.", make: "New label" };

export const snooze = {
  snooze: "Snooze",
  hours: "For 3 hours",
  tomorrow: "Until tomorrow",
  monday: "Until Monday",
  at: "Until",
  pick: "Snooze until then",
  wrong: "Choose a time within the next year.",
};
