/** The language of these texts, as Intl names it. */
export const language = /** @type {string} */ ("es");

/** @type {typeof import("../en/formats.js").prices} */
export const prices = { billable: "con cargo", free: "gratis", unknown: "cobro desconocido" };

/** What the provider charges a message as. @type {typeof import("../en/formats.js").categories} */
export const categories = {
  authentication: "autenticación",
  authentication_international: "autenticación internacional",
  "authentication-international": "autenticación internacional",
  marketing: "marketing",
  marketing_lite: "marketing lite",
  referral_conversion: "conversión por anuncio",
  service: "servicio",
  utility: "utilidad",
};

/** @type {typeof import("../en/formats.js").browsers} */
export const browsers = {
  unknown: "Navegador desconocido",
  on: (/** @type {string} */ browser, /** @type {string} */ system) => `${browser} en ${system}`,
};

/** @type {typeof import("../en/formats.js").sizes} */
export const sizes = {
  milliseconds: (/** @type {string} */ n) => `${n} ms`,
  kilobytes: (/** @type {string} */ n) => `${n} KB`,
  megabytes: (/** @type {string} */ n) => `${n} MB`,
};
