import { count, plural } from "../../format.js";

/** @type {typeof import("../en/templates.js").templates} */
export const templates = {
  title: "Template",
  lead: "Pesan yang disetujui lebih dulu, untuk memulai chat atau menulis lagi setelah 24 jam. Penyedia meninjau setiap template.",
  newOne: "Template baru",
  sync: "Sinkronkan",
  synced: (/** @type {number} */ created, /** @type {number} */ updated, /** @type {number} */ deleted) =>
    `Disinkronkan: ${count(created)} baru, ${count(updated)} diperbarui, ${count(deleted)} dihapus`,
  columns: ["Nama", "Bahasa", "Kategori", "Status", "Diperbarui"],
  filters: { status: "Status", language: "Bahasa", category: "Kategori" },
  emptyTitle: "Belum ada template",
  emptyBody: "Buat template pertama Anda, atau sinkronkan template yang sudah ada di akun penyedia Anda.",
  none: "Tidak ada template yang cocok.",
  most: "Menampilkan 200 pertama. Gunakan filter untuk menemukan yang lain.",
  unknown: "belum diketahui",
  changesTo: (/** @type {string} */ category) => `, berubah menjadi ${category} (harganya berbeda): `,
  soon: "segera",
  id: "id template",
  providerID: "id penyedia",
  facts: { language: "Bahasa", category: "Kategori", updated: "Diperbarui", provider: "Id penyedia", number: "Nomor" },
  variables: "Variabel",
  variablesLead: "Diisi saat template dikirim.",
  variable: ["Variabel", "Contoh"],
  edit: "Edit",
  broadcast: "Siaran baru",
  remove: "Hapus",
  removed: "Template dihapus",
  removeTitle: (/** @type {string} */ name) => `Hapus “${name}”?`,
  removeBody:
    "Template ini juga dihapus di penyedia. Pengirimannya akan gagal, dan nama yang disetujui tidak bisa dipakai lagi hingga 30 hari.",
  pending: "Sedang ditinjau penyedia. Biasanya beberapa menit, paling lama sehari. Hasilnya muncul di sini.",
  pendingEdit: "Anda bisa mengeditnya lagi setelah peninjauan selesai.",
  helps: "Yang biasanya membantu: ",
};

/** Why the provider refuses or stops a template, and what usually helps. @type {typeof import("../en/templates.js").reasons} */
export const reasons = {
  ABUSIVE_CONTENT: {
    why: "Penyedia menganggap isinya kasar.",
    help: "hapus ancaman dan desakan, lalu jelaskan siapa yang menulis dan untuk apa.",
  },
  INCORRECT_CATEGORY: {
    why: "Kategorinya tidak sesuai dengan isinya.",
    help: "penawaran dan kabar terbaru termasuk MARKETING. Kabar yang memang ditunggu, seperti tanda terima, termasuk UTILITY.",
  },
  INVALID_FORMAT: {
    why: "Formatnya tidak valid.",
    help: "beri nomor variabel mulai dari 1, apit dengan teks, pakai contoh yang realistis, dan tautkan ke domain Anda sendiri.",
  },
  PROMOTIONAL: {
    why: "Isinya promosi, padahal kategorinya tidak mengizinkan.",
    help: "ubah menjadi MARKETING, atau hapus penawarannya.",
  },
  SCAM: {
    why: "Isinya tampak seperti penipuan.",
    help: "sebutkan nama bisnis Anda, tautkan ke domain sendiri, dan jangan pernah meminta kode, kata sandi, atau data kartu.",
  },
  TAG_CONTENT_MISMATCH: {
    why: "Teksnya tidak sesuai dengan bahasa atau kategorinya.",
    help: "tulis semuanya, termasuk contohnya, dalam bahasa yang Anda pilih.",
  },
  CATEGORY_NOT_AVAILABLE: {
    why: "Akun Anda belum bisa memakai kategori ini.",
    help: "verifikasi bisnis Anda di penyedia, atau pilih kategori lain.",
  },
  FIRST_PAUSE: {
    why: "Ada yang memblokir atau melaporkannya, jadi template ini dijeda selama 3 jam.",
    help: "kirim ke lebih sedikit orang, dan hanya kepada yang memang menunggunya.",
  },
  SECOND_PAUSE: {
    why: "Ada lagi yang memblokir atau melaporkannya, jadi template ini dijeda selama 6 jam.",
    help: "ubah teksnya sebelum template ini dinonaktifkan permanen.",
  },
  RATE_LIMITING_PAUSE: {
    why: "Dikirim ke terlalu banyak orang yang tidak merespons.",
    help: "kirim ke lebih sedikit orang, dan hanya kepada yang memang menunggunya.",
  },
  DISABLED: {
    why: "Penyedia menonaktifkan template ini secara permanen.",
    help: "buat template baru dengan nama dan teks yang berbeda.",
  },
};

/** @type {typeof import("../en/templates.js").unknownReason} */
export const unknownReason = {
  why: "Penyedia menolak template ini.",
  help: "baca lagi sebagai orang luar, perjelas isinya, lalu ajukan lagi.",
};

/** @type {typeof import("../en/templates.js").builder} */
export const builder = {
  title: "Template baru",
  templates: "Template",
  edit: (/** @type {string} */ name) => `Edit ${name}`,
  editLead: "Perubahan akan ditinjau lagi. Template tidak bisa diedit sampai peninjauan selesai.",
  addVariable: "Tambah variabel",
  left: (/** @type {number} */ n, /** @type {number} */ most) => `${count(n)} dari ${count(most)} karakter`,
  examples: "Contoh",
  examplesLead: "Peninjau melihat teks dengan contoh ini.",
  example: (/** @type {string} */ name) => `Contoh untuk {{${name}}}`,
  buttons: "Tombol",
  addButton: "Tambah tombol",
  addCardButton: "Tambah tombol ke kartu",
  buttonKinds: { QUICK_REPLY: "Balasan cepat", URL: "Tautan", PHONE_NUMBER: "Nomor telepon", COPY_CODE: "Kode penawaran" },
  remove: "Hapus",
  removeCard: "Hapus kartu",
  cards: "Kartu",
  cardsLead: "Gambar berjajar, masing-masing dengan teks dan tombol. Hanya untuk pemasaran, 2 sampai 10 kartu.",
  addCard: "Tambah kartu",
  card: (/** @type {number} */ n) => `Kartu ${n}`,
  warns: "Tambahkan peringatan agar kode tidak dibagikan",
  saveHint: "Setelah disimpan, template langsung diajukan untuk ditinjau.",
  submit: "Simpan",
  busy: "Menyimpan…",
  submitted: "Diajukan untuk ditinjau",
  cancel: "Batal",
  more: "Periksa isian yang ditandai di atas.",
  name: { label: "Nama", hint: "Untuk tim dan kode Anda, misalnya order_shipped. Penerima tidak melihatnya." },
  language: "Bahasa",
  category: "Kategori",
  categories: {
    UTILITY: { label: "Utilitas", hint: "Kabar yang memang ditunggu: tanda terima, pengiriman, perubahan." },
    MARKETING: { label: "Pemasaran", hint: "Penawaran, kabar terbaru, undangan. Penerima bisa berhenti kapan saja." },
    AUTHENTICATION: { label: "Autentikasi", hint: "Kode untuk masuk. Teksnya dari penyedia." },
  },
  header: "Header",
  formats: { none: "Tidak ada", text: "Teks" },
  headerText: "Teks header",
  url: { label: "URL file", hint: "URL https. File ini dilihat peninjau. Setiap pengiriman memakai file sendiri." },
  body: { label: "Isi", hint: "*tebal*, _miring_, ~coret~. {{1}} atau {{name}} diisi saat dikirim." },
  footer: "Footer",
  minutes: "Kode kedaluwarsa setelah (menit)",
  buttonText: "Teks tombol",
  link: "Tautan",
  linkExample: "Contoh tautan lengkap",
  phone: "Nomor telepon",
  codeExample: "Contoh kode",
  cardText: "Teks kartu",
};

/** @type {typeof import("../en/templates.js").draft} */
export const draft = {
  name: "Gunakan hanya huruf kecil, angka, dan _, seperti order_shipped.",
  blank: "Wajib diisi.",
  long: (/** @type {number} */ n) => plural(n, { other: `Maksimal ${count(n)} karakter.` }),
  braces: "Tulis variabel dengan dua kurung kurawal di tiap sisi: {{1}}.",
  names: "Beri nomor variabel berurutan mulai dari 1, atau beri nama dengan huruf kecil, angka, dan _.",
  edge: "Jangan mulai atau akhiri dengan variabel. Beri teks sebelum dan sesudahnya.",
  beside: "Beri teks di antara dua variabel.",
  many: "Terlalu banyak variabel untuk teks sependek ini.",
  oneVariable: "Gunakan paling banyak satu variabel.",
  noVariables: "Variabel tidak boleh dipakai di sini.",
  line: "Gunakan satu baris saja.",
  https: "Isi dengan URL https.",
  linkEnd: "Gunakan satu variabel, {{1}}, di paling akhir.",
  phone: "Sertakan kode negara, seperti +15550001111.",
  example: (/** @type {string} */ name) => `Tambahkan contoh untuk {{${name}}}.`,
  cards: "Gunakan 2 sampai 10 kartu.",
  cardButton: "Setiap kartu memerlukan tombol.",
  minutes: "1 sampai 90.",
};
