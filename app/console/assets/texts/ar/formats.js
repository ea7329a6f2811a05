/** The language of these texts, as Intl names it. */
export const language = /** @type {string} */ ("ar");

/** @type {typeof import("../en/formats.js").prices} */
export const prices = { billable: "مدفوعة", free: "مجانية", unknown: "غير معروفة" };

/** @type {typeof import("../en/formats.js").categories} */
export const categories = {
  authentication: "مصادقة",
  authentication_international: "مصادقة دولية",
  "authentication-international": "مصادقة دولية",
  marketing: "تسويق",
  marketing_lite: "تسويق خفيف",
  referral_conversion: "تحويل إحالة",
  service: "خدمة",
  utility: "أدوات مساعدة",
};

/** @type {typeof import("../en/formats.js").browsers} */
export const browsers = {
  unknown: "متصفح غير معروف",
  on: (browser, system) => `${browser} على ${system}`,
};

/** @type {typeof import("../en/formats.js").sizes} */
export const sizes = {
  milliseconds: (n) => `${n} م.ث`,
  kilobytes: (n) => `${n} كيلوبايت`,
  megabytes: (n) => `${n} ميغابايت`,
};
