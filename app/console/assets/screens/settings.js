/** What the pages of the settings have in common: their navigation, lists of sessions, the choice of a team. */
import { el, when } from "../dom.js";
import { get } from "../api.js";
import { settingsPages } from "../dialogs.js";
import { browserName, time } from "../format.js";
import { button, chip, icon } from "../parts/basics.js";
import { table } from "../parts/table.js";
import { link, path } from "../router.js";
import { settings as text, sessions as sessionText } from "texts/settings.js";

/**
 * settingsPage puts a page beside the navigation of the settings.
 * @param {...import("../dom.js").Child} children
 */
export function settingsPage(...children) {
  const current = path().split("/").slice(0, 2).join("/");
  const links = settingsPages.map((page) => {
    const here = page.path === current;
    const props = { href: link(page.path), "aria-current": here ? "page" : null, ref: here ? reveal : undefined };
    return el("li", null, el("a", props, icon(page.icon), page.name));
  });
  return el("div.settings", null, el("nav.subnav", { "aria-label": text.settings }, el("ul", null, links)), el("div.page", null, children));
}

/** readTeams reads the organization's teams. @param {AbortSignal} [signal] */
export const readTeams = async (signal) => (await get("v1/me", { signal })).teams;

/**
 * teamFields are the field of a form in which a team is chosen, where there are several.
 * @param {any[]} teams
 */
export function teamFields(teams) {
  const options = teams.map((one) => ({ value: one.id, label: one.name }));
  return teams.length > 1 ? [{ name: "team_id", label: text.team, type: "select", options }] : [];
}

/** reveal shows a link that is beyond the edge of a small screen. @param {Element} node */
const reveal = (node) => requestAnimationFrame(() => node.scrollIntoView({ block: "nearest", inline: "center" }));

/**
 * sessionTable lists sessions. With end, each but the current one can be ended.
 * @param {() => any[]} rows
 * @param {(session: any) => void} [end]
 */
export function sessionTable(rows, end) {
  return when(() => rows().length > 0, () => table({
    caption: sessionText.caption,
    rows,
    columns: sessionText.columns,
    kinds: { 4: "end" },
    cells: [
      (one) => el("span", { title: one().user_agent },
        browserName(one().user_agent),
        " ",
        one().current && chip(sessionText.current, "calm"),
      ),
      (one) => el("span.mono", null, one().ip),
      (one) => time(one().created_at),
      (one) => () => time(one().last_seen_at),
      end && ((one) => !one().current && button(sessionText.end, { run: () => end(one()) })),
    ],
  }), () => el("p.none", null, sessionText.none));
}
