/** Second factors: one's own in the profile, and which ones others have. */
import { el, signal, svg, when } from "../dom.js";
import { patch, post, remove } from "../api.js";
import { time } from "../format.js";
import { button, copyable, section } from "../parts/basics.js";
import { confirmAction, dialog, shown } from "../parts/dialog.js";
import { form, formDialog } from "../parts/form.js";
import { toast, toastError } from "../parts/notices.js";
import { loaded, resource } from "../parts/states.js";
import { table } from "../parts/table.js";
import { root } from "../session.js";

const text = {
  title: "Second factor",
  lead: "Asked for after your password, so that a stolen password is not enough.",
  none: "You have none yet.",
  again: "Sign in again",
  againLead: "To change your second factor, sign in again first. ",
  caption: "Second factors",
  columns: ["Name", "Added", "Last used", { name: "Change", kind: "end", unseen: true }],
  never: "never",
  app: "Authenticator app",
  addApp: "Add authenticator app",
  scan: "Scan this with an authenticator app on your phone, then enter the code that it shows.",
  typeKey: "Or type this key into the app:",
  keyName: "key",
  picture: "QR code",
  code: [{
    name: "code",
    label: "Code",
    required: true,
    props: { inputmode: "numeric", autocomplete: "one-time-code", maxlength: 20, autofocus: true },
  }],
  turnOn: "Turn on",
  added: "Second factor added",
  addPasskey: "Add passkey",
  passkeyLead: "Your device asks you to confirm with a fingerprint, your face or a PIN.",
  names: [{ name: "name", label: "Name", required: true, hint: "Such as the device it’s on.", props: { maxlength: 60, dir: "auto" } }],
  firstName: "My device",
  go: "Continue",
  cancelled: "No passkey was created. Try again, or use an authenticator app.",
  otherHost: (/** @type {string} */ host) => `for ${host}`,
  rename: "Rename",
  save: "Save",
  saved: "Saved",
  remove: "Remove",
  removeTitle: (/** @type {string} */ name) => `Remove ${name}?`,
  removeBody: "You can’t sign in with it any more. If it’s your last second factor, your recovery codes go with it.",
  removed: "Second factor removed",
  recovery: "Recovery codes",
  left: (/** @type {number} */ n) => `${n} of 10 recovery codes left. `,
  newCodes: "New recovery codes",
  newCodesTitle: "Create new recovery codes?",
  newCodesBody: "The codes you have now stop working.",
  create: "Create",
  keep: "If you lose your other factors, one of these codes signs you in. Each works once. You won’t see them again.",
  codesName: "recovery codes",
  personNone: "No second factor.",
  personHas: "Second factor: ",
  reset: " If this person is locked out, whoever runs the server can remove it with confab users reset-factors.",
};

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
      fields: text.code,
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
      fields: text.names,
      values: { name: text.firstName },
      submit: text.go,
      send: createPasskey,
      done: ({ recovery_codes: codes }) => next(codes),
      cancel: () => close(),
    }),
  ]), { lasting: true });
  reload();
}

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
  fields: text.names,
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
    const names = [has.codes && text.app, ...has.passkeys.map((/** @type {any} */ one) => one.name)].filter(Boolean);
    return names.length > 0 ? text.personHas + names.join(", ") + "." + text.reset : text.personNone;
  });
}
