import { count, plural } from "../../format.js";

/** @type {typeof import("../en/composer.js").composer} */
export const composer = {
  message: "Pesan",
  placeholder: (/** @type {string} */ name) => "Tulis pesan ke " + name,
  send: "Kirim",
  sendAndResolve: "Kirim dan selesaikan",
  notResolved: "Belum diselesaikan: pesannya belum terkirim.",
  attach: "Lampirkan file",
  quick: "Balasan cepat",
  templates: "Template",
  emoji: "Emoji",
  buttons: "Tombol",
  list: "Daftar",
  notBoth: "Pesan tidak bisa berisi file sekaligus tombol. Hapus salah satunya.",
  later: "Kirim nanti",
  replyingTo: (/** @type {string} */ who) => `Membalas ${who}`,
  reply: "Balas",
  note: "Catatan",
  modes: "Tulis",
  earlier: "Pesan sebelumnya",
  cancelReply: "Batalkan balasan",
  cancelTime: "Kirim sekarang saja",
  you: "Anda",
  left: (/** @type {string} */ span) => `Sisa ${span.replace(/j$/, "jam")} untuk membalas`,
  never: "Orang ini belum pernah mengirim pesan. Anda hanya bisa mengirim template.",
  closed: "Sudah lewat 24 jam sejak pesan terakhir orang ini. Sekarang Anda hanya bisa mengirim template.",
  choose: "Pilih template",
  kept: "Draf Anda tetap tersimpan: ",
  notSent: "Tidak terkirim: ",
  tooLong: (/** @type {number} */ n) => plural(n, { other: `Kelebihan ${count(n)} karakter` }),
  hint: "balasan cepat",
  keys: "semua pintasan",
};

/** @type {typeof import("../en/composer.js").noteForm} */
export const noteForm = {
  note: "Catatan",
  placeholder: "Tulis catatan untuk tim Anda",
  add: "Tambah catatan",
  mention: "Sebut seseorang",
  people: "Anggota",
  hint: "Catatan hanya terlihat oleh tim Anda.",
  tooLong: (/** @type {number} */ n) => plural(n, { other: `Kelebihan ${count(n)} karakter` }),
};

/** @type {typeof import("../en/composer.js").attachments} */
export const attachments = {
  files: "File yang akan dikirim",
  remove: (/** @type {string} */ name) => "Hapus " + name,
  again: "Coba lagi",
  lost: "Server tidak bisa dihubungi.",
  uploading: (/** @type {string} */ name) => "Mengunggah " + name,
  drop: "Lepaskan file di sini untuk mengirimnya",
};

/** @type {typeof import("../en/composer.js").interactive} */
export const interactive = {
  buttons: "Tombol",
  list: "Daftar",
  add: "Tambahkan ke pesan",
  removeButtons: "Hapus tombol",
  removeList: "Hapus daftar",
};

/** @type {typeof import("../en/composer.js").quickReplies} */
export const quickReplies = {
  list: "Balasan cepat",
  none: "Tidak ada balasan cepat yang cocok.",
  empty: "Belum ada balasan cepat.",
  make: "Buat sekarang",
};

/** @type {typeof import("../en/composer.js").templates} */
export const templates = {
  choose: "Pilih template",
  search: "Cari template",
  list: "Template",
  none: "Belum ada template yang disetujui",
  noneBody: "Template harus disetujui dulu sebelum bisa dikirim.",
  make: "Template",
  back: "Pilih yang lain",
  send: "Kirim template",
  file: "Pilih file",
};

/** @type {typeof import("../en/composer.js").sendLater} */
export const sendLater = {
  title: "Kirim nanti",
  at: "Waktu",
  send: "Jadwalkan",
  hint: "Menurut zona waktu Anda, maksimal 90 hari ke depan.",
  wrong: "Pilih waktu dalam 90 hari ke depan.",
  hour: "Satu jam lagi",
  tomorrow: "Besok pukul 9",
  monday: "Senin pukul 9",
};

/** @type {typeof import("../en/composer.js").sending} */
export const sending = {
  off: "Nomor ini sedang tidak bisa mengirim. ",
  reasons: {
    organization_suspended: "Organisasi Anda ditangguhkan. Hubungi pengelola server ini.",
    subscription_inactive: "Langganan Anda tidak aktif. Hubungi pengelola server ini.",
    quota_exceeded: "Jatah pesan paket Anda bulan ini sudah habis.",
    customer_suspended: "Klien pemilik nomor ini ditangguhkan atau diarsipkan.",
    account_restricted: "Nomor ini dibatasi oleh penyedia.",
    whatsapp_number_not_verified: "Nomor ini belum disetujui oleh penyedia.",
  },
  see: "Lihat alasannya",
  customer: "Buka klien",
};

/** @type {typeof import("../en/composer.js").outbox} */
export const outbox = { unknown: "Pesan ini mungkin sudah terkirim. Tanyakan dulu ke penerimanya sebelum mengirim lagi." };
