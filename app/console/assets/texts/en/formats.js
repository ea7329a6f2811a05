/** The language of these texts, as Intl names it. */
export const language = /** @type {string} */ ("en");

export const prices = { billable: "billable", free: "free", unknown: "unknown" };

/** What the provider charges a message as. */
export const categories = {
  authentication: "authentication",
  authentication_international: "authentication international",
  "authentication-international": "authentication international",
  marketing: "marketing",
  marketing_lite: "marketing lite",
  referral_conversion: "referral conversion",
  service: "service",
  utility: "utility",
};

export const browsers = {
  unknown: "Unknown browser",
  on: (/** @type {string} */ browser, /** @type {string} */ system) => `${browser} on ${system}`,
};

export const sizes = {
  milliseconds: (/** @type {string} */ n) => `${n} ms`,
  kilobytes: (/** @type {string} */ n) => `${n} KB`,
  megabytes: (/** @type {string} */ n) => `${n} MB`,
};
