// What the setup page does beyond a plain form: it shows that something is going
// on, and runs the provider's own signup where there is one.
"use strict";

(() => {
  const form = document.querySelector("form[data-busy]");
  if (!form) return;
  const status = form.querySelector("[data-status]");
  const buttons = form.querySelectorAll("button");
  const signup = form.querySelector("[data-signup]");

  const say = (text) => { status.textContent = text; };

  const enable = (on) => {
    for (const button of buttons) button.disabled = !on;
  };

  // The buttons are disabled after the form's content is taken, so that the one
  // that was pressed is in it.
  form.addEventListener("submit", (event) => {
    const cancelled = new FormData(form, event.submitter).get("action") === "cancel";
    setTimeout(() => {
      enable(false);
      say(cancelled ? "" : form.dataset.busy);
    });
  });

  // A page that the browser kept is as it was when it was left.
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    enable(true);
    say("");
  });

  if (!signup) return;

  // The provider's signup has two results, which come in either order: the code
  // through the script's own callback, the ids in a message of its window.
  const grace = 10_000; // for the ids, once there is a code; it lives 30 seconds
  let result = {};
  let running = false;

  const post = (action) => {
    if (!running) return;
    running = false;
    clearTimeout(result.timer);
    const input = document.createElement("input");
    input.type = "hidden";
    input.name = "action";
    input.value = action;
    form.append(input);
    form.elements.namedItem("code").value = result.code || "";
    form.elements.namedItem("waba_id").value = (result.ids && result.ids.waba_id) || "";
    form.elements.namedItem("phone_number_id").value = (result.ids && result.ids.phone_number_id) || "";
    form.requestSubmit();
    input.remove(); // it is sent; a page that the browser kept must not have it twice
  };

  const advance = () => {
    if (!result.code) return;
    if (result.ids) post("connect");
    else result.timer = setTimeout(post, grace, "connect");
  };

  const fromProvider = (origin) => {
    try {
      const { protocol, hostname } = new URL(origin);
      return protocol === "https:" && (hostname === "facebook.com" || hostname.endsWith(".facebook.com"));
    } catch {
      return false;
    }
  };

  addEventListener("message", (event) => {
    if (!running || !fromProvider(event.origin) || typeof event.data !== "string") return;
    let message;
    try {
      message = JSON.parse(event.data);
    } catch {
      return; // the script has other messages, too
    }
    if (!message || message.type !== "WA_EMBEDDED_SIGNUP") return;
    if (message.event === "CANCEL" || message.event === "ERROR") {
      post("cancel");
    } else if (String(message.event).startsWith("FINISH")) {
      result.ids = message.data || {};
      advance();
    }
  });

  signup.addEventListener("click", () => {
    result = {};
    running = true;
    signup.disabled = true;
    say(form.dataset.opened);
    window.FB.login((response) => {
      const code = response && response.authResponse && response.authResponse.code;
      if (!code) {
        post("cancel");
        return;
      }
      result.code = code;
      advance();
    }, {
      config_id: form.dataset.configId,
      response_type: "code",
      override_default_response_type: true,
      extras: {
        version: "v4",
        setup: {},
        sessionInfoVersion: "3",
        ...("coexistence" in form.dataset ? { featureType: "whatsapp_business_app_onboarding" } : {}),
      },
    });
  });

  const ready = () => {
    window.FB.init({ appId: form.dataset.appId, autoLogAppEvents: true, xfbml: true, version: form.dataset.version });
    signup.disabled = false;
    say("");
  };

  if (window.FB) ready();
  else window.fbAsyncInit = ready;

  setTimeout(() => {
    if (!window.FB) say(form.dataset.missing);
  }, 8000);
})();
