import { count, plural } from "../../format.js";

export const server = {
  network: "Can’t reach the server.",
  unreadable: "The server sent an unreadable response.",
};

/** States of anything, as the API names them, in words. */
export const words = {
  active: "active",
  all: "all",
  approved: "approved",
  archived: "archived",
  cancelled: "cancelled",
  completed: "completed",
  connected: "connected",
  consumed: "consumed",
  dead: "dead",
  degraded: "degraded",
  deleted: "deleted",
  delivered: "delivered",
  disabled: "disabled",
  disconnected: "disconnected",
  expired: "expired",
  failed: "failed",
  flagged: "flagged",
  in_appeal: "in appeal",
  invited: "invited",
  limit_exceeded: "limit exceeded",
  no_sign_in: "no sign in",
  onboarding: "onboarding",
  open: "open",
  paused: "paused",
  pending: "pending",
  pending_deletion: "pending deletion",
  preparing: "preparing",
  queued: "queued",
  read: "read",
  received: "received",
  rejected: "rejected",
  revoked: "revoked",
  running: "running",
  scheduled: "scheduled",
  sent: "sent",
  skipped: "skipped",
  succeeded: "succeeded",
  suspended: "suspended",
  waiting: "waiting",
};

export const copying = {
  copy: "Copy",
  copyOf: (/** @type {string} */ name) => `Copy ${name}`,
  copied: "Copied",
  select: "Press Ctrl-C to copy",
};

export const guide = /** @type {string} */ ("Guide");

export const dialog = {
  close: "Close",
  cancel: "Cancel",
  busy: "One moment…",
  done: "Done",
  type: (/** @type {string} */ word) => `Type “${word}” to confirm`,
};

export const form = { cancel: "Cancel", saving: "Saving…", required: "This field is required.", optional: "optional" };

export const problems = { of: (/** @type {string} */ why) => `This ${why}` }; // what the server says is wrong with a field, in English

export const headerFile = {
  choose: { image: "Choose picture", video: "Choose video", document: "Choose document" },
  other: "Choose file",
  upload: "Upload file",
};

export const interactive = {
  buttons: ["Button 1", "Button 2", "Button 3"],
  open: "Button that opens the list",
  rows: "Rows",
  rowsHint: "One per line, up to 10. Add a description after a |.",
  tooMany: "Rows: at most 10.",
  tooLong: "Rows: at most 24 characters each, and 72 for a description.",
};

export const lists = {
  more: "Show more",
  first: "First page",
  all: "All",
  fresh: (/** @type {number} */ n) => count(n) + " new",
  looking: "Searching further back…",
  goOn: "Keep searching",
  soFar: "No matches so far. There’s more to search.",
  noNumber: "No number connected",
  noNumberBody: "Connect a number to get started.",
  numbers: "Numbers",
};

export const notices = { region: "Messages from confab", dismiss: "Dismiss", failed: "Something went wrong on this page." };

export const connection = { lost: "Reconnecting… your text is safe", now: "Try now" };

export const period = {
  period: "Period",
  last30: "Last 30 days",
  periods: { week: "Last 7 days", month: "This month", before: "Last month", quarter: "Last 90 days" },
};

export const plot = { table: "View as table", day: "Day", name: "Name", before: "Before", none: "—" };

export const states = {
  again: "Try again",
  loading: "Loading",
  lostTitle: "Can’t reach the server",
  lost: "Nothing was changed. It retries as soon as you’re back online.",
  goneTitle: "Not found",
  gone: "It may have been deleted, or it belongs to another organization.",
  deniedTitle: "Only admins can open this",
  denied: "Ask an admin if you need access.",
  failedTitle: "Couldn’t load this",
  failed: "Nothing was lost. Try again in a moment. If it keeps happening, send your operator the request id below.",
  pageFailed: "Something went wrong on this page. Reload it. If it keeps happening, tell your operator.",
  request: "request id",
  reference: "Request",
};

export const table = { sortBy: "Sort by" };

export const templateForm = {
  code: "Code",
  header: "Header ",
  link: (/** @type {string} */ format) => `${format} (https URL)`,
  place: ["Latitude", "Longitude", "Place", "Address"],
  button: (/** @type {string} */ name) => `Link ending for “${name}”`,
  coupon: "Offer code",
  ends: "Offer ends",
  card: (/** @type {number} */ i) => `Card ${i}: `,
  required: "This field is required.",
  unsupported: "This template shows a product. Send it through the API.",
};

export const templatePreview = {
  name: "Preview",
  cards: "Cards",
  more: "See all options",
  code: "*{{1}}* is your verification code.",
  secret: " For your security, do not share this code.",
  expires: (/** @type {number} */ n) =>
    plural(n, { one: `This code expires in ${n} minute.`, other: `This code expires in ${n} minutes.` }),
  offerEnds: "Ends at the time you set",
  empty: "Your message preview",
  media: { IMAGE: "Picture", VIDEO: "Video", GIF: "GIF", DOCUMENT: "Document", LOCATION: "Location", PRODUCT: "Product" },
  buttons: { COPY_CODE: "Copy offer code", OTP: "Copy code", REQUEST_CONTACT_INFO: "Share contact info" },
};
