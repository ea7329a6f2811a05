import { count, plural } from "../../format.js";

/** How far a text is over its limit. @param {number} n */
const over = (n) => plural(n, {
  zero: "ضمن الحد",
  one: "تجاوزت الحد بحرف واحد",
  two: "تجاوزت الحد بحرفين",
  few: `تجاوزت الحد بـ ${count(n)} أحرف`,
  many: `تجاوزت الحد بـ ${count(n)} حرفًا`,
  other: `تجاوزت الحد بـ ${count(n)} حرف`,
});

/** @type {typeof import("../en/composer.js").composer} */
export const composer = {
  message: "الرسالة",
  placeholder: (name) => "الكتابة إلى " + name,
  send: "إرسال",
  sendAndResolve: "إرسال وإنهاء",
  notResolved: "لم تُنهَ المحادثة: لم تُرسل الرسالة بعد.",
  attach: "إرفاق ملف",
  quick: "الردود السريعة",
  templates: "القوالب",
  emoji: "الرموز التعبيرية",
  buttons: "الأزرار",
  list: "القائمة",
  notBoth: "لا يمكن أن تجمع الرسالة بين الملفات والأزرار. يُرجى إزالة أحدهما.",
  later: "إرسال لاحقًا",
  replyingTo: (who) => `الرد على ${who}`,
  reply: "رد",
  note: "ملاحظة",
  modes: "الكتابة",
  earlier: "رسالة سابقة",
  cancelReply: "إلغاء الرد",
  cancelTime: "إرسال الآن بدلًا من ذلك",
  you: "أنت",
  left: (span) => `بقي ${span} للرد`,
  never: "لم يراسلك هذا الشخص بعد. يمكنك إرسال قالب فقط.",
  closed: "مضت أكثر من 24 ساعة على آخر رسالة من هذا الشخص. يمكنك إرسال قالب فقط الآن.",
  choose: "اختيار قالب",
  kept: "مسودتك محفوظة: ",
  notSent: "لم تُرسل: ",
  tooLong: over,
  hint: "الردود السريعة",
  keys: "كل المفاتيح",
};

/** @type {typeof import("../en/composer.js").noteForm} */
export const noteForm = {
  note: "ملاحظة",
  placeholder: "كتابة ملاحظة للفريق",
  add: "إضافة ملاحظة",
  mention: "الإشارة إلى عضو",
  people: "الأعضاء",
  hint: "الملاحظات لا يراها إلا فريقك.",
  tooLong: over,
};

/** @type {typeof import("../en/composer.js").attachments} */
export const attachments = {
  files: "الملفات المراد إرسالها",
  remove: (name) => "إزالة " + name,
  again: "إعادة المحاولة",
  lost: "تعذّر الاتصال بالخادم.",
  uploading: (name) => "جارٍ رفع " + name,
  drop: "إفلات الملفات هنا لإرسالها",
};

/** @type {typeof import("../en/composer.js").interactive} */
export const interactive = {
  buttons: "الأزرار",
  list: "القائمة",
  add: "إضافة إلى الرسالة",
  removeButtons: "إزالة الأزرار",
  removeList: "إزالة القائمة",
};

/** @type {typeof import("../en/composer.js").quickReplies} */
export const quickReplies = {
  list: "الردود السريعة",
  none: "لا توجد ردود سريعة مطابقة.",
  empty: "لا توجد ردود سريعة بعد.",
  make: "إنشاء رد سريع",
};

/** @type {typeof import("../en/composer.js").templates} */
export const templates = {
  choose: "اختيار قالب",
  search: "البحث في القوالب",
  list: "القوالب",
  none: "لا توجد قوالب معتمدة",
  noneBody: "يجب اعتماد القوالب قبل إرسالها.",
  make: "القوالب",
  back: "اختيار قالب آخر",
  send: "إرسال القالب",
  file: "اختيار ملف",
};

/** @type {typeof import("../en/composer.js").sendLater} */
export const sendLater = {
  title: "إرسال لاحقًا",
  at: "الوقت",
  send: "جدولة",
  hint: "حسب منطقتك الزمنية، خلال 90 يومًا كحد أقصى.",
  wrong: "يُرجى اختيار وقت خلال الأيام الـ 90 القادمة.",
  hour: "بعد ساعة",
  tomorrow: "غدًا الساعة 9",
  monday: "الاثنين الساعة 9",
};

/** @type {typeof import("../en/composer.js").sending} */
export const sending = {
  off: "لا يمكن الإرسال من هذا الرقم حاليًا. ",
  reasons: {
    organization_suspended: "مؤسستك موقوفة. يُرجى التواصل مع مشغّل هذا الخادم.",
    subscription_inactive: "اشتراكك غير نشط. يُرجى التواصل مع مشغّل هذا الخادم.",
    quota_exceeded: "نفدت رسائل باقتك لهذا الشهر.",
    customer_suspended: "العميل صاحب الرقم موقوف أو مؤرشف.",
    account_restricted: "قيّده المزوّد.",
    whatsapp_number_not_verified: "لم يعتمده المزوّد بعد.",
  },
  see: "معرفة السبب",
  customer: "فتح صفحة العميل",
};

/** @type {typeof import("../en/composer.js").outbox} */
export const outbox = { unknown: "ربما أُرسلت هذه الرسالة بالفعل. يُرجى التأكد من المستلم قبل إعادة إرسالها." };
