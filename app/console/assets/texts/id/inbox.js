import { count, plural } from "../../format.js";

/** @type {typeof import("../en/inbox.js").inbox} */
export const inbox = {
  title: "Kotak masuk",
  details: "Detail",
  unsent: "Selesaikan meski ada pesan yang belum terkirim?",
  unsentBody: {
    draft: "Pesan Anda belum terkirim. Pesan ini tetap tersimpan sebagai draf di browser ini.",
    waiting: "Pesan Anda belum terkirim. Browser ini akan mengirimnya secepat mungkin.",
  },
  resolveAnyway: "Tetap selesaikan",
  choose: "Pilih chat",
  chooseBody: "Tekan j dan k untuk berpindah di daftar, x untuk memilih, dan Enter untuk membuka. Tekan ? untuk melihat semua pintasan.",
  noNumber: "Belum ada nomor terhubung",
  noNumberBody: "Hubungkan nomor agar pesannya muncul di sini.",
  numbers: "Nomor",
  keys: {
    next: "Chat berikutnya",
    previous: "Chat sebelumnya",
    open: "Buka chat",
    reply: "Balas",
    resolve: "Selesaikan",
    reopen: "Buka lagi",
    assign: "Tugaskan",
    label: "Label",
    unread: "Tandai belum dibaca",
    select: "Pilih",
    clear: "Batalkan pilihan",
    search: "Cari pesan",
  },
};

/** @type {typeof import("../en/inbox.js").list} */
export const list = {
  tabs: "Kotak masuk",
  names: {
    open: "Terbuka",
    mine: "Milik saya",
    unassigned: "Belum ditugaskan",
    waiting: "Menunggu",
    mentions: "Sebutan",
    unread: "Belum dibaca",
    snoozed: "Ditunda",
    resolved: "Selesai",
    all: "Semua",
  },
  more: "Lainnya",
  sort: "Urutkan",
  sorts: { newest: "Terbaru", waiting: "Paling lama menunggu" },
  filter: "Filter label",
  anyLabel: "Semua label",
  search: "Cari pesan",
  list: "Chat",
  fresh: (/** @type {number} */ n) => count(n) + " baru",
  noConversations: "Belum ada yang mengirim pesan",
  noConversationsBody: "Saat seseorang mengirim pesan ke nomor Anda, chat-nya muncul di sini.",
  trigger: "confab trigger inbound --from +15550002222 --text hello",
  command: "perintah",
  done: "Semua sudah beres",
  doneBody: "Tidak ada chat di tab ini.",
};

/** @type {typeof import("../en/inbox.js").row} */
export const row = {
  you: "Anda",
  sources: { api: "API", app: "Aplikasi ponsel", broadcast: "Siaran", gateway: "API", rule: "Aturan" },
  said: (/** @type {string} */ who) => who + ": ",
  unread: (/** @type {number} */ n) => count(n) + " belum dibaca",
  left: (/** @type {string} */ span) => `Sisa ${span.replace(/j$/, "jam")} untuk membalas`,
  closed: "hanya template",
  pending: "Pending",
  waits: (/** @type {string} */ span) => "menunggu " + span,
  snoozed: (/** @type {string} */ until) => "Ditunda sampai " + until,
  assigned: (/** @type {string} */ name) => "Ditugaskan ke " + name,
  select: (/** @type {string} */ name) => "Pilih " + name,
  selected: ", dipilih",
};

/** @type {typeof import("../en/inbox.js").search} */
export const search = {
  list: "Chat",
  none: "Tidak ada hasil",
  noneBody: "Semua kata harus ada di pesan. Gunakan tanda kutip untuk mencari frasa yang persis sama.",
  more: "Tampilkan lebih banyak",
  contact: "Kontak",
  copies: (/** @type {number} */ n) => plural(n, { other: `Siaran · ${count(n)} salinan` }),
  copiesOrMore: (/** @type {number} */ n) => plural(n, { other: `Siaran · ${count(n)}+ salinan` }),
};

/** @type {typeof import("../en/inbox.js").selection} */
export const selection = {
  bar: "Dipilih",
  selected: (/** @type {number} */ n) => count(n) + " dipilih",
  assign: "Tugaskan",
  label: "Label",
  snooze: "Tunda",
  resolve: "Selesaikan",
  clear: "Batalkan pilihan",
  most: (/** @type {number} */ n) => `Anda bisa memilih maksimal ${count(n)} chat.`,
  unsent: "Selesaikan meski ada pesan yang belum terkirim?",
  unsentBody: (/** @type {number} */ n) => plural(n, {
    other: `${count(n)} chat punya teks yang belum terkirim. Teksnya tetap tersimpan sebagai draf di browser ini.`,
  }),
  resolveAnyway: "Tetap selesaikan",
  done: {
    assign: (/** @type {number} */ n) => plural(n, { other: `${count(n)} chat ditugaskan` }),
    label: (/** @type {number} */ n) => plural(n, { other: `${count(n)} chat diberi label` }),
    snooze: (/** @type {number} */ n) => plural(n, { other: `${count(n)} chat ditunda` }),
    resolve: (/** @type {number} */ n) => plural(n, { other: `${count(n)} chat diselesaikan` }),
  },
  failed: {
    assign: (/** @type {number} */ n, /** @type {number} */ all) =>
      plural(all, { other: `${count(n)} dari ${count(all)} chat gagal ditugaskan: ` }),
    label: (/** @type {number} */ n, /** @type {number} */ all) =>
      plural(all, { other: `${count(n)} dari ${count(all)} chat gagal diberi label: ` }),
    snooze: (/** @type {number} */ n, /** @type {number} */ all) =>
      plural(all, { other: `${count(n)} dari ${count(all)} chat gagal ditunda: ` }),
    resolve: (/** @type {number} */ n, /** @type {number} */ all) =>
      plural(all, { other: `${count(n)} dari ${count(all)} chat gagal diselesaikan: ` }),
  },
  others: (/** @type {number} */ n) => ` dan ${count(n)} lainnya`,
};

/** @type {typeof import("../en/inbox.js").views} */
export const views = {
  save: "Simpan tampilan",
  options: "Opsi tampilan",
  name: "Nama",
  for: "Terlihat oleh",
  people: { me: "Hanya saya", all: "Semua anggota" },
  rename: "Edit tampilan",
  done: "Simpan",
  delete: "Hapus tampilan",
  deleteTitle: (/** @type {string} */ name) => `Hapus tampilan “${name}”?`,
  deleteBody: "Chat di dalamnya tidak berubah.",
  sharedBody: "Tampilan ini hilang untuk semua anggota. Chat di dalamnya tidak berubah.",
};

/** @type {typeof import("../en/inbox.js").assign} */
export const assign = {
  assign: "Tugaskan",
  search: "Cari anggota",
  people: "Anggota",
  nobody: "Tidak ditugaskan",
  you: "Anda",
  none: "Tidak ada yang cocok",
};

/** @type {typeof import("../en/inbox.js").labels} */
export const labels = { labels: "Label", none: "Belum ada label.", make: "Label baru" };

/** @type {typeof import("../en/inbox.js").snooze} */
export const snooze = {
  snooze: "Tunda",
  hours: "Selama 3 jam",
  tomorrow: "Sampai besok",
  monday: "Sampai Senin",
  at: "Sampai",
  pick: "Tunda sampai waktu itu",
  wrong: "Pilih waktu dalam setahun ke depan.",
};
