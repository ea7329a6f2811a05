/** Second factors: one's own in the profile, and which ones others have. */
import { el, signal, svg, when } from "../dom.js";
import { patch, post, remove } from "../api.js";
import { listOf, time } from "../format.js";
import { button, copyable, section } from "../parts/basics.js";
import { confirmAction, dialog, shown } from "../parts/dialog.js";
import { form, formDialog } from "../parts/form.js";
import { toast, toastError } from "../parts/notices.js";
import { loaded, resource } from "../parts/states.js";
import { table } from "../parts/table.js";
import { root } from "../session.js";
import { factors as text } from "texts/people.js";

const isPasskeyHere = (/** @type {any} */ factors) =>
  factors.passkey_host === location.hostname && Boolean(window.PublicKeyCredential?.parseCreationOptionsFromJSON);

/** factorSection is the part of the profile that changes one's own factors. */
export function factorSection() {
  const own = resource("factors", ["user"]);
  return section(text.title, { lead: text.lead }, loaded(own, (data) => () => ownFactors(data(), own.reload), 2));
}

/**
 * @param {any} factors
 * @param {() => Promise<void>} reload
 */
function ownFactors(factors, reload) {
  const all = [
    ...(factors.codes ? [{ ...factors.codes, id: "codes", name: text.app }] : []),
    ...factors.passkeys,
  ];
  const again = el("p.notice", null, text.againLead,
    el("a", { href: new URL("sign-in?again=1&next=settings/profile", root).href }, text.again));

  return el("div.factors", null,
    !factors.recent && again,
    all.length === 0 ? el("p.none", null, text.none) : factorTable(all, factors, reload),
    all.length > 0 && el("p", null, text.left(factors.recovery_codes),
      factors.recent && button(text.newCodes, { run: () => replaceRecoveryCodes(reload) })),
    factors.recent && el("div.actions", null,
      !factors.codes && button(text.addApp, { run: () => addApp(reload) }),
      isPasskeyHere(factors) && button(text.addPasskey, { run: () => addPasskey(reload) })));
}

/**
 * @param {any[]} all
 * @param {any} factors
 * @param {() => Promise<void>} reload
 */
function factorTable(all, factors, reload) {
  const change = (/** @type {any} */ one) => [
    one.id !== "codes" && button(text.rename, { run: () => renamePasskey(one, reload) }),
    " ",
    button(text.remove, { run: () => removeFactor(one, reload) }),
  ];
  return table({
    caption: text.caption,
    rows: () => all,
    columns: text.columns,
    kinds: { 3: "end" },
    cells: [
      (one) => el("span", { dir: "auto" }, one().name,
        one().host && one().host !== factors.passkey_host && el("small", null, " " + text.otherHost(one().host))),
      (one) => time(one().created_at),
      (one) => time(one().last_used_at, text.never),
      factors.recent && ((one) => change(one())),
    ],
  });
}

/** recoveryShown shows new recovery codes, once. @param {string[]} codes */
const recoveryShown = (codes) => [
  el("p.notice", null, text.keep),
  el("div.recovery", null, copyable(codes.join("\n"), { name: text.codesName, block: true })),
];

/** addApp sets up an app for one-time codes. @param {() => Promise<void>} reload */
async function addApp(reload) {
  let started;
  try {
    started = await post("factors/codes/start");
  } catch (error) {
    return toastError(error);
  }
  const { secret, picture, ticket } = started;
  const drawing = svg("svg.qr", { role: "img", "aria-label": text.picture, viewBox: `0 0 ${picture.size} ${picture.size}` },
    svg("path", { d: picture.path }));

  await dialog(text.addApp, (close) => steps(close, (next) => [
    el("p", null, text.scan), drawing,
    el("p.hint", null, text.typeKey), copyable(secret, { name: text.keyName, block: true }),
    form({
      fields: [{
        name: "code",
        label: text.code,
        required: true,
        props: { inputmode: "numeric", autocomplete: "one-time-code", maxlength: 20, autofocus: true },
      }],
      submit: text.turnOn,
      send: ({ code }) => post("factors/codes", { ticket, code }),
      done: ({ recovery_codes: codes }) => next(codes),
      cancel: () => close(),
    }),
  ]), { lasting: true });
  reload();
}

/**
 * steps shows what build makes, and then the recovery codes that came of it, if there are any.
 * @param {() => void} close
 * @param {(next: (codes: string[]) => void) => import("../dom.js").Child} build
 */
function steps(close, build) {
  const codes = signal(/** @type {string[] | null} */ (null));
  const next = (/** @type {string[]} */ made) => {
    toast(text.added);
    if (made.length > 0) codes.set(made);
    else close();
  };
  return when(() => codes() !== null,
    () => shown(close, el("h3", null, text.recovery), recoveryShown(codes() ?? [])),
    () => el("div.factor-steps", null, build(next)));
}

/** addPasskey makes a passkey on this device. @param {() => Promise<void>} reload */
async function addPasskey(reload) {
  await dialog(text.addPasskey, (close) => steps(close, (next) => [
    el("p", null, text.passkeyLead),
    form({
      fields: names,
      values: { name: text.firstName },
      submit: text.go,
      send: createPasskey,
      done: ({ recovery_codes: codes }) => next(codes),
      cancel: () => close(),
    }),
  ]), { lasting: true });
  reload();
}

const names = [{ name: "name", ...text.name, required: true, props: { maxlength: 60, dir: "auto" } }];

/** createPasskey has the browser make a passkey, and stores it. @param {{ name: string }} values */
async function createPasskey({ name }) {
  const { options, ticket } = await post("factors/passkeys/start");
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const made = await navigator.credentials.create({ publicKey }).catch(() => null);
  if (!made) {
    toast(text.cancelled);
    throw new DOMException(text.cancelled, "AbortError");
  }
  return post("factors/passkeys", { ticket, name, credential: /** @type {PublicKeyCredential} */ (made).toJSON() });
}

/** @param {any} passkey @param {() => Promise<void>} reload */
const renamePasskey = (passkey, reload) => formDialog(text.rename, {
  fields: names,
  values: passkey,
  submit: text.save,
  send: (values) => patch("factors/passkeys/" + passkey.id, values),
  done() {
    toast(text.saved);
    reload();
  },
});

/** @param {any} one @param {() => Promise<void>} reload */
const removeFactor = (one, reload) => confirmAction({
  title: text.removeTitle(one.name),
  body: text.removeBody,
  action: text.remove,
  send: () => remove(one.id === "codes" ? "factors/codes" : "factors/passkeys/" + one.id),
  done: text.removed,
  finish: reload,
});

/** @param {() => Promise<void>} reload */
async function replaceRecoveryCodes(reload) {
  /** @type {any} */
  let made;
  await confirmAction({
    title: text.newCodesTitle,
    body: text.newCodesBody,
    action: text.create,
    send: async () => (made = await post("factors/recovery_codes")),
  });
  if (made) await dialog(text.recovery, (close) => shown(close, recoveryShown(made.recovery_codes)), { lasting: true });
  reload();
}

/** factorsOf says which factors somebody has, for admins. @param {string} id */
export function factorsOf(id) {
  const factors = resource(`people/${id}/factors`, ["user"]);
  return el("p.lead", null, () => {
    const has = factors.data();
    if (!has) return "";
    const known = [has.codes && text.app, ...has.passkeys.map((/** @type {any} */ one) => one.name)].filter(Boolean);
    return known.length > 0 ? text.personHas(listOf(known)) : text.personNone;
  });
}
