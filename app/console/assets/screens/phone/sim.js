/**
 * The played provider: what it holds, live. Its stream says what changed; messages are then
 * read again, because a reaction or an edit changes an earlier one. After a break
 * everything is.
 */
import { computed, effect, el, onDispose, signal, untracked } from "../../dom.js";
import { call, get } from "../../api.js";
import { together } from "../../live.js";
import { follow } from "../../parts/lists.js";
import { toastError } from "../../parts/notices.js";
import { pace, resource } from "../../parts/states.js";
import { number, root } from "../../session.js";

/** How many calls are shown. */
const shownCalls = 50;

/**
 * @typedef {{ phone_number: string | null, bsuid: string, name: string | null, username: string | null, blocked: boolean,
 *   read_receipts: boolean, marketing: string, windows: Record<string, string> }} Person
 * @typedef {ReturnType<typeof openSimulator>} Sim
 */

/**
 * sim calls the control surface of the provider.
 * @param {string} method
 * @param {string} path
 * @param {any} [body]
 */
export const sim = (method, path, body) => call(method, "sim/" + path, body);

/**
 * act does something, and says what went wrong. It reports whether it was done.
 * @param {string} method
 * @param {string} path
 * @param {any} [body]
 */
export async function act(method, path, body) {
  try {
    await sim(method, path, body);
    return true;
  } catch (error) {
    toastError(error);
    return false;
  }
}

/** @param {string} id of a file */
export const fileURL = (id) => new URL("api/sim/media/" + encodeURIComponent(id), root).href;

/** @param {Person} person */
export const nameOf = (person) => person.name || person.phone_number || person.username || person.bsuid;

/** keyOf is what a person is called in paths: its digits, else its id. @param {Person} person */
export const keyOf = (person) => (person.phone_number ?? person.bsuid).replace("+", "");

/**
 * select is a combobox whose options may change while it is used.
 * @param {() => string[][]} options
 * @param {() => string} value
 * @param {(value: string) => void} set
 * @param {string} [name]
 */
export const select = (options, value, set, name) => {
  const known = computed(() => JSON.stringify(options())); // options that stay the same leave an open list alone
  return el("select", {
    "aria-label": name,
    onchange: (/** @type {any} */ event) => set(event.target.value),
    ref: (/** @type {HTMLSelectElement} */ node) => {
      // The options come first: a value that none of them has cannot be chosen.
      effect(() => node.replaceChildren(...JSON.parse(known()).map((/** @type {string[]} */ [key, label]) => el("option", { value: key }, label))));
      effect(() => {
        known();
        node.value = value();
      });
    },
  });
};

/**
 * openSimulator follows the provider until the screen ends.
 * @param {string} id of the person whose phone is shown, or ""
 */
export function openSimulator(id) {
  const people = signal(/** @type {Person[]} */ ([]));
  const businesses = signal(/** @type {any[]} */ ([]));
  const settings = signal(/** @type {any} */ ({}));
  const faults = signal(/** @type {any} */ ({ data: [], kinds: [], endpoints: [] }));
  const templates = signal(/** @type {any[]} */ ([]));
  const calls = signal(/** @type {any[]} */ ([]));
  const messages = signal(/** @type {any[]} */ ([]));
  const typing = signal(false);
  const ready = signal(false);
  const base = signal("");

  const business = computed(() => businesses().find((one) => one.phone_number_id === number()?.phone_number_id) ?? businesses()[0] ?? null);
  const person = computed(() => people().find((one) => keyOf(one) === id || one.bsuid === id) ?? unknownPerson(id));

  const readPeople = once(async () => people.set((await sim("GET", "people?limit=200")).data));
  const readFaults = once(async () => faults.set(await sim("GET", "faults")));
  const readTemplates = once(async () => templates.set((await sim("GET", "templates")).data));
  const readMessages = once(async () => {
    if (!id) return;
    const chosen = business()?.phone_number_id ?? "";
    messages.set((await sim("GET", `people/${encodeURIComponent(id)}/messages?phone_number_id=${chosen}`)).data);
  });
  const readAll = once(async () => {
    const [numbers, set, made] = await Promise.all([
      sim("GET", "numbers"),
      sim("GET", "settings"),
      sim("GET", "calls?direction=all&limit=" + shownCalls),
      readPeople(),
      readFaults(),
      readTemplates(),
    ]);
    businesses.set(numbers.data);
    settings.set(set);
    calls.set(made.data);
    base.set(made.base_url);
    await readMessages();
    ready.set(true);
  });

  const isMine = (/** @type {any} */ of) => of.person?.replace("+", "") === id || (of.bsuid && of.bsuid === person().bsuid);
  let timer = 0;
  listen({
    message: (one) => {
      if (!isMine(one)) return;
      if (one.direction === "outbound") typing.set(false);
      readMessages();
    },
    typing: (one) => {
      if (!isMine(one)) return;
      typing.set(true);
      clearTimeout(timer);
      timer = setTimeout(() => typing.set(false), 25_000);
    },
    person: (one) => people.update((all) => (all.some((each) => each.bsuid === one.bsuid)
      ? all.map((each) => (each.bsuid === one.bsuid ? one : each))
      : [...all, one])),
    call: (one) => calls.update((all) => [one, ...all.filter((each) => each.id !== one.id)].slice(0, shownCalls)),
    settings: settings.set,
    faults: readFaults,
    template: readTemplates,
    reset: readAll,
    gap: readAll,
  }, readAll);

  const sides = () => [number()?.phone_number_id, person().phone_number];
  const found = resource(() => findConversation(untracked(sides)), ["conversation"], pace);
  follow(sides, found.reload);

  return { id, conversation: found.data, people, person, business, messages, settings, faults, templates, calls, base, typing, ready };
}

/** findConversation finds that of a number and a person. @param {(string | null | undefined)[]} sides @returns {Promise<string>} */
async function findConversation([of, phone]) {
  const [who] = of && phone ? await get(`v1/${of}/contacts`, { query: { phone_number: phone } }) : [];
  const [found] = who ? await get(`v1/${of}/conversations`, { query: { contact_id: who.id } }) : [];
  return found?.id ?? "";
}

/** unknownPerson is somebody whom the provider does not know yet. @param {string} id @returns {Person} */
function unknownPerson(id) {
  const isNumber = /^\d+$/.test(id);
  const rest = { name: null, username: null, blocked: false, read_receipts: true, marketing: "resume", windows: {} };
  return { phone_number: isNumber ? "+" + id : null, bsuid: isNumber ? "" : id, ...rest };
}

/** once lets a reading run one at a time, and says what went wrong. @param {() => Promise<void>} read */
const once = (read) => together(() => read().catch(toastError));

/**
 * listen follows the stream, and reads everything when it begins and after each break.
 * @param {Record<string, (data: any) => void>} on
 * @param {() => void} readAll
 */
function listen(on, readAll) {
  /** @type {EventSource} */
  let stream;
  let timer = 0;
  const open = () => {
    stream = new EventSource(new URL("api/sim/stream", root));
    stream.onopen = readAll;
    stream.onerror = () => {
      // Refused: the session may have ended, which a call finds out.
      if (stream.readyState !== EventSource.CLOSED) return;
      readAll();
      timer = setTimeout(open, 2000);
    };
    for (const [kind, fn] of Object.entries(on)) {
      stream.addEventListener(kind, (event) => fn(JSON.parse(/** @type {MessageEvent} */ (event).data)));
    }
  };
  open();
  onDispose(() => {
    clearTimeout(timer);
    stream.close();
  });
}
