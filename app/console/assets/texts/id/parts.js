import { count, plural } from "../../format.js";

/** @type {typeof import("../en/parts.js").server} */
export const server = {
  network: "Server tidak bisa dihubungi.",
  unreadable: "Jawaban dari server tidak bisa dibaca.",
};

/** States of anything, as the API names them, in words. @type {typeof import("../en/parts.js").words} */
export const words = {
  active: "aktif",
  all: "semua",
  approved: "disetujui",
  archived: "diarsipkan",
  cancelled: "dibatalkan",
  completed: "selesai",
  connected: "terhubung",
  consumed: "sudah dipakai",
  dead: "dihentikan",
  degraded: "terganggu",
  deleted: "dihapus",
  delivered: "tersampaikan",
  disabled: "dinonaktifkan",
  disconnected: "terputus",
  expired: "kedaluwarsa",
  failed: "gagal",
  flagged: "ditandai",
  in_appeal: "dalam proses banding",
  invited: "diundang",
  limit_exceeded: "batas terlampaui",
  no_sign_in: "belum bisa masuk",
  onboarding: "sedang disiapkan",
  open: "terbuka",
  paused: "dijeda",
  pending: "menunggu",
  pending_deletion: "akan dihapus",
  preparing: "sedang disiapkan",
  queued: "dalam antrean",
  read: "dibaca",
  received: "diterima",
  rejected: "ditolak",
  revoked: "dicabut",
  running: "berjalan",
  scheduled: "terjadwal",
  sent: "terkirim",
  skipped: "dilewati",
  succeeded: "berhasil",
  suspended: "ditangguhkan",
  waiting: "menunggu",
};

/** @type {typeof import("../en/parts.js").copying} */
export const copying = {
  copy: "Salin",
  copyOf: (/** @type {string} */ name) => `Salin ${name}`,
  copied: "Disalin",
  select: "Tekan Ctrl-C untuk menyalin",
};

/** @type {typeof import("../en/parts.js").guide} */
export const guide = "Panduan";

/** @type {typeof import("../en/parts.js").dialog} */
export const dialog = {
  close: "Tutup",
  cancel: "Batal",
  busy: "Sebentar…",
  done: "Selesai",
  type: (/** @type {string} */ word) => `Ketik “${word}” untuk mengonfirmasi`,
};

/** @type {typeof import("../en/parts.js").form} */
export const form = { cancel: "Batal", saving: "Menyimpan…", required: "Wajib diisi.", optional: "opsional" };

/** The server says in English what is wrong, so the whole sentence is. @type {typeof import("../en/parts.js").problems} */
export const problems = { of: (/** @type {string} */ why) => `Periksa isian ini: ${why}` };

/** @type {typeof import("../en/parts.js").headerFile} */
export const headerFile = {
  choose: { image: "Pilih gambar", video: "Pilih video", document: "Pilih dokumen" },
  other: "Pilih file",
  upload: "Unggah file",
};

/** @type {typeof import("../en/parts.js").interactive} */
export const interactive = {
  buttons: ["Tombol 1", "Tombol 2", "Tombol 3"],
  open: "Tombol pembuka daftar",
  rows: "Pilihan",
  rowsHint: "Satu per baris, maksimal 10. Tambahkan deskripsi setelah |.",
  tooMany: "Pilihan: maksimal 10.",
  tooLong: "Pilihan: maksimal 24 karakter per baris, dan 72 untuk deskripsi.",
};

/** @type {typeof import("../en/parts.js").lists} */
export const lists = {
  more: "Tampilkan lebih banyak",
  first: "Halaman pertama",
  all: "Semua",
  fresh: (/** @type {number} */ n) => count(n) + " baru",
  looking: "Mencari data yang lebih lama…",
  goOn: "Lanjutkan pencarian",
  soFar: "Sejauh ini belum ada yang cocok. Pencarian bisa dilanjutkan.",
  noNumber: "Belum ada nomor terhubung",
  noNumberBody: "Hubungkan nomor untuk memulai.",
  numbers: "Nomor",
};

/** @type {typeof import("../en/parts.js").notices} */
export const notices = { region: "Pemberitahuan dari confab", dismiss: "Tutup", failed: "Terjadi masalah di halaman ini." };

/** @type {typeof import("../en/parts.js").connection} */
export const connection = { lost: "Menghubungkan kembali… teks Anda aman", now: "Coba sekarang" };

/** @type {typeof import("../en/parts.js").period} */
export const period = {
  period: "Periode",
  last30: "30 hari terakhir",
  periods: { week: "7 hari terakhir", month: "Bulan ini", before: "Bulan lalu", quarter: "90 hari terakhir" },
};

/** @type {typeof import("../en/parts.js").plot} */
export const plot = { table: "Lihat sebagai tabel", day: "Hari", name: "Nama", before: "Sebelumnya", none: "—" };

/** @type {typeof import("../en/parts.js").states} */
export const states = {
  again: "Coba lagi",
  loading: "Memuat",
  lostTitle: "Server tidak bisa dihubungi",
  lost: "Tidak ada yang berubah. Akan dicoba lagi begitu Anda kembali online.",
  goneTitle: "Tidak ditemukan",
  gone: "Mungkin sudah dihapus, atau milik organisasi lain.",
  deniedTitle: "Hanya admin yang bisa membuka halaman ini",
  denied: "Hubungi admin jika Anda perlu akses.",
  failedTitle: "Gagal memuat",
  failed: "Tidak ada yang hilang. Tunggu sebentar, lalu coba lagi. Jika terus terjadi, kirim id permintaan di bawah ke pengelola server.",
  pageFailed: "Terjadi masalah di halaman ini. Muat ulang halamannya. Jika terus terjadi, beri tahu pengelola server.",
  request: "id permintaan",
  reference: "Permintaan",
};

/** @type {typeof import("../en/parts.js").table} */
export const table = { sortBy: "Urutkan menurut" };

/** @type {typeof import("../en/parts.js").templateForm} */
export const templateForm = {
  code: "Kode",
  header: "Header ",
  link: (/** @type {string} */ format) => `${format} (URL https)`,
  place: ["Lintang", "Bujur", "Tempat", "Alamat"],
  button: (/** @type {string} */ name) => `Akhiran tautan untuk “${name}”`,
  coupon: "Kode penawaran",
  ends: "Penawaran berakhir",
  card: (/** @type {number} */ i) => `Kartu ${i}: `,
  required: "Wajib diisi.",
  unsupported: "Template ini menampilkan produk. Kirim lewat API.",
};

/** @type {typeof import("../en/parts.js").templatePreview} */
export const templatePreview = {
  name: "Pratinjau",
  cards: "Kartu",
  more: "Lihat semua opsi",
  code: "*{{1}}* adalah kode verifikasi Anda.",
  secret: " Demi keamanan, jangan bagikan kode ini.",
  expires: (/** @type {number} */ n) => plural(n, { other: `Kode ini kedaluwarsa dalam ${n} menit.` }),
  offerEnds: "Berakhir pada waktu yang Anda tentukan",
  empty: "Pratinjau pesan Anda",
  media: { IMAGE: "Gambar", VIDEO: "Video", GIF: "GIF", DOCUMENT: "Dokumen", LOCATION: "Lokasi", PRODUCT: "Produk" },
  buttons: { COPY_CODE: "Salin kode penawaran", OTP: "Salin kode", REQUEST_CONTACT_INFO: "Bagikan info kontak" },
};
