/** The language of these texts, as Intl names it. */
export const language = /** @type {string} */ ("pt-BR");

/** @type {typeof import("../en/formats.js").prices} */
export const prices = { billable: "paga", free: "grátis", unknown: "cobrança desconhecida" };

/** What the provider charges a message as. @type {typeof import("../en/formats.js").categories} */
export const categories = {
  authentication: "autenticação",
  authentication_international: "autenticação internacional",
  "authentication-international": "autenticação internacional",
  marketing: "marketing",
  marketing_lite: "marketing lite",
  referral_conversion: "conversão por anúncio",
  service: "serviço",
  utility: "utilidade",
};

/** @type {typeof import("../en/formats.js").browsers} */
export const browsers = {
  unknown: "Navegador desconhecido",
  on: (/** @type {string} */ browser, /** @type {string} */ system) => `${browser} no ${system}`,
};

/** @type {typeof import("../en/formats.js").sizes} */
export const sizes = {
  milliseconds: (/** @type {string} */ n) => `${n} ms`,
  kilobytes: (/** @type {string} */ n) => `${n} KB`,
  megabytes: (/** @type {string} */ n) => `${n} MB`,
};
