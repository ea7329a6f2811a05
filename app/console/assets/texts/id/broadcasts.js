import { count, plural } from "../../format.js";

/** @type {typeof import("../en/broadcasts.js").broadcasts} */
export const broadcasts = {
  title: "Siaran",
  lead: "Kirim satu template ke banyak orang. Balasan tim Anda selalu didahulukan.",
  newOne: "Siaran baru",
  status: "Status",
  columns: ["Nama", "Status", "Progres", "Template", "Waktu"],
  emptyTitle: "Belum ada siaran",
  emptyBody: "Pilih template yang sudah disetujui dan sebuah label untuk mengirim pesan ke semua orang dengan label itu.",
  none: "Tidak ada siaran yang cocok.",
  id: "id siaran",
  of: (/** @type {number} */ done, /** @type {number} */ all) => `${count(done)} dari ${count(all)}`,
  progress: "Progres",
  moves: { pause: "Jeda", resume: "Lanjutkan" },
  cancel: "Batalkan",
  cancelTitle: (/** @type {string} */ name) => `Batalkan ${name}?`,
  cancelBody: (/** @type {number} */ n) => plural(n, {
    other: `${count(n)} orang yang masih menunggu tidak akan menerimanya. Pesan yang sudah terkirim tidak bisa ditarik.`,
  }),
  cancelAction: "Batalkan siaran",
  starts: "Mulai ",
  started: "Dimulai ",
  ended: "Selesai ",
  rate: (/** @type {number} */ n) => `${count(n)} per detik`,
  left: (/** @type {string} */ words) => `sekitar ${words} lagi`,
  paused: {
    requested: "Dijeda secara manual. Tidak ada yang dikirim sampai seseorang melanjutkannya.",
    restored: "Dijeda karena server dipulihkan dari cadangan. Periksa apa saja yang sudah terkirim sebelum melanjutkan.",
    quota_exceeded: "Dijeda: jatah pesan paket Anda bulan ini sudah habis.",
    account_rate_limited: "Dijeda: penyedia meminta pengiriman diperlambat. Siaran akan lanjut sendiri.",
  },
  stopped: (/** @type {string} */ code) => `Dijeda: nomor ini sedang tidak bisa mengirim (${code}). Atasi dulu, lalu lanjutkan.`,
  funnel: "Hasil",
  counts: { sent: "Terkirim", delivered: "Tersampaikan", read: "Dibaca", failed: "Gagal", skipped: "Dilewati", waiting: "Menunggu" },
  replies: "Balasan",
  repliesLead: "Orang yang membalas atau mengetuk tombol dalam 3 hari.",
  replied: "Membalas",
  cost: "Biaya",
  billable: (/** @type {number} */ n) => plural(n, { other: `${count(n)} pesan berbayar` }),
  estimated: (/** @type {string} */ billable, /** @type {string} */ amount) => `${billable}, perkiraan ${amount}`,
  tapped: (/** @type {string} */ button) => `Mengetuk “${button}”`,
  failed: "Kegagalan menurut alasan",
  skipped: "Dilewati menurut alasan",
  failure: (/** @type {string} */ words, /** @type {number} */ code) => `${words} (${code})`,
  reasonColumns: ["Alasan", "Orang"],
  recipients: "Penerima",
  recipient: ["Penerima", "Status", "Alasan"],
  noRecipients: "Tidak ada penerima yang cocok.",
  export: "Ekspor",
  message: "Pesan",
};

/** @type {typeof import("../en/broadcasts.js").newBroadcast} */
export const newBroadcast = {
  title: "Siaran baru",
  broadcasts: "Siaran",
  steps: ["Template", "Penerima", "Waktu", "Periksa"],
  name: { label: "Nama", hint: "Hanya terlihat oleh tim Anda." },
  template: "Template",
  choose: "Pilih salah satu",
  fieldsHint:
    "Gunakan {{first_name}}, {{name}}, {{email}}, data tambahan, atau kolom dari file Anda, dengan nilai cadangan: {{first_name|Kak}}.",
  noTemplates: "Belum ada template yang disetujui",
  noTemplatesBody: "Siaran memerlukan template yang sudah disetujui penyedia.",
  newTemplate: "Template baru",
  next: "Lanjut",
  back: "Kembali",
  noName: "Isi nama siaran.",
  noTemplate: "Pilih template.",
  when: "Waktu",
  times: { now: "Sekarang", later: "Nanti" },
  at: "Waktu",
  now: "Begitu Anda memulainya",
  noTime: "Pilih waktu.",
  past: "Pilih waktu yang belum lewat.",
  test: "Uji coba",
  testLead: "Kirim dulu ke ponsel Anda sendiri. Isian tampil dengan nilai cadangan atau namanya.",
  to: "Nomor telepon",
  sendTest: "Kirim uji coba",
  tested: (/** @type {string} */ to) => `Dikirim ke ${to}`,
  start: "Mulai siaran",
  schedule: "Jadwalkan siaran",
  busy: "Sebentar…",
  nobody: "Tidak ada yang akan menerima siaran ini. Ubah penerima atau pesannya.",
  made: "Siaran dibuat",
};

/** @type {typeof import("../en/broadcasts.js").audience} */
export const audience = {
  kind: "Kepada",
  kinds: {
    label: "Semua orang dengan label tertentu",
    file: {
      label: "Baris dari file CSV",
      hint: "Satu kolom berisi nomor telepon. Kolom lain bisa mengisi pesan.",
    },
    numbers: { label: "Nomor-nomor ini", hint: "Satu per baris, maksimal 10.000." },
  },
  label: "Label",
  choose: "Pilih salah satu",
  file: "File CSV",
  numbers: "Nomor",
  column: "Tidak ada kolom bernama “phone number” di file ini. Ganti nama kolom yang berisi nomor telepon.",
  bad: (/** @type {string} */ line) => `“${line}” bukan nomor telepon.`,
  none: { label: "Pilih label.", file: "Pilih file.", numbers: "Isi setidaknya satu nomor." },
  counting: "Memeriksa penerima…",
  noRecipients: {
    label: "Tidak ada kontak dengan label ini. Label pada chat tidak dihitung.",
    file: "Tidak ada penerima di file ini.",
    numbers: "Isi setidaknya satu nomor.",
  },
  labelled: (/** @type {string} */ name) => `Semua orang dengan label ${name}`,
  listed: (/** @type {number} */ n) => plural(n, { other: `${count(n)} nomor yang Anda isi` }),
};

/** @type {typeof import("../en/broadcasts.js").forecast} */
export const forecast = {
  reasons: {
    marketing_opted_out: "berhenti menerima pesan pemasaran",
    consent_required: "belum setuju menerima pesan",
    missing_parameter: "tidak punya nilai untuk isian dalam pesan",
    invalid_parameter: "punya nilai yang tidak bisa dikirim: baris baru, tab, atau banyak spasi",
    invalid_phone_number: "tidak punya nomor telepon yang valid",
    duplicate: "sudah tercakup lewat nomor lain",
    contact_deleted: "sudah dihapus",
    broadcast_cancelled: "belum dikirimi saat siaran dibatalkan",
  },
  fallback: "Tambahkan nilai cadangan pada isian, misalnya {{name|Kak}}, agar semua orang menerimanya.",
  people: (/** @type {number} */ n) => plural(n, { other: `${count(n)} orang` }),
  atLeast: (/** @type {number} */ n) => plural(n, { other: `Lebih dari ${count(n)} orang` }),
  skippedFor: (/** @type {number} */ n, /** @type {string} */ reason) => `${count(n)} orang ${reason}`,
  skipped: "Akan dilewati:",
  repeated: (/** @type {number} */ n) => `${count(n)} tercantum lebih dari sekali, tetapi hanya dikirimi sekali`,
  capped: (/** @type {number} */ n) => `Hanya ${count(n)} pertama yang diperiksa.`,
};

/** @type {typeof import("../en/broadcasts.js").review} */
export const review = {
  facts: ["Nama", "Dari", "Template", "Kepada", "Waktu"],
  change: "Ubah",
  changes: ["Ubah template", "Ubah penerima", "Ubah waktu"], // for those who hear which
  counting: "Memeriksa penerima…",
  all: (/** @type {number} */ n) => plural(n, { other: `${count(n)} orang akan menerimanya` }),
  some: (/** @type {number} */ n, /** @type {number} */ total) =>
    plural(total, { other: `${count(n)} dari ${count(total)} orang akan menerimanya` }),
  capped: (/** @type {number} */ n) => `Hanya ${count(n)} pertama yang diperiksa. Aturan yang sama berlaku untuk sisanya.`,
  paused: {
    account_rate_limited: "Penyedia meminta nomor ini memperlambat pengiriman. Siaran akan menunggu, lalu mulai sendiri.",
    quota_exceeded: "Jatah pesan paket Anda bulan ini sudah habis. Siaran akan langsung dijeda.",
  },
  stopped: (/** @type {string} */ code) => `Nomor ini sedang tidak bisa mengirim (${code}). Siaran akan langsung dijeda.`,
  quota: (/** @type {number} */ n) => plural(n, {
    other: `Sisa jatah paket Anda bulan ini ${count(n)} pesan. Setelah itu siaran akan dijeda.`,
  }),
  cost: (/** @type {string} */ amount) => `Perkiraan biaya: ${amount}`,
  costHint: (/** @type {number} */ n) => plural(n, {
    other: `Jika penyedia menagih seluruh ${count(n)} pesan. Yang berlaku adalah tagihannya.`,
  }),
  noCost: "Perkiraan biaya: belum diketahui",
  noRates: "Belum ada tarif untuk pesan ini.",
  first: "Yang akan diterima",
  firstLead: (/** @type {number} */ n) => plural(n, { other: `Pesan seperti yang akan dilihat ${count(n)} penerima pertama.` }),
};
