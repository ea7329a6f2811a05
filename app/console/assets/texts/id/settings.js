import { count, plural } from "../../format.js";

/** @type {typeof import("../en/settings.js").push} */
export const push = {
  insecure: "Notifikasi memerlukan https. Minta pengelola server mengisi server.public_url dengan URL https.",
  unsupported: "Browser ini tidak mendukung notifikasi.",
  denied: "Browser Anda memblokir notifikasi dari situs ini. Izinkan di pengaturan situs, lalu coba lagi.",
};

/** @type {typeof import("../en/settings.js").settings} */
export const settings = {
  settings: "Pengaturan",
  team: "Tim",
};

/** @type {typeof import("../en/settings.js").sessions} */
export const sessions = {
  caption: "Sesi",
  columns: ["Browser", "Alamat IP", "Masuk", "Terakhir aktif", "Akhiri"],
  current: "browser ini",
  none: "Tidak ada sesi aktif.",
  end: "Akhiri",
};

/** @type {typeof import("../en/settings.js").health} */
export const health = {
  title: "Kondisi sistem",
  lead: "Kondisi pesan, dan apa yang perlu diperhatikan.",
  look: "Perlu perhatian",
  well: "Semua nomor dan webhook berfungsi.",
  day: "24 jam terakhir",
  failed: "Pesan gagal",
  failedOf: (/** @type {number} */ n, /** @type {number} */ of, /** @type {string} */ fine, /** @type {string} */ bad) =>
    `${count(n)} dari ${count(of)}. Di bawah ${fine} masih wajar, ${bad} ke atas perlu perhatian.`,
  noMessages: "Tidak ada pesan yang dikirim.",
  delivered: "Pengiriman webhook",
  deliveredOf: (/** @type {number} */ n, /** @type {number} */ of, /** @type {string} */ fine) =>
    `${count(n)} dari ${count(of)} berhasil. ${fine} ke atas tergolong wajar.`,
  noDeliveries: "Tidak ada pengiriman.",
  verdicts: { good: "baik", warn: "pantau", bad: "perlu perhatian" },
  replica: "Replika",
  replicaLag: (/** @type {string} */ seconds) => `tertinggal ${seconds} dtk`,
  replicaWaiting: (/** @type {string} */ size) => `${size} menunggu dikirim.`,
  replicaVerified: (/** @type {string} */ day) => `Pemulihan terverifikasi pada ${day}.`,
  replicaUnverified: "Belum ada pemulihan yang terverifikasi.",
  usage: "Bulan ini",
  used: (/** @type {number} */ n, /** @type {number} */ of, /** @type {string} */ plan) =>
    plural(of, { other: `${count(n)} dari ${count(of)} pesan di paket ${plan}.` }),
  usedUnlimited: (/** @type {number} */ n, /** @type {string} */ plan) =>
    plural(n, { other: `${count(n)} pesan di paket ${plan}, tanpa batas.` }),
  meter: "Pesan bulan ini",
  failures: "Penyebab pesan gagal, 24 jam terakhir",
  noFailures: "Tidak ada pesan yang gagal.",
  volumes: "30 hari terakhir",
  volumesLead: "Hari dalam UTC. Pesan yang dibaca juga dihitung sebagai tersampaikan dan terkirim.",
  plots: { received: "Diterima", sent: "Terkirim", delivered: "Tersampaikan", read: "Dibaca", failed: "Gagal" },
};

/** @type {typeof import("../en/settings.js").keys} */
export const keys = {
  title: "Kunci API",
  lead: "Program Anda memakai kunci API untuk masuk. Buat satu untuk tiap program, dengan akses yang diperlukan saja.",
  newKey: "Kunci baru",
  columns: ["Nama", "Kunci", "Akses", "Terakhir dipakai", "Kedaluwarsa", "Status", "Cabut"],
  unnamed: "Tanpa nama",
  never: "tidak pernah",
  bot: (/** @type {string} */ name) => `Bot: ${name}`,
  allNumbers: "Semua nomor",
  noNumbers: "Nomornya sudah dihapus",
  more: (/** @type {number} */ n) => `dan ${count(n)} lainnya`,
  revoke: "Cabut",
  revoked: "Kunci dicabut",
  revokeTitle: (/** @type {string} */ label) => `Cabut “${label}”?`,
  revokeNameless: "Cabut kunci ini?",
  revokeBody: (/** @type {string} */ last4) =>
    `Program yang memakai kunci berakhiran ${last4} langsung berhenti bekerja. Kunci yang dicabut tidak bisa dipulihkan.`,
  emptyTitle: "Belum ada kunci",
  emptyBody: "Buat kunci untuk melakukan panggilan API pertama Anda.",
  label: { label: "Nama", hint: "Program yang memakainya, misalnya “toko” atau “ekspor malam”." },
  expires: "Kedaluwarsa",
  expiry: { none: "Tidak pernah", hours: { 720: "Dalam 30 hari", 2160: "Dalam 90 hari", 8760: "Dalam setahun" } },
  access: "Akses",
  accesses: { all: "Semuanya", read: "Hanya baca", some: "Pilih sendiri" },
  scopes: "Izin",
  scope: {
    read: { label: "Baca", hint: "Pesan, kontak, dan semua yang lain, termasuk event langsung." },
    send: { label: "Kirim", hint: "Pesan, laporan dibaca, dan file." },
    inbox: { label: "Kotak masuk", hint: "Mengubah chat, catatan, kontak, label, tampilan, dan balasan cepat." },
    campaigns: { label: "Kampanye", hint: "Mengubah template dan siaran." },
    webhooks: { label: "Webhook", hint: "Mengubah webhook. Webhook menerima semuanya, jadi izin ini seluas Baca." },
    platform: { label: "Platform", hint: "Mengubah klien, tautan penyiapan, nomor, dan aturan." },
  },
  noneChosen: "Pilih setidaknya satu.",
  numbers: { label: "Nomor", hint: "Kosongkan untuk semua nomor, termasuk yang ditambahkan nanti." },
  create: "Buat kunci",
  once: "Salin sekarang. Kunci ini tidak akan ditampilkan lagi.",
  tryIt: "Coba",
  keyName: "kunci",
  curlName: "perintah",
};

/** @type {typeof import("../en/settings.js").labels} */
export const labels = {
  title: "Label",
  lead: "Kelompokkan kontak dan chat, saring kotak masuk, dan pilih penerima siaran.",
  newLabel: "Label baru",
  editTitle: "Edit label",
  columns: ["Nama", "Tim", "Dibuat", "Edit dan hapus"],
  edit: "Edit",
  delete: "Hapus",
  deleteTitle: (/** @type {string} */ name) => `Hapus “${name}”?`,
  deleteBody: "Label ini dilepas dari semua kontak dan chat. Kontak dan chat-nya tidak dihapus.",
  deleted: "Label dihapus",
  saved: "Disimpan",
  save: "Simpan",
  create: "Buat label",
  name: "Nama",
  color: "Warna",
  colors: {
    gray: "abu-abu",
    red: "merah",
    orange: "oranye",
    amber: "kuning tua",
    yellow: "kuning",
    lime: "hijau limau",
    green: "hijau",
    emerald: "hijau zamrud",
    teal: "hijau kebiruan",
    sky: "biru langit",
    blue: "biru",
    violet: "ungu",
    pink: "merah muda",
  },
  emptyTitle: "Belum ada label",
  emptyBody: "Tambahkan label pendek seperti “VIP” atau “menunggu kiriman”.",
};

/** @type {typeof import("../en/settings.js").notifications} */
export const notifications = {
  title: "Notifikasi",
  lead: "Dapatkan notifikasi pesan baru, bahkan saat konsol ditutup.",
  device: "Perangkat ini",
  deviceLead: "Aktifkan notifikasi di tiap ponsel dan komputer yang Anda pakai. Konsol juga bisa dipasang di sana sebagai aplikasi.",
  test: "Kirim uji coba",
  tested: "Uji coba dikirim",
  about: "Beri tahu saya tentang",
  aboutLead: "Berlaku di semua perangkat Anda. Maksimal satu notifikasi per chat setiap 30 detik, dan tidak ada untuk chat di layar.",
  saved: "Disimpan",
  choices: {
    everything: "Semuanya",
    mine_and_unassigned: "Milik saya dan yang belum ditugaskan",
    mentions: "Hanya saat saya disebut",
    nothing: "Tidak ada",
  },
  sounds: "Suara",
  soundLead: "Memutar bunyi pendek saat konsol terbuka di latar belakang. Hanya di browser ini.",
};

/** @type {typeof import("../en/settings.js").quickReplies} */
export const quickReplies = {
  title: "Balasan cepat",
  lead: "Jawaban yang sering Anda kirim. Ketik / di pesan untuk memilihnya.",
  newOne: "Balasan cepat baru",
  editTitle: "Edit balasan cepat",
  columns: ["Pintasan", "Teks", "Tombol atau daftar", "Edit dan hapus"],
  edit: "Edit",
  delete: "Hapus",
  deleteTitle: (/** @type {string} */ shortcut) => `Hapus /${shortcut}?`,
  deleteBody: "Pesan yang sudah terkirim tetap ada.",
  deleted: "Balasan cepat dihapus",
  save: "Simpan",
  saved: "Disimpan",
  shortcut: { label: "Pintasan", hint: "Huruf kecil, angka, _ dan -, misalnya “jam-buka”." },
  text: {
    label: "Teks",
    hint: "{{first_name}} atau {{name}} menjadi nama kontak. Tambahkan nilai cadangan jika tidak ada nama: {{first_name|Kak}}.",
  },
  none: "Belum ada balasan cepat",
  noneBody: "Jam buka, aturan pengembalian: tulis sekali, pakai berkali-kali.",
};
