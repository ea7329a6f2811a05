/** The inbox with the phone of the person beside it: both sides of one conversation. */
import { computed, effect, el, signal, untracked } from "../../dom.js";
import { get } from "../../api.js";
import { button } from "../../parts/basics.js";
import { navigate, path } from "../../router.js";
import { number, phoneBeside } from "../../session.js";
import inbox from "../inbox.js";
import { device } from "./device.js";
import { personPicker } from "./people.js";
import { openSimulator } from "./sim.js";
import { beside as text } from "texts/phone.js";

/** @type {import("../../router.js").Build} */
export default function beside(place) {
  const screen = inbox(place);
  const current = computed(() => path().match(/^inbox\/(.+)/)?.[1] ?? "");
  const who = signal("");
  effect(() => {
    const of = number()?.phone_number_id;
    const id = current();
    if (!of || !id) return;
    const show = (/** @type {any} */ one) => id === current() && who.set((one.contact?.phone_number ?? "").replace("+", ""));
    get(`v1/${of}/conversations/${id}`).then(show, () => {});
  });

  const close = button(text.close, {
    icon: "close",
    look: "bare",
    iconOnly: true,
    run: () => {
      phoneBeside.set("off");
      navigate(path(), { replace: true });
    },
  });
  const side = el("div.phone-side");
  effect(() => {
    const id = who();
    untracked(() => {
      const state = openSimulator(id); // ends when the next one begins
      side.replaceChildren(personPicker(state, close), id ? device(state) : "");
    });
  });
  return { title: screen.title, body: el("div.beside", null, screen.body, side) };
}
