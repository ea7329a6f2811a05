import { count, plural } from "../../format.js";

/** @type {typeof import("../en/parts.js").server} */
export const server = {
  network: "تعذّر الاتصال بالخادم.",
  unreadable: "أرسل الخادم ردًا غير مفهوم.",
};

/** @type {typeof import("../en/parts.js").words} */
export const words = {
  active: "نشط",
  all: "الكل",
  approved: "معتمد",
  archived: "مؤرشف",
  cancelled: "تم الإلغاء",
  completed: "مكتمل",
  connected: "متصل",
  consumed: "تم الاستخدام",
  dead: "فشل نهائيًا",
  degraded: "أداء متراجع",
  deleted: "محذوف",
  delivered: "تم التسليم",
  disabled: "معطّل",
  disconnected: "غير متصل",
  expired: "انتهت الصلاحية",
  failed: "فشل",
  flagged: "عليه بلاغات",
  in_appeal: "قيد الاعتراض",
  invited: "بانتظار قبول الدعوة",
  limit_exceeded: "تجاوز الحد",
  no_sign_in: "بلا تسجيل دخول",
  onboarding: "قيد الإعداد",
  open: "مفتوح",
  paused: "متوقف مؤقتًا",
  pending: "معلّق",
  pending_deletion: "بانتظار الحذف",
  preparing: "قيد التحضير",
  queued: "في قائمة الانتظار",
  read: "تمت القراءة",
  received: "تم الاستلام",
  rejected: "مرفوض",
  revoked: "تم الإبطال",
  running: "قيد التنفيذ",
  scheduled: "مجدول",
  sent: "تم الإرسال",
  skipped: "تم التخطي",
  succeeded: "نجح",
  suspended: "موقوف",
  waiting: "في الانتظار",
};

/** @type {typeof import("../en/parts.js").copying} */
export const copying = {
  copy: "نسخ",
  copyOf: (name) => `نسخ ${name}`,
  copied: "تم النسخ",
  select: "للنسخ: Ctrl-C",
};

export const guide = /** @type {string} */ ("الدليل");

/** @type {typeof import("../en/parts.js").dialog} */
export const dialog = {
  close: "إغلاق",
  cancel: "إلغاء",
  busy: "لحظة…",
  done: "تم",
  type: (word) => `للتأكيد، يُرجى كتابة «${word}»`,
};

/** @type {typeof import("../en/parts.js").form} */
export const form = { cancel: "إلغاء", saving: "جارٍ الحفظ…", required: "هذا الحقل مطلوب.", optional: "اختياري" };

/** @type {typeof import("../en/parts.js").problems} */
export const problems = { of: (why) => `ردّ الخادم: ${why}` };

/** @type {typeof import("../en/parts.js").headerFile} */
export const headerFile = {
  choose: { image: "اختيار صورة", video: "اختيار فيديو", document: "اختيار مستند" },
  other: "اختيار ملف",
  upload: "رفع ملف",
};

/** @type {typeof import("../en/parts.js").interactive} */
export const interactive = {
  buttons: ["الزر 1", "الزر 2", "الزر 3"],
  open: "الزر الذي يفتح القائمة",
  rows: "الصفوف",
  rowsHint: "صف في كل سطر، 10 كحد أقصى. يُكتب الوصف بعد علامة |.",
  tooMany: "الصفوف: 10 كحد أقصى.",
  tooLong: "الصفوف: 24 حرفًا كحد أقصى لكل صف، و72 للوصف.",
};

/** @type {typeof import("../en/parts.js").lists} */
export const lists = {
  more: "عرض المزيد",
  first: "الصفحة الأولى",
  all: "الكل",
  fresh: (n) => plural(n, {
    zero: "لا جديد",
    one: "عنصر جديد",
    two: "عنصران جديدان",
    few: `${count(n)} عناصر جديدة`,
    many: `${count(n)} عنصرًا جديدًا`,
    other: `${count(n)} عنصر جديد`,
  }),
  looking: "جارٍ البحث فيما هو أقدم…",
  goOn: "متابعة البحث",
  soFar: "لا نتائج حتى الآن. هناك المزيد للبحث فيه.",
  noNumber: "لا يوجد رقم متصل",
  noNumberBody: "للبدء، يُرجى ربط رقم.",
  numbers: "الأرقام",
};

/** @type {typeof import("../en/parts.js").notices} */
export const notices = { region: "رسائل من confab", dismiss: "إخفاء", failed: "حدث خطأ في هذه الصفحة." };

/** @type {typeof import("../en/parts.js").connection} */
export const connection = { lost: "جارٍ إعادة الاتصال… نصك محفوظ", now: "المحاولة الآن" };

/** @type {typeof import("../en/parts.js").period} */
export const period = {
  period: "الفترة",
  last30: "آخر 30 يومًا",
  periods: { week: "آخر 7 أيام", month: "هذا الشهر", before: "الشهر الماضي", quarter: "آخر 90 يومًا" },
};

/** @type {typeof import("../en/parts.js").plot} */
export const plot = { table: "عرض كجدول", day: "اليوم", name: "الاسم", before: "سابقًا", none: "—" };

/** @type {typeof import("../en/parts.js").states} */
export const states = {
  again: "إعادة المحاولة",
  loading: "جارٍ التحميل",
  lostTitle: "تعذّر الاتصال بالخادم",
  lost: "لم يتغير شيء. ستتكرر المحاولة فور عودة الاتصال.",
  goneTitle: "غير موجود",
  gone: "ربما حُذف هذا العنصر، أو أنه يخص مؤسسة أخرى.",
  deniedTitle: "هذه الصفحة للمسؤولين فقط",
  denied: "عند الحاجة، يُرجى طلب الوصول من أحد المسؤولين.",
  failedTitle: "تعذّر التحميل",
  failed: "لم يُفقد شيء. يُرجى المحاولة بعد قليل. إذا تكرر الأمر، يُرجى إرسال معرّف الطلب أدناه إلى مشغّل الخادم.",
  pageFailed: "حدث خطأ في هذه الصفحة. يُرجى إعادة تحميلها. إذا تكرر الأمر، يُرجى إبلاغ مشغّل الخادم.",
  request: "معرّف الطلب",
  reference: "الطلب",
};

/** @type {typeof import("../en/parts.js").table} */
export const table = { sortBy: "الترتيب حسب" };

/** @type {typeof import("../en/parts.js").templateForm} */
export const templateForm = {
  code: "الكود",
  header: "العنوان ",
  link: (format) => `${format} (رابط https)`,
  place: ["خط العرض", "خط الطول", "المكان", "عنوان المكان"],
  button: (name) => `نهاية رابط «${name}»`,
  coupon: "كود العرض",
  ends: "انتهاء العرض",
  card: (i) => `البطاقة ${i}: `,
  required: "هذا الحقل مطلوب.",
  unsupported: "يعرض هذا القالب منتجًا. يمكن إرساله عبر API.",
};

/** @type {typeof import("../en/parts.js").templatePreview} */
export const templatePreview = {
  name: "معاينة",
  cards: "البطاقات",
  more: "عرض كل الخيارات",
  code: "*{{1}}* هو كود التحقق الخاص بك.",
  secret: " للحفاظ على أمانك، تجنب مشاركة هذا الكود.",
  expires: (n) => plural(n, {
    zero: "تنتهي صلاحية هذا الكود فورًا.",
    one: "تنتهي صلاحية هذا الكود خلال دقيقة واحدة.",
    two: "تنتهي صلاحية هذا الكود خلال دقيقتين.",
    few: `تنتهي صلاحية هذا الكود خلال ${n} دقائق.`,
    many: `تنتهي صلاحية هذا الكود خلال ${n} دقيقة.`,
    other: `تنتهي صلاحية هذا الكود خلال ${n} دقيقة.`,
  }),
  offerEnds: "ينتهي في الوقت المحدد",
  empty: "معاينة رسالتك",
  media: { IMAGE: "صورة", VIDEO: "فيديو", GIF: "صورة متحركة", DOCUMENT: "مستند", LOCATION: "موقع", PRODUCT: "منتج" },
  buttons: { COPY_CODE: "نسخ كود العرض", OTP: "نسخ الكود", REQUEST_CONTACT_INFO: "مشاركة معلومات الاتصال" },
};
