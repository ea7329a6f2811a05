/**
 * Signing in with a passkey, or making the first one. The form is shown where the browser can; the
 * server sends a challenge, the browser has the person unlock the passkey that answers it, and the
 * answer is sent as any form is.
 */
const form = /** @type {HTMLFormElement} */ (document.querySelector("form.passkey"));
const problem = /** @type {HTMLElement} */ (form.querySelector(".problem"));
const creates = "creates" in form.dataset;
const field = (/** @type {string} */ name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name));

if (location.hostname === form.dataset.host && Boolean(window.PublicKeyCredential?.parseRequestOptionsFromJSON)) form.hidden = false;

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  problem.hidden = true;
  try {
    const response = await fetch(form.dataset.start ?? "", { method: "POST" });
    const started = await response.json();
    const credential = creates
      ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(started.options) })
      : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(started) });
    if (creates) field("ticket").value = started.ticket;
    field("answer").value = JSON.stringify(/** @type {PublicKeyCredential} */ (credential).toJSON());
    form.submit();
  } catch (error) {
    // Who changed its mind need not be told.
    problem.hidden = /** @type {Error} */ (error).name === "NotAllowedError";
  }
});
