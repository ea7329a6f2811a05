import { count, plural } from "../../format.js";

/** @type {typeof import("../en/thread.js").thread} */
export const thread = {
  region: (/** @type {string} */ name) => "Chat dengan " + name,
  log: "Pesan",
  newest: "Pesan terbaru",
  fresh: (/** @type {number} */ n) => count(n) + " baru",
};

/** @type {typeof import("../en/thread.js").head} */
export const head = {
  back: "Kembali",
  details: "Detail",
  resolve: "Selesaikan",
  reopen: "Buka lagi",
  more: "Tindakan lainnya",
  snooze: "Tunda",
  wake: "Akhiri penundaan",
  snoozed: (/** @type {string} */ until) => "Ditunda sampai " + until,
  unread: "Tandai belum dibaca",
  goOn: "Lanjut ke chat berikutnya",
  takeOver: "Ambil alih",
  handOver: "Serahkan",
  held: (/** @type {string} */ who) => "Dipegang oleh " + who,
  you: "Anda",
  bot: (/** @type {string} */ name) => `bot ${name}`,
  phoneApp: "aplikasi ponsel",
  looking: (/** @type {string} */ names, /** @type {number} */ n) => plural(n, { other: `${names} juga sedang melihat chat ini` }),
  typing: (/** @type {string} */ names, /** @type {number} */ n) => plural(n, { other: `${names} sedang mengetik` }),
};

/** @type {typeof import("../en/thread.js").message} */
export const message = {
  reply: "Balas",
  react: "Beri reaksi",
  more: "Lainnya",
  trace: "Lacak",
  copy: "Salin teks",
  cancel: "Batalkan pengiriman",
  again: "Kirim lagi",
  edit: "Edit",
  drop: "Hapus",
  edited: "Diedit",
  deleted: "Dihapus oleh pengirim",
  you: "Anda",
  sources: { api: "API", app: "Aplikasi ponsel", broadcast: "Siaran", gateway: "API", rule: "Aturan" },
  notSent: "Tidak terkirim: ",
  unread: "Pesan belum dibaca",
  quoted: "Pesan asli",
  missing: "Pesan sebelumnya",
  reactedBy: (/** @type {string} */ emoji, /** @type {string} */ who) => `${who} memberi reaksi ${emoji}`,
};

/** Failures in words, by their code. @type {typeof import("../en/thread.js").failures} */
export const failures = {
  outside_24h_window: "sudah lewat 24 jam sejak pesan terakhir orang ini. Kirim template saja",
  marketing_opted_out: "orang ini berhenti menerima pesan pemasaran",
  marketing_blocked_by_user: "orang ini memblokir pesan pemasaran",
  recipient_unavailable: "nomor ini tidak bisa dihubungi",
  unsupported_message_type: "aplikasi orang ini tidak bisa menampilkan jenis pesan ini",
  account_restricted: "nomor Anda dibatasi oleh penyedia",
  account_locked: "nomor Anda dikunci oleh penyedia",
  conversation_held: "chat ini sedang dipegang orang lain",
  consent_required: "orang ini belum setuju menerima pesan",
  customer_suspended: "klien pemilik nomor ini sedang ditangguhkan",
  permission_revoked: "izin mengirim dari nomor ini sudah dicabut",
  auth_expired: "akses ke penyedia sudah kedaluwarsa. Admin perlu menghubungkan nomor ini lagi",
  app_rate_limited: "terlalu banyak pesan sekaligus. Coba lagi nanti",
  account_rate_limited: "terlalu banyak pesan dari nomor ini. Coba lagi nanti",
  template_not_found: "template ini tidak ada dalam bahasa tersebut",
  template_paused: "template ini dijeda oleh penyedia",
  template_policy_violation: "template ini melanggar kebijakan penyedia",
  media_upload_failed: "file gagal diunggah ke penyedia",
  media_download_failed: "file gagal diunduh",
  undeliverable: "pesan tidak bisa disampaikan",
  policy_violation: "pesan melanggar kebijakan penyedia",
  subscription_inactive: "langganan Anda tidak aktif",
  message_cancelled: "pesan dibatalkan",
  131056: "terlalu banyak pesan ke orang ini. Coba lagi nanti", // by the provider's number
};

/** @type {typeof import("../en/thread.js").content} */
export const content = {
  kinds: {
    image: "Foto",
    video: "Video",
    audio: "Audio",
    sticker: "Stiker",
    document: "Dokumen",
    location: "Lokasi",
    contacts: "Kontak",
    template: "Template",
    order: "Pesanan",
    interactive: "Pesan dengan tombol",
    other: "Dikirim oleh program lain. Pesan ini tidak bisa ditampilkan di sini.",
    unsupported: "Jenis pesan ini tidak didukung. Minta orang ini mengirimnya dengan cara lain.",
  },
  voice: "Pesan suara",
  reacted: (/** @type {string} */ emoji) => `Memberi reaksi ${emoji}`,
  tookBack: "Menghapus reaksi",
  loading: "Mengunduh file…",
  lost: "File gagal diunduh.",
  gone: "File ini sudah tidak tersimpan.",
  linked: "Dikirim sebagai tautan",
  shareContact: "Bagikan info kontak",
  items: (/** @type {number} */ n) => plural(n, { other: `${count(n)} item` }),
  templateOf: (/** @type {string} */ name) => `Template ${name}`,
};

/** @type {typeof import("../en/thread.js").changes} */
export const changes = {
  by: (/** @type {string} */ what, /** @type {string} */ who) => (who ? `${what} oleh ${who}` : what),
  assigned: (/** @type {string} */ who) => "Ditugaskan ke " + who,
  unassigned: "Penugasan dicabut",
  byTurn: (/** @type {string} */ who) => `Ditugaskan otomatis ke ${who}`,
  labeled: (/** @type {string} */ label) => "Diberi label " + label,
  unlabeled: (/** @type {string} */ label) => `Label ${label} dilepas`,
  resolved: "Diselesaikan",
  reopened: "Dibuka lagi",
  answered: "Dibuka lagi karena ada pesan baru",
  pending: "Ditandai pending",
  snoozed: (/** @type {string} */ until) => "Ditunda sampai " + until,
  woken: "Penundaan diakhiri",
  handedOver: (/** @type {string} */ who) => "Diserahkan ke " + who,
  released: "Chat dilepas",
  rule: "aturan",
  phoneApp: "aplikasi ponsel",
  api: "API",
};

/** @type {typeof import("../en/thread.js").notes} */
export const notes = {
  note: "Catatan",
  by: (/** @type {string} */ who) => "Catatan dari " + who,
  own: "Catatan Anda",
  key: "API",
  edited: "diedit",
  more: "Lainnya",
  edit: "Edit catatan",
  save: "Simpan",
  delete: "Hapus catatan",
  deleteTitle: "Hapus catatan ini?",
  deleteBody: "Catatan ini dihapus untuk seluruh tim. Tindakan ini tidak bisa dibatalkan.",
};

/** @type {typeof import("../en/thread.js").pictures} */
export const pictures = {
  title: "Gambar",
  previous: "Gambar sebelumnya",
  next: "Gambar berikutnya",
  zoomIn: "Perbesar",
  zoomOut: "Perkecil",
  download: "Unduh",
};

/** @type {typeof import("../en/thread.js").player} */
export const player = {
  play: "Putar",
  pause: "Jeda",
  position: "Posisi",
  at: (/** @type {string} */ now, /** @type {string} */ length) => `${now} dari ${length}`,
  speed: (/** @type {string} */ factor) => `Kecepatan ${factor}`,
  broken: "Tidak bisa diputar di browser ini.",
  download: "Unduh",
};

/** @type {typeof import("../en/thread.js").reactions} */
export const reactions = { emoji: "Emoji", react: "Beri reaksi" };
