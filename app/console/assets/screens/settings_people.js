/**
 * People: who can sign in, as what, and since when; and each of them: name, address and
 * role, where it is signed in, and how to keep it out.
 */
import { computed, el, when } from "../dom.js";
import { get, patch, post, remove } from "../api.js";
import { date, time } from "../format.js";
import { announce } from "../live.js";
import { button, chip, copyable, face, heading, section } from "../parts/basics.js";
import { confirmDeed, dialog, shown } from "../parts/dialog.js";
import { form } from "../parts/form.js";
import { toast, toastError } from "../parts/notices.js";
import { loaded, resource } from "../parts/states.js";
import { table } from "../parts/table.js";
import { link, onQuery } from "../router.js";
import { me, organization } from "../session.js";
import { readTeams, sessionTable, settingsPage, teamFields } from "./settings.js";

const text = {
  title: "People",
  lead: "Everybody who can sign in here. Agents answer messages; admins can do everything, keys and people included.",
  invite: "Invite",
  teams: "Teams",
  teamsLead: "Labels, numbers and people belong to a team.",
  newTeam: "New team",
  save: "Save",
  saved: "Saved",
  you: "you",
  columns: { name: "Name", role: "Role", status: "Status", seen: "Last sign-in" },
  never: "never",
  inviteTitle: (/** @type {string} */ name) => `Invite to ${name}`,
  fields: { name: "Name", email: "Email", role: "Role" },
  nameHint: "They can change it when they come.",
  create: "Create invitation",
  linkName: "link",
  sendTo: "Send this link to ",
  until: ". It works once, until ",
  once: ", and is not shown again.",
};

/** Roles, as they are called here. */
const roles = [
  { value: "agent", label: "Agent", hint: "Answers messages; sees contacts, templates and numbers" },
  { value: "admin", label: "Admin", hint: "Everything, with people, keys, webhooks and logs" },
];

/** @type {Record<string, "good" | "calm" | "bad">} */
const moods = { active: "good", invited: "calm", disabled: "bad" };

/** @param {string} status */
const statusChip = (status) => chip(status.replaceAll("_", " "), moods[status] ?? "quiet");

/** @type {import("../router.js").Build} */
export default function people({ params }) {
  return params.id ? onePerson(params.id) : allPeople();
}

function allPeople() {
  const all = resource((signal) => get("people", { signal }), ["user"]);
  const teams = resource(readTeams);
  onQuery("new", invite);

  async function invite() {
    await inviteDialog(teams.data() ?? (await readTeams().catch(() => [])));
    all.reload();
  }

  const newTeam = () => dialog(text.newTeam, (close) => form({
    fields: [{ name: "name", label: text.fields.name, required: true, props: { maxlength: 200, autocomplete: "off", dir: "auto" } }],
    submit: text.save,
    send: (values) => post("teams", values),
    done() {
      toast(text.saved);
      teams.reload();
      close();
    },
    cancel: close,
  }));

  const body = settingsPage(
    heading(text.title, { lead: text.lead, actions: button(text.invite, { icon: "plus", look: "primary", run: invite }) }),
    loaded(all, (rows) => table({
      caption: text.title,
      rows,
      key: (one) => one.id,
      columns: [
        { name: text.columns.name, kind: "about", sort: (one) => one.name.toLocaleLowerCase(), cell: personCell },
        {
          name: text.columns.role,
          sort: (one) => one.role,
          cell: (one) => () => roles.find((role) => role.value === one().role)?.label ?? one().role,
        },
        { name: text.columns.status, sort: (one) => one.status, cell: (one) => () => statusChip(one().status) },
        {
          name: text.columns.seen,
          sort: (one) => Date.parse(one.last_sign_in_at ?? 0),
          cell: (one) => () => time(one().last_sign_in_at, text.never),
        },
      ],
    })),
    section(text.teams, { lead: text.teamsLead, actions: button(text.newTeam, { run: newTeam }) },
      loaded(teams, (rows) => el("ul.prose", null, () => rows().map((/** @type {any} */ one) => el("li", { dir: "auto" }, one.name))), 1)));
  return { title: text.title, body };
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
function inviteDialog(teams) {
  return dialog(text.inviteTitle(organization.name), (close) => {
    const place = el("div");
    const show = (/** @type {any} */ made) => place.replaceChildren(linkShown(made, close));
    place.append(form({
      fields: [
        { name: "name", label: text.fields.name, required: true, hint: text.nameHint, props: { maxlength: 200, autocomplete: "off" } },
        { name: "email", label: text.fields.email, type: "email", required: true, props: { maxlength: 255, autocomplete: "off" } },
        { name: "role", label: text.fields.role, type: "radios", value: "agent", options: roles },
        ...teamFields(teams),
      ],
      submit: text.create,
      send: (values) => post("people", values),
      done: show,
      cancel: close,
    }));
    return place;
  }, { lasting: true, wide: true });
}

/**
 * linkShown shows an invitation's link, which cannot be shown again.
 * @param {any} made
 * @param {() => void} close
 */
function linkShown(made, close) {
  return shown(close,
    el("div.prose", null, el("p", null, text.sendTo, el("b", { dir: "auto" }, made.name), text.until, date(made.expires_at), text.once)),
    copyable(made.link, { name: text.linkName, block: true }));
}

const personText = {
  person: "Person",
  id: "user id",
  fields: { name: "Name", email: "Email", role: "Role" },
  save: "Save",
  saved: "Saved",
  signIn: "Sign-in",
  lastSeen: "Last sign-in: ",
  never: "never",
  invited: "The invitation has not been used yet. A new link ends the earlier one.",
  active: "A new link lets this person choose a new password. The old one works until then.",
  none: "This person cannot sign in. A link lets it choose a password.",
  newLink: "New link",
  linkTitle: "Link to sign in",
  sessions: "Sessions",
  signOut: "Sign out everywhere",
  signedOut: "Signed out everywhere",
  ended: "Session ended",
  sessionsLead: "The browsers in which this person is signed in.",
  disable: "Disable",
  disableTitle: (/** @type {string} */ name) => `Disable ${name}?`,
  enable: "Enable",
  disabled: "Disabled",
  enabled: "Enabled",
  access: "Access",
  disableLead: "Takes effect at once: all sessions and invitations end. What this person wrote stays.",
  enableLead: "This person is disabled and cannot sign in.",
};

/** @param {string} id */
function onePerson(id) {
  const one = resource((signal) => get("people/" + id, { signal }), ["user"]);
  const body = settingsPage(loaded(one, () => personPage(one), 4, "h1"));
  return { title: () => one.data()?.name ?? personText.person, body };
}

/** @param {import("../parts/states.js").Resource<any>} one */
function personPage(one) {
  const data = computed(() => one.data());
  const id = data().id;
  const sessions = resource((signal) => get(`people/${id}/sessions`, { signal }), ["user"]);
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

  const change = async (/** @type {string} */ what, /** @type {string} */ said) => {
    one.set(await post(`people/${id}/${what}`));
    sessions.reload();
    toast(said);
  };
  const newLink = async () => {
    try {
      const made = await post(`people/${id}/reset`);
      await dialog(personText.linkTitle, (close) => linkShown(made, close), { lasting: true, wide: true });
      one.reload();
    } catch (error) {
      toastError(error);
    }
  };
  const disable = () => confirmDeed({
    title: personText.disableTitle(data().name),
    body: el("p", null, personText.disableLead),
    deed: personText.disable,
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
    }),
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
        () => button(personText.disable, { look: "harm", run: disable }),
      ),
    }),
  ];
}

/**
 * @param {import("../parts/states.js").Resource<any>} one
 * @param {any[]} teams
 */
function personForm(one, teams) {
  const { id, name, email, role, team_id } = one.data();
  return el("section.section.first", null, form({
    fields: [
      { name: "name", label: personText.fields.name, value: name, required: true, props: { maxlength: 200, dir: "auto" } },
      { name: "email", label: personText.fields.email, type: "email", value: email ?? "", props: { maxlength: 255 } },
      { name: "role", label: personText.fields.role, type: "radios", value: role, options: roles },
      ...teamFields(teams, team_id),
    ],
    submit: personText.save,
    send: (values) => patch("people/" + id, { ...values, email: values.email === (email ?? "") ? undefined : values.email }),
    done(saved) {
      one.set(saved);
      if (saved.id === me().id) me.set({ ...me(), name: saved.name });
      announce("user", id);
      toast(personText.saved);
    },
  }));
}
