/** One's own profile: name, password, sessions, and how this browser looks. */
import { el, when } from "../dom.js";
import { patch, remove } from "../api.js";
import { heading, section } from "../parts/basics.js";
import { form, options, switchRow } from "../parts/form.js";
import { loaded, resource } from "../parts/states.js";
import { toast, toastError } from "../parts/notices.js";
import { me, singleKeys, theme } from "../session.js";
import { onQuery } from "../router.js";
import { factorSection } from "./settings_factors.js";
import { sessionTable, settingsPage } from "./settings.js";
import { profile as text } from "texts/people.js";

const passwords = [
  { name: "username", label: "", unseen: true, props: { autocomplete: "username" } },
  {
    name: "current_password",
    label: text.currentPassword,
    type: "password",
    required: true,
    props: { maxlength: 200, autocomplete: "current-password" },
  },
  { name: "password", ...text.newPassword, type: "password", required: true, props: { maxlength: 200, autocomplete: "new-password" } },
];

/** The languages of the console, by their own names. */
const languages = { en: "English", es: "Español", "pt-BR": "Português (Brasil)", id: "Bahasa Indonesia", ar: "العربية" };

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

/** A page in another language is another page. @param {any} own */
function nameForm(own) {
  const choices = [{ value: "", label: text.browserLanguage }, ...options(languages)];
  return el("section.section.first", null, form({
    fields: [
      { name: "name", ...text.name, required: true, props: { maxlength: 200, autocomplete: "name", dir: "auto" } },
      { name: "language", label: text.language, type: "select", options: choices },
    ],
    values: own,
    blank: null,
    submit: text.save,
    send: (values) => patch("profile", values),
    done(saved) {
      if (saved.language !== own.language) return location.reload();
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
  const { email } = own.data();
  if (!email) return section(text.password, { lead: text.noAddress });
  const passwordForm = (/** @type {boolean} */ hasPassword) => form({
    fields: passwords.filter(({ name }) => hasPassword || name !== "current_password"),
    values: { username: email },
    submit: text.changePassword,
    send: ({ username, ...values }) => patch("profile", values),
    done(saved, form) {
      own.set(saved);
      form.reset();
      toast(text.passwordChanged);
      changed();
    },
  });
  return section(text.password, { lead: text.passwordLead },
    when(() => own.data().has_password, () => passwordForm(true), () => passwordForm(false)));
}

function lookSection() {
  const choices = options(text.themes).map(({ value, label }) => {
    const props = { type: "radio", name: "theme", value, checked: () => theme() === value, onchange: () => theme.set(value) };
    return el("label.choice", null, el("input", props), el("span", null, label));
  });
  return section(text.look, { lead: text.lookLead },
    el("fieldset.field.radios", null, el("legend.label", null, text.theme), el("div.choices", null, choices)),
    switchRow(text.singleKeys, () => singleKeys() === "on", (on) => singleKeys.set(on ? "on" : "off")));
}
