/**
 * Signing in with a passkey. The form is shown where the browser can; the server sends a
 * challenge, the browser has the person unlock the passkey that answers it, and the answer is
 * sent as any form is.
 */
const form = /** @type {HTMLFormElement} */ (document.querySelector("form.passkey"));
const answer = /** @type {HTMLInputElement} */ (form.elements.namedItem("answer"));
const problem = /** @type {HTMLElement} */ (form.querySelector(".problem"));

if (location.hostname === form.dataset.host && Boolean(window.PublicKeyCredential?.parseRequestOptionsFromJSON)) form.hidden = false;

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  problem.hidden = true;
  try {
    const response = await fetch(form.dataset.start ?? "", { method: "POST" });
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(await response.json());
    const credential = /** @type {PublicKeyCredential} */ (await navigator.credentials.get({ publicKey }));
    answer.value = JSON.stringify(credential.toJSON());
    form.submit();
  } catch (error) {
    // Who changed its mind need not be told.
    problem.hidden = /** @type {Error} */ (error).name === "NotAllowedError";
  }
});
