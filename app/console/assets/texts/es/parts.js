import { count, plural } from "../../format.js";

/** @type {typeof import("../en/parts.js").server} */
export const server = {
  network: "Sin conexión con el servidor.",
  unreadable: "El servidor envió una respuesta que no se pudo leer.",
};

/** States of anything, as the API names them, in words. @type {typeof import("../en/parts.js").words} */
export const words = {
  active: "activo",
  all: "todos",
  approved: "aprobada",
  archived: "archivado",
  cancelled: "cancelada",
  completed: "completada",
  connected: "conectado",
  consumed: "usado",
  dead: "detenida",
  degraded: "con problemas",
  deleted: "eliminado",
  delivered: "entregado",
  disabled: "desactivado",
  disconnected: "desconectado",
  expired: "vencido",
  failed: "con error",
  flagged: "marcada",
  in_appeal: "en apelación",
  invited: "invitación enviada",
  limit_exceeded: "límite superado",
  no_sign_in: "sin acceso",
  onboarding: "en configuración",
  open: "abierto",
  paused: "en pausa",
  pending: "pendiente",
  pending_deletion: "eliminación pendiente",
  preparing: "en preparación",
  queued: "en cola",
  read: "leído",
  received: "recibido",
  rejected: "rechazada",
  revoked: "revocado",
  running: "en curso",
  scheduled: "programada",
  sent: "enviado",
  skipped: "no enviado",
  succeeded: "con éxito",
  suspended: "suspendido",
  waiting: "en espera",
};

/** @type {typeof import("../en/parts.js").copying} */
export const copying = {
  copy: "Copiar",
  copyOf: (/** @type {string} */ name) => `Copiar ${name}`,
  copied: "Copiado",
  select: "Presiona Ctrl-C para copiar",
};

export const guide = /** @type {string} */ ("Guía");

/** @type {typeof import("../en/parts.js").dialog} */
export const dialog = {
  close: "Cerrar",
  cancel: "Cancelar",
  busy: "Un momento…",
  done: "Listo",
  type: (/** @type {string} */ word) => `Escribe “${word}” para confirmar`,
};

/** @type {typeof import("../en/parts.js").form} */
export const form = { cancel: "Cancelar", saving: "Guardando…", required: "Completa este campo.", optional: "opcional" };

/** What the server says is wrong with a field, in English. @type {typeof import("../en/parts.js").problems} */
export const problems = { of: (/** @type {string} */ why) => `Revisa este campo: ${why}` };

/** @type {typeof import("../en/parts.js").headerFile} */
export const headerFile = {
  choose: { image: "Elegir imagen", video: "Elegir video", document: "Elegir documento" },
  other: "Elegir archivo",
  upload: "Subir archivo",
};

/** @type {typeof import("../en/parts.js").interactive} */
export const interactive = {
  buttons: ["Botón 1", "Botón 2", "Botón 3"],
  open: "Botón que abre la lista",
  rows: "Opciones",
  rowsHint: "Una por línea, hasta 10. Para agregar una descripción, escríbela después de un |.",
  tooMany: "Opciones: 10 como máximo.",
  tooLong: "Opciones: hasta 24 caracteres cada una, y 72 en la descripción.",
};

/** @type {typeof import("../en/parts.js").lists} */
export const lists = {
  more: "Mostrar más",
  first: "Primera página",
  all: "Todos",
  fresh: (/** @type {number} */ n) => plural(n, { one: `${count(n)} elemento nuevo`, other: `${count(n)} elementos nuevos` }),
  looking: "Buscando más atrás…",
  goOn: "Seguir buscando",
  soFar: "Sin resultados hasta ahora. Todavía hay más por revisar.",
  noNumber: "No hay ningún número conectado",
  noNumberBody: "Conecta un número para empezar.",
  numbers: "Números",
};

/** @type {typeof import("../en/parts.js").notices} */
export const notices = { region: "Avisos de confab", dismiss: "Descartar", failed: "Algo salió mal en esta página." };

/** @type {typeof import("../en/parts.js").connection} */
export const connection = { lost: "Reconectando… tu texto está a salvo", now: "Intentar ahora" };

/** @type {typeof import("../en/parts.js").period} */
export const period = {
  period: "Período",
  last30: "Últimos 30 días",
  periods: { week: "Últimos 7 días", month: "Este mes", before: "Mes pasado", quarter: "Últimos 90 días" },
};

/** @type {typeof import("../en/parts.js").plot} */
export const plot = { table: "Ver como tabla", day: "Día", name: "Nombre", before: "Antes", none: "—" };

/** @type {typeof import("../en/parts.js").states} */
export const states = {
  again: "Intentar de nuevo",
  loading: "Cargando",
  lostTitle: "Sin conexión con el servidor",
  lost: "No se cambió nada. Lo intentaremos de nuevo en cuanto vuelva la conexión.",
  goneTitle: "No encontrado",
  gone: "Quizás se eliminó o pertenece a otra organización.",
  deniedTitle: "Solo los administradores pueden abrir esta página",
  denied: "Si necesitas acceso, pídeselo a un administrador.",
  failedTitle: "No se pudo cargar",
  failed: "No se perdió nada. Inténtalo de nuevo en un momento. Si sigue igual, envía este ID de solicitud a quien administra el servidor.",
  pageFailed: "Algo salió mal en esta página. Vuelve a cargarla. Si sigue igual, avisa a quien administra el servidor.",
  request: "ID de la solicitud",
  reference: "Solicitud",
};

/** @type {typeof import("../en/parts.js").table} */
export const table = { sortBy: "Ordenar por" };

/** @type {typeof import("../en/parts.js").templateForm} */
export const templateForm = {
  code: "Código",
  header: "Encabezado ",
  link: (/** @type {string} */ format) => `${format} (URL https)`,
  place: ["Latitud", "Longitud", "Lugar", "Dirección"],
  button: (/** @type {string} */ name) => `Final del enlace de “${name}”`,
  coupon: "Código de la oferta",
  ends: "Fin de la oferta",
  card: (/** @type {number} */ i) => `Tarjeta ${i}: `,
  required: "Completa este campo.",
  unsupported: "Esta plantilla muestra un producto. Envíala por la API.",
};

/** @type {typeof import("../en/parts.js").templatePreview} */
export const templatePreview = {
  name: "Vista previa",
  cards: "Tarjetas",
  more: "Ver todas las opciones",
  code: "*{{1}}* es tu código de verificación.",
  secret: " Por tu seguridad, no lo compartas.",
  expires: (/** @type {number} */ n) =>
    plural(n, { one: `Este código vence en ${n} minuto.`, other: `Este código vence en ${n} minutos.` }),
  offerEnds: "Termina a la hora que definas",
  empty: "Aquí verás tu mensaje",
  media: { IMAGE: "Imagen", VIDEO: "Video", GIF: "GIF", DOCUMENT: "Documento", LOCATION: "Ubicación", PRODUCT: "Producto" },
  buttons: { COPY_CODE: "Copiar código de la oferta", OTP: "Copiar código", REQUEST_CONTACT_INFO: "Compartir datos de contacto" },
};
