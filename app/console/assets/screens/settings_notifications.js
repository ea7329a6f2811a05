/** Notifications: whether this device shows them, of what, and whether there is a sound. */
import { el, signal, when } from "../dom.js";
import { patch, post } from "../api.js";
import { button, heading, section } from "../parts/basics.js";
import { options, switchRow } from "../parts/form.js";
import { toast, toastError } from "../parts/notices.js";
import { isOn, switchOff, switchOn, whyNot } from "../push.js";
import { me, sound } from "../session.js";
import { settingsPage } from "./settings.js";
import { notifications as text } from "texts/settings.js";

/** @type {import("../router.js").Build} */
export default function notifications() {
  const body = settingsPage(heading(text.title, { lead: text.lead }), deviceSection(), aboutSection(),
    section(text.sounds, { lead: text.soundLead },
      switchRow(text.sounds, () => sound() === "on", (on) => sound.set(on ? "on" : "off"), "", "switch")));
  return { title: text.title, body };
}

function deviceSection() {
  const problem = signal("");
  const busy = signal(false);
  whyNot().then(problem.set, toastError);

  const turn = async (/** @type {boolean} */ on, /** @type {HTMLInputElement} */ control) => {
    busy.set(true);
    try {
      await (on ? switchOn() : switchOff());
    } catch (error) {
      toastError(error);
    }
    control.checked = isOn();
    busy.set(false);
  };
  const test = async () => {
    try {
      await post("devices/test");
      toast(text.tested);
    } catch (error) {
      toastError(error);
    }
  };

  return section(text.device, { lead: text.deviceLead },
    el("fieldset.bare", { disabled: () => busy() || problem() !== "" },
      switchRow(text.device, isOn, (on, control) => void turn(on, control), "", "switch")),
    () => problem() !== "" && el("p.hint", { role: "status" }, problem()),
    when(isOn, () => el("div.actions", null, button(text.test, { icon: "bell", run: () => void test() }))));
}

function aboutSection() {
  const choose = async (/** @type {string} */ about) => {
    try {
      const { notify_about } = await patch("profile", { notify_about: about });
      me.set({ ...me(), notify_about });
      toast(text.saved);
    } catch (error) {
      toastError(error);
    }
  };
  const choices = options(text.choices).map(({ value, label }) => el("label.choice", null,
    el("input", { type: "radio", name: "notify", value, checked: () => me().notify_about === value, onchange: () => void choose(value) }),
    el("span", null, label)));
  return section(text.about, { lead: text.aboutLead },
    el("fieldset.field.radios", null, el("legend.unseen", null, text.about), el("div.choices", null, choices)));
}
