/** One's own profile: name, password, sessions, and how this browser looks. */
import { el } from "../dom.js";
import { patch, remove } from "../api.js";
import { heading, section } from "../parts/basics.js";
import { form, switchRow } from "../parts/form.js";
import { loaded, resource } from "../parts/states.js";
import { toast, toastError } from "../parts/notices.js";
import { me, singleKeys, theme } from "../session.js";
import { onQuery } from "../router.js";
import { factorSection } from "./settings_factors.js";
import { sessionTable, settingsPage } from "./settings.js";

const text = {
  title: "Profile",
  names: [{
    name: "name",
    label: "Name",
    required: true,
    hint: "Your team sees this name.",
    props: { maxlength: 200, autocomplete: "name", dir: "auto" },
  }],
  passwords: [
    { name: "username", label: "", unseen: true, props: { autocomplete: "username" } },
    {
      name: "current_password",
      label: "Current password",
      type: "password",
      required: true,
      props: { maxlength: 200, autocomplete: "current-password" },
    },
    {
      name: "password",
      label: "New password",
      type: "password",
      required: true,
      hint: "At least 10 characters. A few words are easy to remember.",
      props: { maxlength: 200, autocomplete: "new-password" },
    },
  ],
  save: "Save",
  saved: "Saved",
  password: "Password",
  passwordLead: "Changing it signs you out everywhere else.",
  noAddress: "You can’t have a password without an email address. An admin can add one under People.",
  changePassword: "Change password",
  passwordChanged: "Password changed. You’re signed out everywhere else.",
  sessions: "Sessions",
  sessionsLead: "Where you’re signed in. End any session you don’t recognize.",
  ended: "Session ended",
  look: "Appearance",
  lookLead: "For this browser only.",
  theme: "Theme",
  themes: [
    { value: "system", label: "System" },
    { value: "light", label: "Light" },
    { value: "dark", label: "Dark" },
  ],
  singleKeys: "Single-key shortcuts",
};

/** @type {import("../router.js").Build} */
export default function profile() {
  const own = resource("profile", ["user"]);
  const sessions = resource("sessions", ["user"]);
  const end = async (/** @type {any} */ session) => {
    try {
      await remove("sessions/" + session.id);
      toast(text.ended);
    } catch (error) {
      toastError(error);
    }
    sessions.reload();
  };

  const sessionSection = section(text.sessions, { lead: text.sessionsLead }, loaded(sessions, (rows) => sessionTable(rows, end), 2));
  onQuery("show", () => sessionSection.scrollIntoView());

  const body = settingsPage(
    heading(text.title, { lead: () => own.data()?.email ?? me().email ?? "" }),
    loaded(own, (data) => [nameForm(data()), data().takes_passwords && passwordSection(own, sessions.reload)]),
    () => own.data()?.takes_passwords && factorSection(),
    sessionSection,
    lookSection());
  return { title: text.title, body };
}

/** @param {any} own */
function nameForm(own) {
  return el("section.section.first", null, form({
    fields: text.names,
    values: own,
    submit: text.save,
    send: (values) => patch("profile", values),
    done(saved) {
      me.set({ ...me(), name: saved.name });
      toast(text.saved);
    },
  }));
}

/**
 * Who never had a password need not give the old one; who has no address to sign in with
 * cannot have one.
 * @param {import("../parts/states.js").Resource<any>} own
 * @param {() => void} changed
 */
function passwordSection(own, changed) {
  const { email, has_password: hasPassword } = own.data();
  if (!email) return section(text.password, { lead: text.noAddress });
  return section(text.password, { lead: text.passwordLead }, form({
    fields: text.passwords.filter(({ name }) => hasPassword || name !== "current_password"),
    values: { username: email },
    submit: text.changePassword,
    send: ({ username, ...values }) => patch("profile", values),
    done(saved, form) {
      own.set(saved);
      form.reset();
      toast(text.passwordChanged);
      changed();
    },
  }));
}

function lookSection() {
  const choices = text.themes.map(({ value, label }) => {
    const props = { type: "radio", name: "theme", value, checked: () => theme() === value, onchange: () => theme.set(value) };
    return el("label.choice", null, el("input", props), el("span", null, label));
  });
  return section(text.look, { lead: text.lookLead },
    el("fieldset.field.radios", null, el("legend.label", null, text.theme), el("div.choices", null, choices)),
    switchRow(text.singleKeys, () => singleKeys() === "on", (on) => singleKeys.set(on ? "on" : "off")));
}
