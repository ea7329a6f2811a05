import { count, plural } from "../../format.js";

/** @type {typeof import("../en/settings.js").push} */
export const push = {
  insecure: "تحتاج الإشعارات إلى https. يُرجى طلب ضبط server.public_url على رابط https من مشغّل الخادم.",
  unsupported: "هذا المتصفح لا يدعم الإشعارات.",
  denied: "متصفحك يحظر الإشعارات من هذا الموقع. يُرجى السماح بها في إعدادات الموقع ثم المحاولة من جديد.",
};

/** @type {typeof import("../en/settings.js").settings} */
export const settings = {
  settings: "الإعدادات",
  team: "الفريق",
};

/** @type {typeof import("../en/settings.js").sessions} */
export const sessions = {
  caption: "الجلسات",
  columns: ["المتصفح", "عنوان IP", "تسجيل الدخول", "آخر ظهور", "إنهاء"],
  current: "هذا المتصفح",
  none: "لا توجد جلسات نشطة.",
  end: "إنهاء",
};

/** @type {typeof import("../en/settings.js").health} */
export const health = {
  title: "سلامة الخدمة",
  lead: "حالة الرسائل، وما يحتاج إلى انتباه.",
  look: "يحتاج إلى انتباه",
  well: "كل الأرقام وخطافات الويب تعمل.",
  day: "آخر 24 ساعة",
  failed: "الرسائل الفاشلة",
  failedOf: (n, of, fine, bad) => `${count(n)} من ${count(of)}. الطبيعي أقل من ${fine}، و${bad} أو أكثر يحتاج إلى انتباه.`,
  noMessages: "لم تُرسل رسائل.",
  delivered: "عمليات تسليم خطافات الويب",
  deliveredOf: (n, of, fine) => `نجحت ${count(n)} من ${count(of)}. الطبيعي ${fine} أو أكثر.`,
  noDeliveries: "لا توجد عمليات تسليم.",
  verdicts: { good: "سليم", warn: "تحت المراقبة", bad: "يحتاج إلى انتباه" },
  replica: "النسخة المتماثلة",
  replicaLag: (seconds) => `متأخرة ${seconds} ث`,
  replicaWaiting: (size) => `${size} بانتظار الإرسال.`,
  replicaVerified: (day) => `تم التحقق من الاستعادة في ${day}.`,
  replicaUnverified: "لم يتم التحقق من أي استعادة بعد.",
  usage: "هذا الشهر",
  used: (n, of, plan) => plural(of, {
    zero: `${count(n)} رسائل في الباقة ${plan}.`,
    one: `${count(n)} من رسالة واحدة في الباقة ${plan}.`,
    two: `${count(n)} من رسالتين في الباقة ${plan}.`,
    few: `${count(n)} من ${count(of)} رسائل في الباقة ${plan}.`,
    many: `${count(n)} من ${count(of)} رسالة في الباقة ${plan}.`,
    other: `${count(n)} من ${count(of)} رسالة في الباقة ${plan}.`,
  }),
  usedUnlimited: (n, plan) => plural(n, {
    zero: `لا رسائل في الباقة ${plan} غير المحدودة.`,
    one: `رسالة واحدة في الباقة ${plan} غير المحدودة.`,
    two: `رسالتان في الباقة ${plan} غير المحدودة.`,
    few: `${count(n)} رسائل في الباقة ${plan} غير المحدودة.`,
    many: `${count(n)} رسالة في الباقة ${plan} غير المحدودة.`,
    other: `${count(n)} رسالة في الباقة ${plan} غير المحدودة.`,
  }),
  meter: "رسائل هذا الشهر",
  failures: "أسباب فشل الرسائل، آخر 24 ساعة",
  noFailures: "لا توجد رسائل فاشلة.",
  volumes: "آخر 30 يومًا",
  volumesLead: "الأيام بتوقيت UTC. الرسالة المقروءة تُحسب أيضًا مسلّمة ومرسلة.",
  plots: { received: "تم الاستلام", sent: "تم الإرسال", delivered: "تم التسليم", read: "تمت القراءة", failed: "فشل" },
};

/** @type {typeof import("../en/settings.js").keys} */
export const keys = {
  title: "مفاتيح API",
  lead: "تستخدم برامجك مفاتيح API للدخول. يُستحسن إنشاء مفتاح لكل برنامج، بالصلاحيات التي يحتاجها فقط.",
  newKey: "مفتاح جديد",
  columns: ["التسمية", "المفتاح", "الصلاحيات", "آخر استخدام", "انتهاء الصلاحية", "الحالة", "إبطال"],
  unnamed: "بلا تسمية",
  never: "لا يوجد",
  bot: (name) => `روبوت: ${name}`,
  allNumbers: "كل الأرقام",
  noNumbers: "أُزيلت أرقامه",
  more: (n) => plural(n, {
    zero: "ولا شيء غيرها",
    one: "وواحد آخر",
    two: "واثنان آخران",
    few: `و${count(n)} غيرها`,
    many: `و${count(n)} غيرها`,
    other: `و${count(n)} غيرها`,
  }),
  revoke: "إبطال",
  revoked: "تم إبطال المفتاح",
  revokeTitle: (label) => `إبطال «${label}»؟`,
  revokeNameless: "إبطال هذا المفتاح؟",
  revokeBody: (last4) => `ستتوقف فورًا البرامج التي تستخدم المفتاح المنتهي بـ ${last4}. لا يمكن استعادة مفتاح تم إبطاله.`,
  emptyTitle: "لا توجد مفاتيح بعد",
  emptyBody: "لإرسال أول طلب API، يُرجى إنشاء مفتاح.",
  label: { label: "التسمية", hint: "البرنامج الذي يستخدمه، مثل «المتجر» أو «التصدير الليلي»." },
  expires: "انتهاء الصلاحية",
  expiry: { none: "لا تنتهي", hours: { 720: "بعد 30 يومًا", 2160: "بعد 90 يومًا", 8760: "بعد سنة" } },
  access: "الصلاحيات",
  accesses: { all: "الكل", read: "القراءة فقط", some: "اختيار" },
  scopes: "نطاق الصلاحيات",
  scope: {
    read: { label: "القراءة", hint: "الرسائل وجهات الاتصال وكل ما عداها، بما فيه الأحداث المباشرة." },
    send: { label: "الإرسال", hint: "الرسائل ومؤشرات القراءة والملفات." },
    inbox: { label: "صندوق الوارد", hint: "تغيير المحادثات والملاحظات وجهات الاتصال والتصنيفات وطرق العرض والردود السريعة." },
    campaigns: { label: "الحملات", hint: "تغيير القوالب والرسائل الجماعية." },
    webhooks: { label: "خطافات الويب", hint: "تغيير خطافات الويب. خطاف الويب يستقبل كل شيء، فهي بقدر صلاحية القراءة." },
    platform: { label: "المنصة", hint: "تغيير العملاء وروابط الإعداد والأرقام والقواعد." },
  },
  noneChosen: "يُرجى اختيار صلاحية واحدة على الأقل.",
  numbers: { label: "الأرقام", hint: "تُترك فارغة لكل الأرقام، بما فيها ما يُضاف لاحقًا." },
  create: "إنشاء مفتاح",
  once: "يُرجى نسخه الآن، فلن يظهر مرة أخرى.",
  tryIt: "تجربة المفتاح",
  keyName: "المفتاح",
  curlName: "الأمر",
};

/** @type {typeof import("../en/settings.js").labels} */
export const labels = {
  title: "التصنيفات",
  lead: "لتنظيم جهات الاتصال والمحادثات، وتصفية صندوق الوارد، واختيار من تصله الرسائل الجماعية.",
  newLabel: "تصنيف جديد",
  editTitle: "تعديل التصنيف",
  columns: ["الاسم", "الفريق", "تاريخ الإنشاء", "تعديل وحذف"],
  edit: "تعديل",
  delete: "حذف",
  deleteTitle: (name) => `حذف «${name}»؟`,
  deleteBody: "سيُزال من كل جهات الاتصال والمحادثات دون حذفها.",
  deleted: "تم حذف التصنيف",
  saved: "تم الحفظ",
  save: "حفظ",
  create: "إنشاء تصنيف",
  name: "الاسم",
  color: "اللون",
  colors: {
    gray: "رمادي",
    red: "أحمر",
    orange: "برتقالي",
    amber: "كهرماني",
    yellow: "أصفر",
    lime: "ليموني",
    green: "أخضر",
    emerald: "زمردي",
    teal: "أزرق مخضر",
    sky: "سماوي",
    blue: "أزرق",
    violet: "بنفسجي",
    pink: "وردي",
  },
  emptyTitle: "لا توجد تصنيفات بعد",
  emptyBody: "يمكن إضافة تصنيفات قصيرة مثل «عميل مميز» أو «بانتظار الشحن».",
};

/** @type {typeof import("../en/settings.js").notifications} */
export const notifications = {
  title: "الإشعارات",
  lead: "تنبيهات بالرسائل الجديدة، حتى عندما تكون وحدة التحكم مغلقة.",
  device: "هذا الجهاز",
  deviceLead: "تُفعَّل الإشعارات على كل هاتف وحاسوب على حدة. يمكنك أيضًا تثبيت وحدة التحكم عليه كتطبيق.",
  test: "إرسال إشعار تجريبي",
  tested: "تم إرسال الإشعار",
  about: "التنبيه عند",
  aboutLead: "يسري على كل أجهزتك. إشعار واحد كحد أقصى لكل محادثة كل 30 ثانية، ولا إشعار لمحادثة مفتوحة أمامك.",
  saved: "تم الحفظ",
  choices: {
    everything: "كل الرسائل",
    mine_and_unassigned: "رسائل محادثاتي وغير المسندة",
    mentions: "الإشارات فقط",
    nothing: "لا شيء",
  },
  sounds: "الصوت",
  soundLead: "يصدر صوت قصير عندما تكون وحدة التحكم مفتوحة في الخلفية. في هذا المتصفح فقط.",
};

/** @type {typeof import("../en/settings.js").quickReplies} */
export const quickReplies = {
  title: "الردود السريعة",
  lead: "إجابات تتكرر كثيرًا. لاختيار إحداها، تُكتب / في الرسالة.",
  newOne: "رد سريع جديد",
  editTitle: "تعديل الرد السريع",
  columns: ["الاختصار", "النص", "الأزرار أو القائمة", "تعديل وحذف"],
  edit: "تعديل",
  delete: "حذف",
  deleteTitle: (shortcut) => `حذف \u200e/${shortcut}؟`,
  deleteBody: "تبقى الرسائل التي أُرسلت به.",
  deleted: "تم حذف الرد السريع",
  save: "حفظ",
  saved: "تم الحفظ",
  shortcut: { label: "الاختصار", hint: "أحرف لاتينية صغيرة وأرقام و_ و-، مثل «hours»." },
  text: {
    label: "النص",
    hint: "يتحول {{first_name}} أو {{name}} إلى اسم جهة الاتصال. القيمة البديلة لمن لا اسم له: {{first_name|عميلنا}}.",
  },
  none: "لا توجد ردود سريعة بعد",
  noneBody: "ساعات العمل، سياسة الإرجاع: تُكتب مرة وتُستخدم دائمًا.",
};
