/** The phone: the other side of a conversation in a sandbox, and the provider in between. */
import { effect, el, when } from "../dom.js";
import { button, heading } from "../parts/basics.js";
import { empty } from "../parts/states.js";
import { navigate } from "../router.js";
import { phoneBeside } from "../session.js";
import { device } from "./phone/device.js";
import { personPicker } from "./phone/people.js";
import { provider } from "./phone/provider.js";
import { keyOf, nameOf, openSimulator } from "./phone/sim.js";
import { device as deviceText, phone as text } from "texts/phone.js";

/**
 * besideInbox leads to the conversation, with the phone beside it.
 * @param {import("./phone/sim.js").Sim} state
 */
const besideInbox = (state) => when(state.conversation, () => button(text.beside, {
  icon: "panel",
  run: () => {
    phoneBeside.set("on");
    navigate("inbox/" + state.conversation());
  },
}));

/** @type {import("../router.js").Build} */
export default function phone({ params }) {
  const state = openSimulator(params.id ?? "");
  effect(() => {
    const [first] = state.people();
    if (!params.id && first) queueMicrotask(() => navigate("phone/" + keyOf(first), { replace: true }));
  });

  const body = el("div.phone-screen", null,
    el("div.phone-side", null,
      heading(text.title, { lead: text.lead, actions: besideInbox(state) }),
      personPicker(state),
      params.id ? device(state) : when(() => state.ready() && state.people().length === 0,
        () => empty({ icon: "phone", title: text.noneTitle, body: el("p", null, text.none) }))),
    provider(state));
  return { title: () => (params.id ? deviceText.phoneOf(nameOf(state.person())) : text.title), body };
}
