import { count, plural } from "../../format.js";

/** How many conversations, after a noun or a preposition. @param {number} n */
const conversations = (n) => plural(n, {
  zero: "0 محادثات",
  one: "محادثة واحدة",
  two: "محادثتين",
  few: `${count(n)} محادثات`,
  many: `${count(n)} محادثة`,
  other: `${count(n)} محادثة`,
});

/** What could not be done, before the names. @param {string} what @returns {(n: number, all: number) => string} */
const failedTo = (what) => (n, all) =>
  (all === 1 ? `تعذّر ${what} المحادثة: ` : `تعذّر ${what} ${count(n)} من أصل ${conversations(all)}: `);

/** @type {typeof import("../en/inbox.js").inbox} */
export const inbox = {
  title: "صندوق الوارد",
  details: "التفاصيل",
  unsent: "إنهاء المحادثة مع وجود رسالة لم تُرسل؟",
  unsentBody: {
    draft: "لم تُرسل رسالتك. ستبقى مسودة في هذا المتصفح.",
    waiting: "لم تُرسل رسالتك بعد. سيرسلها هذا المتصفح فور تمكنه من ذلك.",
  },
  resolveAnyway: "إنهاء على أي حال",
  choose: "يُرجى اختيار محادثة",
  chooseBody: "المفتاحان j وk للتنقل في القائمة، وx للتحديد، وEnter للفتح، و? لعرض كل المفاتيح.",
  noNumber: "لا يوجد رقم متصل بعد",
  noNumberBody: "بعد ربط رقم، تظهر رسائله هنا.",
  numbers: "الأرقام",
  keys: {
    next: "المحادثة التالية",
    previous: "المحادثة السابقة",
    open: "فتح المحادثة",
    reply: "رد",
    resolve: "إنهاء",
    reopen: "إعادة فتح",
    assign: "إسناد",
    label: "تصنيف",
    unread: "تمييز كغير مقروءة",
    select: "تحديد",
    clear: "إلغاء التحديد",
    search: "البحث في الرسائل",
  },
};

/** @type {typeof import("../en/inbox.js").list} */
export const list = {
  tabs: "صندوق الوارد",
  names: {
    open: "المفتوحة",
    mine: "محادثاتي",
    unassigned: "غير المسندة",
    waiting: "بانتظار الرد",
    mentions: "الإشارات",
    unread: "غير المقروءة",
    snoozed: "المؤجلة",
    resolved: "المنتهية",
    all: "الكل",
  },
  more: "المزيد",
  sort: "الترتيب",
  sorts: { newest: "الأحدث", waiting: "الأطول انتظارًا" },
  filter: "التصفية حسب التصنيف",
  anyLabel: "أي تصنيف",
  search: "البحث في الرسائل",
  list: "المحادثات",
  fresh: (n) => plural(n, {
    zero: "لا جديد",
    one: "محادثة جديدة",
    two: "محادثتان جديدتان",
    few: `${count(n)} محادثات جديدة`,
    many: `${count(n)} محادثة جديدة`,
    other: `${count(n)} محادثة جديدة`,
  }),
  noConversations: "لم تصل أي رسالة بعد",
  noConversationsBody: "عندما يراسل أحدهم رقمك، تظهر المحادثة هنا.",
  trigger: "confab trigger inbound --from +15550002222 --text hello",
  command: "الأمر",
  done: "أُنجز كل شيء هنا",
  doneBody: "لا توجد محادثات في علامة التبويب هذه.",
};

/** @type {typeof import("../en/inbox.js").row} */
export const row = {
  you: "أنت",
  sources: { api: "API", app: "تطبيق الهاتف", broadcast: "حملة", gateway: "API", rule: "قاعدة" },
  said: (who) => who + ": ",
  unread: (n) => plural(n, {
    zero: "لا رسائل غير مقروءة",
    one: "رسالة غير مقروءة",
    two: "رسالتان غير مقروءتين",
    few: `${count(n)} رسائل غير مقروءة`,
    many: `${count(n)} رسالة غير مقروءة`,
    other: `${count(n)} رسالة غير مقروءة`,
  }),
  left: (span) => `بقي ${span} للرد`,
  closed: "قوالب فقط",
  pending: "معلّقة",
  waits: (span) => "في الانتظار منذ " + span,
  snoozed: (until) => "مؤجلة حتى " + until,
  assigned: (name) => "مسندة إلى " + name,
  select: (name) => "تحديد " + name,
  selected: "، محددة",
};

/** @type {typeof import("../en/inbox.js").search} */
export const search = {
  list: "المحادثات",
  none: "لا توجد نتائج",
  noneBody: "يجب أن ترد كل الكلمات في الرسالة. للبحث عن عبارة بنصها، يمكن وضعها بين علامتي اقتباس.",
  more: "عرض المزيد",
  contact: "جهة اتصال",
  copies: (n) => plural(n, {
    zero: "رسالة جماعية · بلا نسخ",
    one: "رسالة جماعية · نسخة واحدة",
    two: "رسالة جماعية · نسختان",
    few: `رسالة جماعية · ${count(n)} نسخ`,
    many: `رسالة جماعية · ${count(n)} نسخة`,
    other: `رسالة جماعية · ${count(n)} نسخة`,
  }),
  copiesOrMore: (n) => plural(n, {
    zero: "رسالة جماعية · نسخ متعددة",
    one: "رسالة جماعية · نسخة أو أكثر",
    two: "رسالة جماعية · نسختان أو أكثر",
    few: `رسالة جماعية · ${count(n)} نسخ أو أكثر`,
    many: `رسالة جماعية · ${count(n)} نسخة أو أكثر`,
    other: `رسالة جماعية · ${count(n)} نسخة أو أكثر`,
  }),
};

/** @type {typeof import("../en/inbox.js").selection} */
export const selection = {
  bar: "التحديد",
  selected: (n) => plural(n, {
    zero: "لا شيء محدد",
    one: "محادثة واحدة محددة",
    two: "محادثتان محددتان",
    few: `${count(n)} محادثات محددة`,
    many: `${count(n)} محادثة محددة`,
    other: `${count(n)} محادثة محددة`,
  }),
  assign: "إسناد",
  label: "تصنيف",
  snooze: "تأجيل",
  resolve: "إنهاء",
  clear: "إلغاء التحديد",
  most: (n) => `يمكنك تحديد ${conversations(n)} كحد أقصى.`,
  unsent: "إنهاء المحادثات مع وجود رسائل لم تُرسل؟",
  unsentBody: (n) => plural(n, {
    zero: "لا توجد نصوص غير مرسلة.",
    one: "في إحدى المحادثات نص لم يُرسل. سيبقى مسودة في هذا المتصفح.",
    two: "في محادثتين نصوص لم تُرسل. ستبقى مسودات في هذا المتصفح.",
    few: `في ${count(n)} محادثات نصوص لم تُرسل. ستبقى مسودات في هذا المتصفح.`,
    many: `في ${count(n)} محادثة نصوص لم تُرسل. ستبقى مسودات في هذا المتصفح.`,
    other: `في ${count(n)} محادثة نصوص لم تُرسل. ستبقى مسودات في هذا المتصفح.`,
  }),
  resolveAnyway: "إنهاء على أي حال",
  done: {
    assign: (n) => `تم إسناد ${conversations(n)}`,
    label: (n) => `تم تصنيف ${conversations(n)}`,
    snooze: (n) => `تم تأجيل ${conversations(n)}`,
    resolve: (n) => `تم إنهاء ${conversations(n)}`,
  },
  failed: {
    assign: failedTo("إسناد"),
    label: failedTo("تصنيف"),
    snooze: failedTo("تأجيل"),
    resolve: failedTo("إنهاء"),
  },
  others: (n) => plural(n, {
    zero: "",
    one: " وواحدة أخرى",
    two: " واثنتان أخريان",
    few: ` و${count(n)} غيرها`,
    many: ` و${count(n)} غيرها`,
    other: ` و${count(n)} غيرها`,
  }),
};

/** @type {typeof import("../en/inbox.js").views} */
export const views = {
  save: "حفظ طريقة العرض",
  options: "خيارات طريقة العرض",
  name: "الاسم",
  for: "من يراها",
  people: { me: "أنا فقط", all: "الجميع" },
  rename: "تعديل طريقة العرض",
  done: "حفظ",
  delete: "حذف طريقة العرض",
  deleteTitle: (name) => `حذف طريقة العرض «${name}»؟`,
  deleteBody: "تبقى محادثاتها كما هي.",
  sharedBody: "ستختفي طريقة العرض هذه لدى الجميع. تبقى محادثاتها كما هي.",
};

/** @type {typeof import("../en/inbox.js").assign} */
export const assign = {
  assign: "إسناد",
  search: "البحث عن عضو",
  people: "الأعضاء",
  nobody: "لا أحد",
  you: "أنت",
  none: "لا توجد نتائج",
};

/** @type {typeof import("../en/inbox.js").labels} */
export const labels = { labels: "التصنيفات", none: "لا توجد تصنيفات بعد.", make: "تصنيف جديد" };

/** @type {typeof import("../en/inbox.js").snooze} */
export const snooze = {
  snooze: "تأجيل",
  hours: "لمدة 3 ساعات",
  tomorrow: "حتى الغد",
  monday: "حتى الاثنين",
  at: "حتى",
  pick: "تأجيل حتى هذا الوقت",
  wrong: "يُرجى اختيار وقت خلال السنة القادمة.",
};
