import { count, plural } from "../../format.js";

/** @type {typeof import("../en/composer.js").composer} */
export const composer = {
  message: "Mensaje",
  placeholder: (/** @type {string} */ name) => "Escribe a " + name,
  send: "Enviar",
  sendAndResolve: "Enviar y resolver",
  notResolved: "No se resolvió: el mensaje todavía no se envió.",
  attach: "Adjuntar archivo",
  quick: "Respuestas rápidas",
  templates: "Plantillas",
  emoji: "Emoji",
  buttons: "Botones",
  list: "Lista",
  notBoth: "Un mensaje no puede llevar archivos y botones a la vez. Quita unos u otros.",
  later: "Enviar más tarde",
  replyingTo: (/** @type {string} */ who) => `Respuesta a ${who}`,
  reply: "Respuesta",
  note: "Nota",
  modes: "Escribir",
  earlier: "Un mensaje anterior",
  cancelReply: "Cancelar respuesta",
  cancelTime: "Enviar ahora",
  you: "Tú",
  left: (/** @type {string} */ span) => span.replace(/^\d+/, "$& ") + " para responder",
  never: "Esta persona todavía no ha escrito. Solo puedes enviar una plantilla.",
  closed: "Pasaron más de 24 horas desde que esta persona escribió. Ahora solo puedes enviar una plantilla.",
  choose: "Elegir una plantilla",
  kept: "Tu borrador está guardado: ",
  notSent: "No enviado: ",
  tooLong: (/** @type {number} */ n) =>
    plural(n, { one: `${count(n)} carácter por encima del límite`, other: `${count(n)} caracteres por encima del límite` }),
  hint: "respuestas rápidas",
  keys: "todas las teclas",
};

/** @type {typeof import("../en/composer.js").noteForm} */
export const noteForm = {
  note: "Nota",
  placeholder: "Escribe una nota para tu equipo",
  add: "Agregar nota",
  mention: "Mencionar a alguien",
  people: "Personas",
  hint: "Solo tu equipo ve las notas.",
  tooLong: (/** @type {number} */ n) =>
    plural(n, { one: `${count(n)} carácter por encima del límite`, other: `${count(n)} caracteres por encima del límite` }),
};

/** @type {typeof import("../en/composer.js").attachments} */
export const attachments = {
  files: "Archivos para enviar",
  remove: (/** @type {string} */ name) => "Quitar " + name,
  again: "Intentar de nuevo",
  lost: "Sin conexión con el servidor.",
  uploading: (/** @type {string} */ name) => "Subiendo " + name,
  drop: "Suelta los archivos para enviarlos",
};

/** @type {typeof import("../en/composer.js").interactive} */
export const interactive = {
  buttons: "Botones",
  list: "Lista",
  add: "Agregar al mensaje",
  removeButtons: "Quitar botones",
  removeList: "Quitar lista",
};

/** @type {typeof import("../en/composer.js").quickReplies} */
export const quickReplies = {
  list: "Respuestas rápidas",
  none: "Ninguna respuesta rápida coincide.",
  empty: "Todavía no hay respuestas rápidas.",
  make: "Crear una",
};

/** @type {typeof import("../en/composer.js").templates} */
export const templates = {
  choose: "Elegir una plantilla",
  search: "Buscar plantillas",
  list: "Plantillas",
  none: "No hay plantillas aprobadas",
  noneBody: "Para enviar una plantilla, primero tiene que estar aprobada.",
  make: "Plantillas",
  back: "Elegir otra",
  send: "Enviar plantilla",
  file: "Elegir archivo",
};

/** @type {typeof import("../en/composer.js").sendLater} */
export const sendLater = {
  title: "Enviar más tarde",
  at: "Cuándo",
  send: "Programar",
  hint: "En tu zona horaria, hasta 90 días por adelantado.",
  wrong: "Elige una fecha en los próximos 90 días.",
  hour: "En una hora",
  tomorrow: "Mañana a las 9",
  monday: "Lunes a las 9",
};

/** @type {typeof import("../en/composer.js").sending} */
export const sending = {
  off: "Este número no puede enviar en este momento. ",
  reasons: {
    organization_suspended: "Tu organización está suspendida. Consulta a quien administra el servidor.",
    subscription_inactive: "Tu suscripción no está activa. Consulta a quien administra el servidor.",
    quota_exceeded: "Ya usaste todos los mensajes de tu plan para este mes.",
    customer_suspended: "Su cliente está suspendido o archivado.",
    account_restricted: "El proveedor lo restringió.",
    whatsapp_number_not_verified: "El proveedor todavía no lo aprobó.",
  },
  see: "Ver por qué",
  customer: "Abrir el cliente",
};

/** @type {typeof import("../en/composer.js").outbox} */
export const outbox = { unknown: "Quizás este mensaje ya se envió. Confírmalo con la persona antes de enviarlo de nuevo." };
