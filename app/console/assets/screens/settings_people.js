/**
 * People: who can sign in, as what, and since when; and each of them: name, address and
 * role, where it is signed in, and how to keep it out.
 */
import { computed, el, when } from "../dom.js";
import { patch, post, remove } from "../api.js";
import { date, time } from "../format.js";
import { announce } from "../live.js";
import { button, chip, copyable, face, heading, section, wordOf } from "../parts/basics.js";
import { confirmAction, dialog, shown } from "../parts/dialog.js";
import { form, formDialog, options } from "../parts/form.js";
import { toast, toastError } from "../parts/notices.js";
import { loaded, resource } from "../parts/states.js";
import { table } from "../parts/table.js";
import { link, onQuery } from "../router.js";
import { me, organization } from "../session.js";
import { factorsOf } from "./settings_factors.js";
import { readTeams, sessionTable, settingsPage, teamFields } from "./settings.js";
import { people as text, person as personText } from "texts/people.js";

const role = { name: "role", label: text.role, type: "radios", options: options(text.roles) };
const teamName = { name: "name", label: text.teamName, required: true, props: { maxlength: 200, autocomplete: "off", dir: "auto" } };
const assignment = [
  { name: "assignment", label: text.assignment, type: "radios", options: options(text.assignments) },
  { name: "assignment_limit", ...text.limit, type: "number", optional: true, props: { min: 1, max: 100000 } },
];

/** @type {Record<string, "good" | "calm" | "bad">} */
const tones = { active: "good", invited: "calm", disabled: "bad" };

/** @param {string} status */
const statusChip = (status) => chip(wordOf(status), tones[status] ?? "quiet");

/** @type {import("../router.js").Build} */
export default function people({ params }) {
  return params.id ? onePerson(params.id) : allPeople();
}

function allPeople() {
  const all = resource("people", ["user"]);
  const teams = resource("teams");
  onQuery("new", invite);

  async function invite() {
    await inviteDialog(teams.data() ?? (await readTeams().catch(() => [])));
    all.reload();
  }

  const newTeam = () => formDialog(text.newTeam, {
    fields: [teamName],
    submit: text.save,
    send: (values) => post("teams", values),
    done() {
      toast(text.saved);
      teams.reload();
    },
  });

  const editTeam = (/** @type {any} */ team) => formDialog(text.editTeam(team.name), {
    fields: [teamName, ...assignment],
    values: { ...team, assignment_limit: team.assignment_limit ?? "" },
    submit: text.save,
    send: ({ assignment_limit: limit, ...rest }) => patch("teams/" + team.id, { ...rest, assignment_limit: limit ? Number(limit) : null }),
    done() {
      toast(text.saved);
      teams.reload();
    },
  });

  const body = settingsPage(
    heading(text.title, { lead: text.lead, actions: button(text.invite, { icon: "plus", look: "primary", run: invite }) }),
    loaded(all, (rows) => table({
      caption: text.title,
      rows,
      columns: text.columns,
      sorts: { 0: "name", 1: "role", 2: "status", 3: "last_sign_in_at" },
      cells: [
        personCell,
        (one) => () => text.roles[/** @type {"agent"} */ (one().role)]?.label ?? one().role,
        (one) => () => statusChip(one().status),
        (one) => () => time(one().last_sign_in_at, text.never),
      ],
    })),
    section(text.teams, { lead: text.teamsLead, actions: button(text.newTeam, { run: newTeam }) },
      loaded(teams, (rows) => el("ul.prose", null, () => rows().map((/** @type {any} */ one) => teamLine(one, () => void editTeam(one)))), 1)));
  return { title: text.title, body };
}

/** teamLine shows a team, and how it assigns conversations. @param {any} team @param {() => void} edit */
function teamLine({ name, assignment, assignment_limit: limit }, edit) {
  const how = assignment === "off" ? "" : limit ? text.byTurnUpTo(limit) : text.byTurn;
  return el("li", null, el("span", { dir: "auto" }, name), " ", how && el("small", null, how), " ",
    button(text.edit, { look: "bare", run: edit, "aria-label": text.editTeam(name) }));
}

/** @param {() => any} person */
function personCell(person) {
  return el("span.who", null, face(person().name),
    el("span.who-text", null,
      el("span.who-name", null,
        el("a", { href: link("settings/people/" + person().id), dir: "auto" }, () => person().name), " ",
        person().id === me().id && el("span.you", null, text.you),
      ),
      el("small", { dir: "auto" }, () => person().email ?? "")));
}

/**
 * inviteDialog asks whom to invite, and then shows the link, once.
 * @param {any[]} teams
 */
const inviteDialog = (teams) => formDialog(text.inviteTitle(organization.name), {
  fields: [
    { name: "name", ...text.name, required: true, props: { maxlength: 200, autocomplete: "off" } },
    { name: "email", label: text.email, type: "email", required: true, props: { maxlength: 255, autocomplete: "off" } },
    role,
    ...teamFields(teams),
  ],
  values: { role: "agent" },
  submit: text.create,
  send: (values) => post("people", values),
  shows: linkShown,
});

/** linkShown shows an invitation's link, which cannot be shown again. @param {any} made */
const linkShown = (made) => [
  el("div.prose", null, el("p", null, text.sendTo, el("b", { dir: "auto" }, made.name), text.until, date(made.expires_at), text.once)),
  copyable(made.link, { name: text.linkName, block: true }),
];

/** @param {string} id */
function onePerson(id) {
  const one = resource("people/" + id, ["user"]);
  const body = settingsPage(loaded(one, () => personPage(one), 4, "h1"));
  return { title: () => one.data()?.name ?? personText.person, body };
}

/** @param {import("../parts/states.js").Resource<any>} one */
function personPage(one) {
  const data = computed(() => one.data());
  const id = data().id;
  const sessions = resource(`people/${id}/sessions`, ["user"]);
  const teams = resource(readTeams);
  const end = async (/** @type {any} */ session) => {
    try {
      await remove(`people/${id}/sessions/${session.id}`);
      toast(personText.ended);
    } catch (error) {
      toastError(error);
    }
    sessions.reload();
  };
  const isDisabled = () => data().status === "disabled";

  const change = async (/** @type {string} */ what, /** @type {string} */ message) => {
    one.set(await post(`people/${id}/${what}`));
    sessions.reload();
    toast(message);
  };
  const newLink = async () => {
    try {
      const made = await post(`people/${id}/reset`);
      await dialog(personText.linkTitle, (close) => shown(close, linkShown(made)), { lasting: true, wide: true });
      one.reload();
    } catch (error) {
      toastError(error);
    }
  };
  const disable = () => confirmAction({
    title: personText.disableTitle(data().name),
    body: personText.disableLead,
    action: personText.disable,
    send: () => change("disable", personText.disabled),
  });

  return [
    heading(() => data().name, {
      beside: [() => statusChip(data().status), copyable(id, { name: personText.id })],
    }),
    loaded(teams, (all) => personForm(one, all()), 2),
    section(personText.signIn, {
      lead: [
        () => ({
          invited: personText.invited,
          active: personText.active,
          no_sign_in: personText.none,
          disabled: personText.enableLead,
        })[/** @type {string} */ (data().status)],
        " ",
        personText.lastSeen,
        () => time(data().last_sign_in_at, personText.never),
        ".",
      ],
      actions: when(() => !isDisabled(), () => button(personText.newLink, { run: newLink })),
    }, factorsOf(id)),
    section(personText.sessions, {
      lead: personText.sessionsLead,
      actions: when(
        () => sessions.data()?.length,
        () => button(personText.signOut, { run: () => change("signout", personText.signedOut).catch(toastError) }),
      ),
    }, loaded(sessions, (rows) => sessionTable(rows, end), 1)),
    id !== me().id && section(personText.access, {
      lead: () => (isDisabled() ? personText.enableLead : personText.disableLead),
      actions: when(
        isDisabled,
        () => button(personText.enable, { run: () => change("enable", personText.enabled).catch(toastError) }),
        () => button(personText.disable, { look: "destructive", run: disable }),
      ),
    }),
  ];
}

/**
 * @param {import("../parts/states.js").Resource<any>} one
 * @param {any[]} teams
 */
function personForm(one, teams) {
  const { id } = one.data();
  return el("section.section.first", null, form({
    fields: [
      { name: "name", label: personText.name, required: true, props: { maxlength: 200, dir: "auto" } },
      { name: "email", label: personText.email, type: "email", props: { maxlength: 255 } },
      role,
      ...teamFields(teams),
    ],
    values: one.data(),
    follows: one.data,
    blank: null,
    submit: personText.save,
    send: (values) => patch("people/" + id, values),
    done(saved) {
      one.set(saved);
      if (saved.id === me().id) me.set({ ...me(), name: saved.name });
      announce("user", id);
      toast(personText.saved);
    },
  }));
}
