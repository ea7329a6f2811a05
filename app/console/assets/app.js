/** Where the console begins: its screens, and the frame that the server sent, which comes to life. */
import { listen } from "./keys.js";
import { connect } from "./live.js";
import { connectionBar, toastRegion } from "./parts/notices.js";
import { navigate, start } from "./router.js";
import inbox from "./screens/inbox.js";
import nothing from "./screens/nothing.js";
import { applyTheme, isAdmin, phoneBeside, screens } from "./session.js";
import { fixAddresses, startAccount, startJump, startNavigation, startNumbers } from "./shell.js";

/** @typedef {import("./router.js").Route} Route */

/**
 * later loads a screen of those that are not needed at first.
 * @param {Exclude<keyof typeof import("./screens.js"), "laterInInbox" | "renewPush">} name
 */
const later = (name) => async () => (await import("./screens.js"))[name];

/** @type {Route} */
const notFound = { pattern: "*", load: async () => nothing };

/** @type {(Route & { admin?: boolean })[]} */
const routes = [
  ...pair("inbox", async () => inbox).map((one) => ({ ...one, screen: "inbox" })),
  ...pair("contacts", later("contacts")),
  ...pair("broadcasts", later("broadcasts"), true),
  ...pair("templates", later("templates")),
  ...pair("rules", later("rules"), true),
  ...pair("numbers", later("numbers")),
  ...pair("customers", later("customers"), true),
  { pattern: "reports", load: later("reports"), admin: true },
  { pattern: "costs", load: later("costs"), admin: true },
  ...pair("webhooks", later("webhooks"), true),
  ...pair("deliveries", later("deliveries"), true),
  ...["log", "log/jobs", "log/audit"].map((pattern) => ({ pattern, load: later("log"), admin: true, screen: "log" })),
  { pattern: "log/:id", load: later("log"), admin: true },
  ...pair("trace", later("trace"), true),
  ...pair("phone", later("phone"), true),
  ...pair("settings/people", later("people"), true),
  { pattern: "settings/keys", load: later("keys"), admin: true },
  { pattern: "settings/labels", load: later("labels"), admin: true },
  { pattern: "settings/notifications", load: later("notifications") },
  { pattern: "settings/profile", load: later("profile") },
  { pattern: "settings/quick-replies", load: later("quickReplies") },
  { pattern: "settings/health", load: later("health"), admin: true },
];

/**
 * pair is the routes of a list and of each thing in it.
 * @param {string} pattern
 * @param {Route["load"]} load
 * @param {boolean} [admin]
 */
function pair(pattern, load, admin) {
  return [{ pattern, load, admin }, { pattern: pattern + "/:id", load, admin }];
}

/**
 * find finds the route of a path, or where it leads instead.
 * @param {string} path
 * @returns {{ route: Route, params: Record<string, string> } | { redirect: string }}
 */
function find(path) {
  if (path === "") return { redirect: "inbox" };
  if (path === "settings") return { redirect: isAdmin ? "settings/people" : "settings/profile" };
  for (const route of routes) {
    const params = match(route.pattern, path);
    const away = (route.admin && !isAdmin) || (route.pattern.startsWith("phone") && !screens.includes("phone"));
    if (params && !away) return { route: withPhone(route), params };
  }
  return { route: notFound, params: { path } };
}

/**
 * withPhone shows the inbox of a sandbox with the phone beside it, where that was chosen and
 * there is room.
 * @param {Route} route
 */
function withPhone(route) {
  const wanted = route.pattern.startsWith("inbox") && phoneBeside() === "on" && screens.includes("phone");
  return wanted && matchMedia("(min-width: 1180px)").matches ? { ...route, load: later("inboxAndPhone"), screen: "inbox and phone" } : route;
}

/**
 * match reports whether a path is like a pattern, and the values of its :words.
 * @param {string} pattern
 * @param {string} path
 * @returns {Record<string, string> | null}
 */
function match(pattern, path) {
  const wanted = pattern.split("/");
  const given = path.split("/");
  if (wanted.length !== given.length) return null;
  /** @type {Record<string, string>} */
  const params = {};
  for (const [i, word] of wanted.entries()) {
    if (word.startsWith(":")) params[word.slice(1)] = given[i];
    else if (word !== given[i]) return null;
  }
  return params;
}

const main = /** @type {HTMLElement} */ (document.getElementById("main"));

fixAddresses();
applyTheme();
main.before(connectionBar());
document.body.append(toastRegion());
startNavigation();
startJump();
startAccount();
listen();
connect();
start(find, main);
startNumbers();

// Somebody has clicked on a notification: the service worker tells where that leads, perhaps as soon as the page is there.
navigator.serviceWorker?.addEventListener("message", ({ data }) => data.open && navigate(data.open));

// The other screens are loaded while nothing else is to do: then they open at once, also while the
// server is gone, and as they were when this page was loaded.
setTimeout(() => import("./screens.js").then(({ renewPush }) => renewPush()).catch(() => {}), 3000);
