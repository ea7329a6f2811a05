import { count, plural } from "../../format.js";

/** @type {typeof import("../en/thread.js").thread} */
export const thread = {
  region: (/** @type {string} */ name) => "Conversación con " + name,
  log: "Mensajes",
  newest: "Mensajes más recientes",
  fresh: (/** @type {number} */ n) => plural(n, { one: `${count(n)} nuevo`, other: `${count(n)} nuevos` }),
};

/** @type {typeof import("../en/thread.js").head} */
export const head = {
  back: "Volver",
  details: "Detalles",
  resolve: "Resolver",
  reopen: "Reabrir",
  more: "Más acciones",
  snooze: "Posponer",
  wake: "Dejar de posponer",
  snoozed: (/** @type {string} */ until) => "Pospuesta hasta " + until,
  unread: "Marcar como no leída",
  goOn: "Pasar a la siguiente",
  takeOver: "Tomar",
  handOver: "Transferir",
  held: (/** @type {string} */ who) => "Atiende: " + who,
  you: "tú",
  bot: (/** @type {string} */ name) => `bot ${name}`,
  phoneApp: "la app del teléfono",
  looking: (/** @type {string} */ names, /** @type {number} */ n) =>
    plural(n, { one: `${names} también está viendo esta conversación`, other: `${names} también están viendo esta conversación` }),
  typing: (/** @type {string} */ names, /** @type {number} */ n) =>
    plural(n, { one: `${names} está escribiendo`, other: `${names} están escribiendo` }),
};

/** @type {typeof import("../en/thread.js").message} */
export const message = {
  reply: "Responder",
  react: "Reaccionar",
  more: "Más",
  trace: "Ver seguimiento",
  copy: "Copiar texto",
  cancel: "Cancelar envío",
  again: "Enviar de nuevo",
  edit: "Editar",
  drop: "Quitar",
  edited: "Editado",
  deleted: "Eliminado por quien lo envió",
  you: "Tú",
  sources: { api: "API", app: "App del teléfono", broadcast: "Campaña", gateway: "API", rule: "Regla" },
  notSent: "No enviado: ",
  unread: "Mensajes no leídos",
  quoted: "Mensaje original",
  missing: "Un mensaje anterior",
  reactedBy: (/** @type {string} */ emoji, /** @type {string} */ who) => `${who}: reacción ${emoji}`,
};

/** Failures in words, by their code. @type {typeof import("../en/thread.js").failures} */
export const failures = {
  outside_24h_window: "pasaron más de 24 horas desde que esta persona escribió. Envía una plantilla",
  marketing_opted_out: "esta persona dejó de recibir marketing",
  marketing_blocked_by_user: "esta persona bloqueó los mensajes de marketing",
  recipient_unavailable: "este número no está disponible",
  unsupported_message_type: "la app de esta persona no puede mostrar este tipo de mensaje",
  account_restricted: "el proveedor restringió tu número",
  account_locked: "el proveedor bloqueó tu número",
  conversation_held: "otra persona está atendiendo esta conversación",
  consent_required: "esta persona todavía no dio su consentimiento",
  customer_suspended: "el cliente de este número está suspendido",
  permission_revoked: "se revocó el permiso para enviar desde este número",
  auth_expired: "venció el acceso al proveedor. Un administrador tiene que conectar el número de nuevo",
  app_rate_limited: "demasiados mensajes a la vez. Inténtalo más tarde",
  account_rate_limited: "demasiados mensajes desde este número. Inténtalo más tarde",
  template_not_found: "la plantilla no existe en este idioma",
  template_paused: "el proveedor pausó esta plantilla",
  template_policy_violation: "la plantilla no cumple las políticas del proveedor",
  media_upload_failed: "no se pudo subir el archivo al proveedor",
  media_download_failed: "no se pudo descargar el archivo",
  undeliverable: "no se pudo entregar",
  policy_violation: "no cumple las políticas del proveedor",
  subscription_inactive: "tu suscripción no está activa",
  message_cancelled: "se canceló el envío",
  131056: "demasiados mensajes a esta persona. Inténtalo más tarde", // by the provider's number
};

/** @type {typeof import("../en/thread.js").content} */
export const content = {
  kinds: {
    image: "Foto",
    video: "Video",
    audio: "Audio",
    sticker: "Sticker",
    document: "Documento",
    location: "Ubicación",
    contacts: "Contacto",
    template: "Plantilla",
    order: "Pedido",
    interactive: "Mensaje con botones",
    other: "Enviado por otro programa. Este mensaje no se puede mostrar aquí.",
    unsupported: "Este tipo de mensaje no se admite. Pide que lo envíen de otra forma.",
  },
  voice: "Mensaje de voz",
  reacted: (/** @type {string} */ emoji) => `Reaccionó con ${emoji}`,
  tookBack: "Quitó una reacción",
  loading: "Descargando el archivo…",
  lost: "No se pudo descargar el archivo.",
  gone: "Este archivo ya no está guardado.",
  linked: "Enviado como enlace",
  shareContact: "Compartir datos de contacto",
  items: (/** @type {number} */ n) =>
    plural(n, { one: `${count(n)} artículo`, many: `${count(n)} de artículos`, other: `${count(n)} artículos` }),
  templateOf: (/** @type {string} */ name) => `Plantilla ${name}`,
};

/** @type {typeof import("../en/thread.js").changes} */
export const changes = {
  by: (/** @type {string} */ what, /** @type {string} */ who) => (who ? `${what} por ${who}` : what),
  assigned: (/** @type {string} */ who) => "Asignada a " + who,
  unassigned: "Asignación quitada",
  byTurn: (/** @type {string} */ who) => `Asignada automáticamente a ${who}`,
  labeled: (/** @type {string} */ label) => `Etiqueta ${label} agregada`,
  unlabeled: (/** @type {string} */ label) => `Etiqueta ${label} quitada`,
  resolved: "Resuelta",
  reopened: "Reabierta",
  answered: "Reabierta por un mensaje nuevo",
  pending: "Marcada como pendiente",
  snoozed: (/** @type {string} */ until) => "Pospuesta hasta " + until,
  woken: "Devuelta a la bandeja",
  handedOver: (/** @type {string} */ who) => "Transferida a " + who,
  released: "Liberada",
  rule: "una regla",
  phoneApp: "la app del teléfono",
  api: "la API",
};

/** @type {typeof import("../en/thread.js").notes} */
export const notes = {
  note: "Nota",
  by: (/** @type {string} */ who) => "Nota de " + who,
  own: "Tu nota",
  key: "API",
  edited: "editada",
  more: "Más",
  edit: "Editar nota",
  save: "Guardar",
  delete: "Eliminar nota",
  deleteTitle: "¿Eliminar esta nota?",
  deleteBody: "Se elimina para todo el equipo y no se puede deshacer.",
};

/** @type {typeof import("../en/thread.js").pictures} */
export const pictures = {
  title: "Imagen",
  previous: "Imagen anterior",
  next: "Imagen siguiente",
  zoomIn: "Acercar",
  zoomOut: "Alejar",
  download: "Descargar",
};

/** @type {typeof import("../en/thread.js").player} */
export const player = {
  play: "Reproducir",
  pause: "Pausar",
  position: "Posición",
  at: (/** @type {string} */ now, /** @type {string} */ length) => `${now} de ${length}`,
  speed: (/** @type {string} */ factor) => `Velocidad ${factor}`,
  broken: "Este navegador no puede reproducirlo.",
  download: "Descargar",
};

/** @type {typeof import("../en/thread.js").reactions} */
export const reactions = { emoji: "Emoji", react: "Reaccionar" };
