import { count, plural } from "../../format.js";

/** @type {typeof import("../en/broadcasts.js").broadcasts} */
export const broadcasts = {
  title: "Difusiones",
  lead: "Envía una plantilla a muchas personas. Las respuestas de tu equipo siempre salen primero.",
  newOne: "Nueva difusión",
  status: "Estado",
  columns: ["Nombre", "Estado", "Progreso", "Plantilla", "Cuándo"],
  emptyTitle: "Todavía no hay difusiones",
  emptyBody: "Elige una plantilla aprobada y una etiqueta para escribir a todas las personas que la tienen.",
  none: "Ninguna difusión coincide.",
  id: "ID de la difusión",
  of: (/** @type {number} */ done, /** @type {number} */ all) => `${count(done)} de ${count(all)}`,
  progress: "Progreso",
  moves: { pause: "Pausar", resume: "Reanudar" },
  cancel: "Cancelar",
  cancelTitle: (/** @type {string} */ name) => `¿Cancelar ${name}?`,
  cancelBody: (/** @type {number} */ n) => plural(n, {
    one: `${count(n)} persona en espera no recibirá el mensaje. Lo que ya se envió queda enviado.`,
    many: `${count(n)} de personas en espera no recibirán el mensaje. Lo que ya se envió queda enviado.`,
    other: `${count(n)} personas en espera no recibirán el mensaje. Lo que ya se envió queda enviado.`,
  }),
  cancelAction: "Cancelar difusión",
  starts: "Empieza: ",
  started: "Empezó: ",
  ended: "Terminó: ",
  rate: (/** @type {number} */ n) => `${count(n)} por segundo`,
  left: (/** @type {string} */ words) => `termina en ${words} aprox.`,
  paused: {
    requested: "Pausada manualmente. No se envía nada hasta que alguien la reanude.",
    restored: "En pausa porque el servidor se restauró desde una copia de seguridad. Revisa qué se envió antes de reanudarla.",
    quota_exceeded: "En pausa: ya usaste todos los mensajes de tu plan para este mes.",
    account_rate_limited: "En pausa: el proveedor pidió ir más despacio. Se reanuda sola.",
  },
  stopped: (/** @type {string} */ code) => `En pausa: este número no puede enviar en este momento (${code}). Corrígelo y reanúdala.`,
  funnel: "Resultados",
  counts: {
    sent: "Enviados",
    delivered: "Entregados",
    read: "Leídos",
    failed: "Con error",
    skipped: "No enviados",
    waiting: "En espera",
  },
  replies: "Respuestas",
  repliesLead: "Quienes respondieron o tocaron un botón en los 3 días siguientes.",
  replied: "Respondieron",
  cost: "Costo",
  billable: (/** @type {number} */ n) => plural(n, {
    one: `${count(n)} mensaje con cargo`,
    many: `${count(n)} de mensajes con cargo`,
    other: `${count(n)} mensajes con cargo`,
  }),
  estimated: (/** @type {string} */ billable, /** @type {string} */ amount) => `${billable}, costo estimado de ${amount}`,
  tapped: (/** @type {string} */ button) => `Tocaron “${button}”`,
  failed: "Errores por motivo",
  skipped: "No enviados, por motivo",
  failure: (/** @type {string} */ words, /** @type {number} */ code) => `${words} (${code})`,
  reasonColumns: ["Motivo", "Personas"],
  recipients: "Destinatarios",
  recipient: ["Destinatario", "Estado", "Motivo"],
  noRecipients: "Ningún destinatario coincide.",
  export: "Exportar",
  message: "Mensaje",
};

/** @type {typeof import("../en/broadcasts.js").newBroadcast} */
export const newBroadcast = {
  title: "Nueva difusión",
  broadcasts: "Difusiones",
  steps: ["Plantilla", "Público", "Cuándo", "Revisión"],
  name: { label: "Nombre", hint: "Solo lo ve tu equipo." },
  template: "Plantilla",
  choose: "Elige una",
  fieldsHint: "Usa {{first_name}}, {{name}}, {{email}}, otro campo o una columna del archivo. Texto alternativo: {{first_name|cliente}}.",
  noTemplates: "No hay plantillas aprobadas",
  noTemplatesBody: "Una difusión necesita una plantilla aprobada por el proveedor.",
  newTemplate: "Nueva plantilla",
  next: "Siguiente",
  back: "Atrás",
  noName: "Ingresa un nombre.",
  noTemplate: "Elige una plantilla.",
  when: "Cuándo",
  times: { now: "Ahora", later: "Más tarde" },
  at: "Fecha y hora",
  now: "En cuanto la inicies",
  noTime: "Elige fecha y hora.",
  past: "Elige una fecha futura.",
  test: "Prueba",
  testLead: "Envíala primero a tu teléfono. Los campos muestran su texto alternativo o su nombre.",
  to: "Número de teléfono",
  sendTest: "Enviar prueba",
  tested: (/** @type {string} */ to) => `Enviado a ${to}`,
  start: "Iniciar difusión",
  schedule: "Programar difusión",
  busy: "Un momento…",
  nobody: "Nadie recibiría este mensaje. Cambia el público o el mensaje.",
  made: "Difusión creada",
};

/** @type {typeof import("../en/broadcasts.js").audience} */
export const audience = {
  kind: "Para",
  kinds: {
    label: "Todas las personas con una etiqueta",
    file: {
      label: "Las líneas de un archivo CSV",
      hint: "Una columna tiene los números de teléfono. Las demás pueden completar el mensaje.",
    },
    numbers: { label: "Estos números", hint: "Uno por línea, hasta 10 mil." },
  },
  label: "Etiqueta",
  choose: "Elige una",
  file: "Archivo CSV",
  numbers: "Números",
  column: "Ninguna columna del archivo se llama “phone number”. Cambia el nombre de la que tiene los teléfonos.",
  bad: (/** @type {string} */ line) => `“${line}” no es un número de teléfono.`,
  none: { label: "Elige una etiqueta.", file: "Elige un archivo.", numbers: "Ingresa al menos un número." },
  counting: "Revisando los destinatarios…",
  noRecipients: {
    label: "Ningún contacto tiene esta etiqueta. Las etiquetas de conversaciones no cuentan.",
    file: "El archivo no tiene destinatarios.",
    numbers: "Ingresa al menos un número.",
  },
  labelled: (/** @type {string} */ name) => `Todas las personas con la etiqueta ${name}`,
  listed: (/** @type {number} */ n) =>
    plural(n, { one: `${count(n)} número que ingresaste`, other: `${count(n)} números que ingresaste` }),
};

/** @type {typeof import("../en/broadcasts.js").forecast} */
export const forecast = {
  /** Why people were skipped, after how many they are. */
  reasons: {
    marketing_opted_out: "sin marketing, a pedido de la persona",
    consent_required: "sin consentimiento",
    missing_parameter: "sin valor para un campo del mensaje",
    invalid_parameter: "con un valor que no se puede enviar: un salto de línea, una tabulación o muchos espacios",
    invalid_phone_number: "sin un número de teléfono válido",
    duplicate: "por recibirlo ya en otro número",
    contact_deleted: "por eliminación del contacto",
    broadcast_cancelled: "sin envío antes de la cancelación",
  },
  fallback: "Para llegar a todos, agrega un texto alternativo al campo, como {{name|cliente}}.",
  people: (/** @type {number} */ n) =>
    plural(n, { one: `${count(n)} persona`, many: `${count(n)} de personas`, other: `${count(n)} personas` }),
  atLeast: (/** @type {number} */ n) => plural(n, {
    one: `Más de ${count(n)} persona`,
    many: `Más de ${count(n)} de personas`,
    other: `Más de ${count(n)} personas`,
  }),
  skippedFor: (/** @type {number} */ n, /** @type {string} */ reason) => `${count(n)} ${reason}`,
  skipped: "Quedarán fuera:",
  repeated: (/** @type {number} */ n) => plural(n, {
    one: `${count(n)} repetido en la lista, con un solo envío`,
    other: `${count(n)} repetidos en la lista, con un solo envío para cada uno`,
  }),
  capped: (/** @type {number} */ n) => `Solo se revisaron los primeros ${count(n)}.`,
};

/** @type {typeof import("../en/broadcasts.js").review} */
export const review = {
  facts: ["Nombre", "Desde", "Plantilla", "Para", "Cuándo"],
  change: "Cambiar",
  changes: ["Cambiar plantilla", "Cambiar público", "Cambiar fecha"], // for those who hear which
  counting: "Revisando los destinatarios…",
  all: (/** @type {number} */ n) => plural(n, {
    one: `Lo recibirá ${count(n)} persona`,
    many: `Lo recibirán ${count(n)} de personas`,
    other: `Lo recibirán ${count(n)} personas`,
  }),
  some: (/** @type {number} */ n, /** @type {number} */ total) => plural(n, {
    one: `Lo recibirá ${count(n)} persona de ${count(total)}`,
    many: `Lo recibirán ${count(n)} de personas de ${count(total)}`,
    other: `Lo recibirán ${count(n)} personas de ${count(total)}`,
  }),
  capped: (/** @type {number} */ n) => `Solo se revisaron los primeros ${count(n)}. Para el resto valen las mismas reglas.`,
  paused: {
    account_rate_limited: "El proveedor pidió que este número vaya más despacio. La difusión espera y luego empieza sola.",
    quota_exceeded: "Ya usaste todos los mensajes de tu plan para este mes. La difusión quedará en pausa apenas empiece.",
  },
  stopped: (/** @type {string} */ code) =>
    `Este número no puede enviar en este momento (${code}). La difusión quedará en pausa apenas empiece.`,
  quota: (/** @type {number} */ n) => plural(n, {
    one: `A tu plan le queda ${count(n)} mensaje este mes. Después, la difusión quedará en pausa.`,
    many: `A tu plan le quedan ${count(n)} de mensajes este mes. Después, la difusión quedará en pausa.`,
    other: `A tu plan le quedan ${count(n)} mensajes este mes. Después, la difusión quedará en pausa.`,
  }),
  cost: (/** @type {string} */ amount) => `Costo estimado: ${amount}`,
  costHint: (/** @type {number} */ n) => plural(n, {
    one: "Si el proveedor cobra el mensaje. Lo que vale es su factura.",
    many: `Si el proveedor cobra los ${count(n)} de mensajes. Lo que vale es su factura.`,
    other: `Si el proveedor cobra los ${count(n)} mensajes. Lo que vale es su factura.`,
  }),
  noCost: "Costo estimado: no disponible",
  noRates: "No hay tarifas para estos mensajes.",
  first: "Lo que reciben",
  firstLead: (/** @type {number} */ n) => plural(n, {
    one: "El mensaje como lo verá esta persona.",
    other: `El mensaje como lo verán las primeras ${count(n)} personas.`,
  }),
};
