/** The language of these texts, as Intl names it. @type {typeof import("../en/formats.js").language} */
export const language = "id";

/** @type {typeof import("../en/formats.js").prices} */
export const prices = { billable: "berbayar", free: "gratis", unknown: "belum diketahui" };

/** What the provider charges a message as. @type {typeof import("../en/formats.js").categories} */
export const categories = {
  authentication: "autentikasi",
  authentication_international: "autentikasi internasional",
  "authentication-international": "autentikasi internasional",
  marketing: "pemasaran",
  marketing_lite: "pemasaran lite",
  referral_conversion: "konversi rujukan",
  service: "layanan",
  utility: "utilitas",
};

/** @type {typeof import("../en/formats.js").browsers} */
export const browsers = {
  unknown: "Browser tidak dikenal",
  on: (/** @type {string} */ browser, /** @type {string} */ system) => `${browser} di ${system}`,
};

/** @type {typeof import("../en/formats.js").sizes} */
export const sizes = {
  milliseconds: (/** @type {string} */ n) => `${n} ms`,
  kilobytes: (/** @type {string} */ n) => `${n} KB`,
  megabytes: (/** @type {string} */ n) => `${n} MB`,
};
