/** Log: calls of the API, jobs of the queue, and who changed what; and one call with all that is known of it. */
import { computed, el, untracked } from "../dom.js";
import { along } from "../keys.js";
import { heading } from "../parts/basics.js";
import { link, navigate, path, query } from "../router.js";
import { audit } from "./log/audit.js";
import { oneCall } from "./log/call.js";
import { calls } from "./log/calls.js";
import { jobs } from "./log/jobs.js";
import { log as text } from "texts/log.js";

/** The addresses of the tabs. @type {Record<string, string>} */
const places = { calls: "log", jobs: "log/jobs", audit: "log/audit" };

/** @type {Record<string, () => import("../dom.js").Child>} */
const tabs = { calls, jobs, audit };

/** @type {import("../router.js").Build} */
export default function log({ params }) {
  if (params.id) return oneCall(params.id);

  fromOldAddress();
  const open = computed(() => Object.keys(places).find((id) => places[id] === path()) ?? "calls");
  const links = Object.entries(text.tabs).map(([id, name]) => el("a.log-tab", {
    role: "tab",
    id: "tab-" + id,
    href: link(places[id]),
    "aria-selected": () => open() === id,
    "aria-controls": "tab-panel",
    tabindex: () => (open() === id ? "0" : "-1"),
  }, name));
  const body = el("div.page.wide.log-page", null,
    heading(text.title),
    el("div.log-tabs", { role: "tablist", "aria-label": text.title, onkeydown: move }, links),
    el("div", { role: "tabpanel", id: "tab-panel", "aria-labelledby": () => "tab-" + open() }, () => {
      const build = tabs[open()];
      return untracked(build);
    }));
  return { title: text.title, body };
}

/** fromOldAddress follows links from before the tabs had addresses of their own: log?tab=jobs. */
function fromOldAddress() {
  const { tab, ...rest } = Object.fromEntries(untracked(query));
  if (!tab) return;
  const filters = new URLSearchParams(rest).toString();
  navigate((places[tab] ?? places.calls) + (filters && "?" + filters), { replace: true });
}

/** move goes to the tab beside with the arrow keys. @param {KeyboardEvent} event */
function move(event) {
  const step = along(event);
  const all = [.../** @type {HTMLElement} */ (event.currentTarget).querySelectorAll("a")];
  const at = all.indexOf(/** @type {HTMLAnchorElement} */ (document.activeElement));
  if (!step || at < 0) return;
  const next = all[(at + step + all.length) % all.length];
  next.focus();
  next.click();
  event.preventDefault();
}
