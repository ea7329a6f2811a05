/**
 * The service worker: it shows what is pushed to this browser, and opens the console when somebody
 * clicks on that. It does nothing else.
 */
const worker = /** @type {any} */ (globalThis);

worker.addEventListener("push", (/** @type {any} */ event) => {
  const { title, body, tag, conversation, unread } = event.data.json();
  event.waitUntil(Promise.all([
    worker.registration.showNotification(title, { body, tag, renotify: true, data: { conversation } }),
    conversation && worker.navigator.setAppBadge?.(unread),
  ]));
});

worker.addEventListener("notificationclick", (/** @type {any} */ event) => {
  event.notification.close();
  const { conversation } = event.notification.data;
  event.waitUntil(openScreen(conversation ? "inbox/" + conversation : "inbox"));
});

/** Pages that have no screens. */
const others = /^(sign-in|second-factor|welcome|oidc)\b/;

/** openScreen shows a screen in a console that is open, or else opens one. @param {string} path */
async function openScreen(path) {
  const { scope } = worker.registration;
  const all = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
  const shown = all.find((/** @type {any} */ { url }) => url.startsWith(scope) && !others.test(url.slice(scope.length)));
  if (!shown) return worker.clients.openWindow(new URL(path, scope));
  shown.postMessage({ open: path });
  return shown.focus();
}
