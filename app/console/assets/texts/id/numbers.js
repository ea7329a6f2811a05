/** @type {typeof import("../en/numbers.js").numbers} */
export const numbers = {
  title: "Nomor",
  number: "Nomor",
  lead: "Nomor bisnis yang Anda pakai untuk mengirim pesan.",
  newOne: "Nomor baru",
  columns: ["Nama", "Nomor", "Status", "Terhubung"],
  none: "Belum ada nomor",
  noneBody: "Hubungkan nomor dari akun bisnis Anda untuk mengirim dan menerima pesan.",
  noneAgent: "Minta admin menghubungkan nomor pertama.",
  id: "id nomor telepon",
  register: "Daftarkan",
  limited: "Penyedia membatasi kecepatan kirim nomor ini. Pesan mungkin tertahan beberapa menit.",
  again: "Hubungkan lagi",
  check: "Periksa sekarang",
  checked: "Sudah diperiksa",
  disconnect: "Putuskan sambungan",
  disconnectTitle: (/** @type {string} */ name) => `Putuskan sambungan ${name}?`,
  disconnectBody: "Nomor ini berhenti mengirim. Pesan dan kontaknya tetap ada, dan Anda bisa menghubungkannya lagi.",
  disconnected: "Sambungan diputus",
  delete: "Hapus",
  deleteTitle: (/** @type {string} */ name) => `Hapus ${name}?`,
  deleteBody: "Pesan, kontak, file, dan event nomor ini dihapus permanen.",
  deleted: "Nomor dihapus",
  quality: "24 jam terakhir",
  figures: { sent: "Terkirim", delivered: "Tersampaikan", read: "Dibaca", failed: "Gagal", received: "Diterima" },
  failures: "Penyebab pesan gagal",
  webhook: "Webhook penyedia",
  webhookLead: "Masukkan URL ini di pengaturan aplikasi Anda di penyedia, agar pesan dan perubahan dilaporkan ke sini.",
  webhookName: "alamat",
  details: "Detail",
  rows: { phone: "Nomor", waba: "Akun bisnis", provider: "Status di penyedia", made: "Terhubung", customer: "Klien" },
};

/** The states of a number in words, and what to do next. @type {typeof import("../en/numbers.js").states} */
export const states = {
  connected: { word: "terhubung", next: "Mengirim dan menerima pesan." },
  degraded: {
    word: "perlu perhatian",
    next: "Tidak bisa mengirim. Jika pendaftarannya hilang, daftarkan lagi. Jika token aksesnya kedaluwarsa, hubungkan dengan token baru.",
  },
  onboarding: { word: "belum terdaftar", next: "Daftarkan dengan PIN-nya untuk mulai mengirim." },
  disconnected: { word: "terputus", next: "Tidak bisa mengirim. Periksa sekarang, atau hubungkan lagi dengan token baru." },
  restricted: { word: "dibatasi", next: "Untuk sementara penyedia melarang nomor ini mengirim. Alasannya ada di akun bisnis Anda." },
};

/** @type {typeof import("../en/numbers.js").failures} */
export const failures = { caption: "Kegagalan menurut kode", columns: ["Kode", "Arti", "Pesan"] };

/** @type {typeof import("../en/numbers.js").forms} */
export const forms = {
  newOne: "Nomor baru",
  again: "Hubungkan lagi",
  connect: "Hubungkan",
  trying: "Menghubungi penyedia…",
  connected: "Terhubung",
  madeUp: "Di sandbox, penyedia hanya simulasi dan nomornya rekaan.",
  real: "Token diperiksa dulu. Tidak ada yang disimpan sebelum penyedia menerimanya.",
  register: "Daftarkan",
  registered: "Terdaftar",
  registerLead: "Jika nomor ini memakai verifikasi dua langkah, masukkan PIN-nya. Jika tidak, ini akan menjadi PIN-nya.",
  name: { label: "Nama", hint: "Kosongkan untuk dibuat otomatis." },
  number: { label: "Nomor", hint: "Kosongkan untuk dibuat otomatis." },
  id: "Id nomor telepon",
  waba: "Id akun bisnis",
  token: { label: "Token akses", hint: "Dari pengguna sistem yang punya izin mengelola dan mengirim." },
  pin: "PIN",
  keptHint: "Enam digit. Kosongkan untuk memakai PIN yang tersimpan.",
  pinHint: "Enam digit. Hanya perlu untuk mendaftarkan nomor yang belum bisa mengirim.",
};

/** @type {typeof import("../en/numbers.js").hours} */
export const hours = {
  title: "Jam kerja",
  lead: "Aturan bisa membalas di luar jam ini. Seret pada harinya untuk mengubah, atau ketik jamnya, misalnya 09:00-12:30, 14:00-18:00.",
  open: "sedang buka",
  closed: "sedang tutup",
  always: "Selalu buka",
  week: "Jadwal mingguan",
  days: { mon: "Senin", tue: "Selasa", wed: "Rabu", thu: "Kamis", fri: "Jumat", sat: "Sabtu", sun: "Minggu" },
  closedAll: "Tutup",
  zone: "Zona waktu",
  holidays: {
    label: "Hari libur",
    hint: "Satu per baris, misalnya “2026-12-25 Natal”. Tutup seharian, kecuali ada jamnya: “2026-12-24 09:00-12:00 Malam Natal”.",
  },
  save: "Simpan jam kerja",
  saving: "Menyimpan…",
  saved: "Jam kerja disimpan",
};

/** @type {typeof import("../en/numbers.js").optOut} */
export const optOut = {
  title: "Kata berhenti dan mulai",
  lead: "Siapa pun yang hanya mengirim kata berhenti tidak lagi menerima pesan pemasaran. Kata mulai mengaktifkannya kembali.",
  enabled: "Kata berhenti dan mulai",
  follow: "Patuhi kata berhenti dan mulai",
  wordsHint: "Pisahkan dengan koma. Huruf besar-kecil, aksen, dan tanda baca di akhir tidak berpengaruh.",
  stop: "Kata berhenti",
  start: "Kata mulai",
  stopReply: "Balasan untuk kata berhenti",
  startReply: "Balasan untuk kata mulai",
  save: "Simpan",
  saved: "Disimpan",
};
