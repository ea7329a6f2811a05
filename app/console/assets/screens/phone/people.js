/** The people of the sandbox: who is there, and a dialog to make and change them. */
import { el, when } from "../../dom.js";
import { button } from "../../parts/basics.js";
import { formDialog } from "../../parts/form.js";
import { navigate } from "../../router.js";
import { keyOf, nameOf, select, sim } from "./sim.js";
import { people as text } from "texts/phone.js";

/**
 * personPicker chooses whose phone is shown.
 * @param {import("./sim.js").Sim} state
 * @param {import("../../dom.js").Child} [more]
 */
export function personPicker({ people, person }, more) {
  const shown = () => (people().includes(person()) ? people() : [person(), ...people()]);
  const options = () => shown().map((one) => [keyOf(one), nameOf(one)]);
  return el("div.phone-people", null,
    when(() => keyOf(person()), () => select(options, () => keyOf(person()), (key) => navigate("phone/" + key), text.person)),
    button(text.newPerson, { icon: "plus", run: () => editPerson(null) }),
    more);
}

const plain = { autocomplete: "off", maxlength: 200 };

/**
 * editPerson makes a person, or changes one.
 * @param {import("./sim.js").Person | null} person
 */
export const editPerson = (person) => formDialog(person ? text.edit : text.newPerson, {
  fields: [
    { name: "name", label: text.name, props: plain },
    { name: "phone_number", label: text.number, type: "tel", props: plain, optional: !person, hint: person ? text.moveHint : text.numberHint },
    { name: "username", label: text.username, optional: true, props: plain },
  ],
  values: person,
  submit: text.save,
  send: (values) => save(person, values),
  done: (saved) => navigate("phone/" + keyOf(saved), { replace: person !== null }),
});

/**
 * @param {import("./sim.js").Person | null} person
 * @param {Record<string, string>} values
 * @returns {Promise<import("./sim.js").Person>}
 */
async function save(person, { name = "", phone_number: phone, username = "" }) {
  let moved = null;
  if (person && phone && phone !== person.phone_number) {
    moved = await sim("POST", `contacts/${encodeURIComponent(keyOf(person))}/identity`, { phone_number: phone });
  }
  const at = moved ?? person ?? { phone_number: phone };
  return sim("POST", "people", { phone_number: at.phone_number || undefined, bsuid: at.bsuid || undefined, name, username });
}
