import { count, plural } from "../../format.js";

/** @type {typeof import("../en/thread.js").thread} */
export const thread = {
  region: (name) => "محادثة مع " + name,
  log: "الرسائل",
  newest: "أحدث الرسائل",
  fresh: (n) => plural(n, {
    zero: "لا جديد",
    one: "رسالة جديدة",
    two: "رسالتان جديدتان",
    few: `${count(n)} رسائل جديدة`,
    many: `${count(n)} رسالة جديدة`,
    other: `${count(n)} رسالة جديدة`,
  }),
};

/** @type {typeof import("../en/thread.js").head} */
export const head = {
  back: "رجوع",
  details: "التفاصيل",
  resolve: "إنهاء",
  reopen: "إعادة فتح",
  more: "إجراءات أخرى",
  snooze: "تأجيل",
  wake: "إلغاء التأجيل",
  snoozed: (until) => "مؤجلة حتى " + until,
  unread: "تمييز كغير مقروءة",
  goOn: "الانتقال إلى المحادثة التالية",
  takeOver: "تولّي المحادثة",
  handOver: "تحويل",
  held: (who) => "يتولاها: " + who,
  you: "أنت",
  bot: (name) => `الروبوت ${name}`,
  phoneApp: "تطبيق الهاتف",
  looking: (names) => `يطّلع عليها الآن أيضًا: ${names}`,
  typing: (names) => `يكتب الآن: ${names}`,
};

/** @type {typeof import("../en/thread.js").message} */
export const message = {
  reply: "رد",
  react: "تفاعل",
  more: "المزيد",
  trace: "تتبّع",
  copy: "نسخ النص",
  cancel: "إلغاء الإرسال",
  again: "إعادة الإرسال",
  edit: "تعديل",
  drop: "إزالة",
  edited: "تم التعديل",
  deleted: "حذفها المرسل",
  you: "أنت",
  sources: { api: "API", app: "تطبيق الهاتف", broadcast: "حملة", gateway: "API", rule: "قاعدة" },
  notSent: "لم تُرسل: ",
  unread: "رسائل غير مقروءة",
  quoted: "الرسالة الأصلية",
  missing: "رسالة سابقة",
  reactedBy: (emoji, who) => `${who}: تفاعل ${emoji}`,
};

/** @type {typeof import("../en/thread.js").failures} */
export const failures = {
  outside_24h_window: "مضت أكثر من 24 ساعة على آخر رسالة من هذا الشخص. يمكن إرسال قالب بدلًا منها",
  marketing_opted_out: "ألغى هذا الشخص الاشتراك في الرسائل التسويقية",
  marketing_blocked_by_user: "حظر هذا الشخص الرسائل التسويقية",
  recipient_unavailable: "لا يمكن الوصول إلى هذا الرقم",
  unsupported_message_type: "لا يستطيع تطبيق هذا الشخص عرض هذا النوع من الرسائل",
  account_restricted: "قيّد المزوّد رقمك",
  account_locked: "أقفل المزوّد رقمك",
  conversation_held: "يتولى هذه المحادثة طرف آخر",
  consent_required: "لم يوافق هذا الشخص على المراسلة",
  customer_suspended: "العميل صاحب هذا الرقم موقوف",
  permission_revoked: "سُحب إذن الإرسال من هذا الرقم",
  auth_expired: "انتهت صلاحية الوصول إلى المزوّد. يجب أن يعيد أحد المسؤولين ربط الرقم",
  app_rate_limited: "رسائل كثيرة دفعة واحدة. يُرجى المحاولة لاحقًا",
  account_rate_limited: "رسائل كثيرة من هذا الرقم. يُرجى المحاولة لاحقًا",
  template_not_found: "القالب غير موجود بهذه اللغة",
  template_paused: "أوقف المزوّد هذا القالب مؤقتًا",
  template_policy_violation: "يخالف القالب سياسة المزوّد",
  media_upload_failed: "تعذّر رفع الملف إلى المزوّد",
  media_download_failed: "تعذّر تنزيل الملف",
  undeliverable: "تعذّر تسليمها",
  policy_violation: "تخالف سياسة المزوّد",
  subscription_inactive: "اشتراكك غير نشط",
  message_cancelled: "تم إلغاؤها",
  131056: "رسائل كثيرة إلى هذا الشخص. يُرجى المحاولة لاحقًا",
};

/** @type {typeof import("../en/thread.js").content} */
export const content = {
  kinds: {
    image: "صورة",
    video: "فيديو",
    audio: "مقطع صوتي",
    sticker: "ملصق",
    document: "مستند",
    location: "موقع",
    contacts: "جهة اتصال",
    template: "قالب",
    order: "طلب شراء",
    interactive: "رسالة بأزرار",
    other: "أرسلها برنامج آخر، ولا يمكن عرضها هنا.",
    unsupported: "هذا النوع من الرسائل غير مدعوم. يُرجى طلب إرسالها بطريقة أخرى.",
  },
  voice: "رسالة صوتية",
  reacted: (emoji) => `تفاعل ${emoji}`,
  tookBack: "تمت إزالة تفاعل",
  loading: "جارٍ تنزيل الملف…",
  lost: "تعذّر تنزيل الملف.",
  gone: "لم يعد هذا الملف محفوظًا.",
  linked: "أُرسل كرابط",
  shareContact: "مشاركة معلومات الاتصال",
  items: (n) => plural(n, {
    zero: "بلا عناصر",
    one: "عنصر واحد",
    two: "عنصران",
    few: `${count(n)} عناصر`,
    many: `${count(n)} عنصرًا`,
    other: `${count(n)} عنصر`,
  }),
  templateOf: (name) => `القالب ${name}`,
};

/** @type {typeof import("../en/thread.js").changes} */
export const changes = {
  by: (what, who) => (who ? `${what} بواسطة ${who}` : what),
  assigned: (who) => "أُسندت إلى " + who,
  unassigned: "أُلغي الإسناد",
  byTurn: (who) => `أُسندت إلى ${who} تلقائيًا`,
  labeled: (label) => "أُضيف التصنيف " + label,
  unlabeled: (label) => `أُزيل التصنيف ${label}`,
  resolved: "أُنهيت المحادثة",
  reopened: "أُعيد فتح المحادثة",
  answered: "أُعيد فتح المحادثة برسالة جديدة",
  pending: "عُلّقت المحادثة",
  snoozed: (until) => "أُجّلت حتى " + until,
  woken: "انتهى التأجيل",
  handedOver: (who) => "حُوّلت إلى " + who,
  released: "أُلغي التولّي",
  rule: "قاعدة",
  phoneApp: "تطبيق الهاتف",
  api: "API",
};

/** @type {typeof import("../en/thread.js").notes} */
export const notes = {
  note: "ملاحظة",
  by: (who) => "ملاحظة من " + who,
  own: "ملاحظتك",
  key: "API",
  edited: "تم التعديل",
  more: "المزيد",
  edit: "تعديل الملاحظة",
  save: "حفظ",
  delete: "حذف الملاحظة",
  deleteTitle: "حذف هذه الملاحظة؟",
  deleteBody: "ستُحذف لدى الفريق كله. لا يمكن التراجع عن ذلك.",
};

/** @type {typeof import("../en/thread.js").pictures} */
export const pictures = {
  title: "صورة",
  previous: "الصورة السابقة",
  next: "الصورة التالية",
  zoomIn: "تكبير",
  zoomOut: "تصغير",
  download: "تنزيل",
};

/** @type {typeof import("../en/thread.js").player} */
export const player = {
  play: "تشغيل",
  pause: "إيقاف مؤقت",
  position: "الموضع",
  at: (now, length) => `${now} من ${length}`,
  speed: (factor) => `السرعة ${factor}`,
  broken: "لا يستطيع هذا المتصفح تشغيله.",
  download: "تنزيل",
};

/** @type {typeof import("../en/thread.js").reactions} */
export const reactions = { emoji: "الرموز التعبيرية", react: "تفاعل" };
