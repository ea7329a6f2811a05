import { count, plural } from "../../format.js";

/** @type {typeof import("../en/inbox.js").inbox} */
export const inbox = {
  title: "Bandeja de entrada",
  details: "Detalles",
  unsent: "¿Resolver con un mensaje sin enviar?",
  unsentBody: {
    draft: "Tu mensaje no se envió. Queda como borrador en este navegador.",
    waiting: "Tu mensaje todavía no se envió. Este navegador lo enviará en cuanto pueda.",
  },
  resolveAnyway: "Resolver de todos modos",
  choose: "Elige una conversación",
  chooseBody: "Usa j y k para moverte por la lista, x para seleccionar y Enter para abrir. Presiona ? para ver todas las teclas.",
  noNumber: "Todavía no hay ningún número conectado",
  noNumberBody: "Conecta un número para ver aquí sus mensajes.",
  numbers: "Números",
  keys: {
    next: "Conversación siguiente",
    previous: "Conversación anterior",
    open: "Abrir conversación",
    reply: "Responder",
    resolve: "Resolver",
    reopen: "Reabrir",
    assign: "Asignar",
    label: "Etiquetar",
    unread: "Marcar como no leída",
    select: "Seleccionar",
    clear: "Quitar selección",
    search: "Buscar mensajes",
  },
};

/** @type {typeof import("../en/inbox.js").list} */
export const list = {
  tabs: "Bandeja de entrada",
  names: {
    open: "Abiertas",
    mine: "Mías",
    unassigned: "Sin asignar",
    waiting: "En espera",
    mentions: "Menciones",
    unread: "No leídas",
    snoozed: "Pospuestas",
    resolved: "Resueltas",
    all: "Todas",
  },
  more: "Más",
  sort: "Ordenar",
  sorts: { newest: "Más recientes", waiting: "Mayor espera" },
  filter: "Filtrar por etiqueta",
  anyLabel: "Cualquier etiqueta",
  search: "Buscar mensajes",
  list: "Conversaciones",
  fresh: (/** @type {number} */ n) => plural(n, { one: `${count(n)} nueva`, other: `${count(n)} nuevas` }),
  noConversations: "Todavía nadie ha escrito",
  noConversationsBody: "Cuando alguien escriba a tu número, la conversación aparecerá aquí.",
  trigger: "confab trigger inbound --from +15550002222 --text hello",
  command: "comando",
  done: "Todo al día por aquí",
  doneBody: "No hay conversaciones en esta pestaña.",
};

/** @type {typeof import("../en/inbox.js").row} */
export const row = {
  you: "Tú",
  sources: { api: "API", app: "App del teléfono", broadcast: "Campaña", gateway: "API", rule: "Regla" },
  said: (/** @type {string} */ who) => who + ": ",
  unread: (/** @type {number} */ n) => `${count(n)} sin leer`,
  left: (/** @type {string} */ span) => span.replace(/^\d+/, "$& ") + " para responder",
  closed: "solo plantilla",
  pending: "Pendiente",
  waits: (/** @type {string} */ span) => span.replace(/^\d+/, "$& ") + " de espera",
  snoozed: (/** @type {string} */ until) => "Pospuesta hasta " + until,
  assigned: (/** @type {string} */ name) => "Asignada a " + name,
  select: (/** @type {string} */ name) => "Seleccionar " + name,
  selected: ", seleccionada",
};

/** @type {typeof import("../en/inbox.js").search} */
export const search = {
  list: "Conversaciones",
  none: "Sin resultados",
  noneBody: "El mensaje debe tener todas las palabras. Usa comillas para buscar una frase exacta.",
  more: "Mostrar más",
  contact: "Contacto",
  copies: (/** @type {number} */ n) => plural(n, {
    one: `Difusión · ${count(n)} copia`,
    many: `Difusión · ${count(n)} de copias`,
    other: `Difusión · ${count(n)} copias`,
  }),
  copiesOrMore: (/** @type {number} */ n) =>
    plural(n, { one: `Difusión · ${count(n)}+ copia`, other: `Difusión · ${count(n)}+ copias` }),
};

/** @type {typeof import("../en/inbox.js").selection} */
export const selection = {
  bar: "Selección",
  selected: (/** @type {number} */ n) => plural(n, { one: `${count(n)} seleccionada`, other: `${count(n)} seleccionadas` }),
  assign: "Asignar",
  label: "Etiquetar",
  snooze: "Posponer",
  resolve: "Resolver",
  clear: "Quitar selección",
  most: (/** @type {number} */ n) => `Puedes seleccionar hasta ${count(n)} conversaciones.`,
  unsent: "¿Resolver con mensajes sin enviar?",
  unsentBody: (/** @type {number} */ n) => plural(n, {
    one: `${count(n)} conversación tiene texto sin enviar. Queda como borrador en este navegador.`,
    other: `${count(n)} conversaciones tienen texto sin enviar. Queda como borrador en este navegador.`,
  }),
  resolveAnyway: "Resolver de todos modos",
  done: {
    assign: (/** @type {number} */ n) =>
      plural(n, { one: `${count(n)} conversación asignada`, other: `${count(n)} conversaciones asignadas` }),
    label: (/** @type {number} */ n) =>
      plural(n, { one: `${count(n)} conversación etiquetada`, other: `${count(n)} conversaciones etiquetadas` }),
    snooze: (/** @type {number} */ n) =>
      plural(n, { one: `${count(n)} conversación pospuesta`, other: `${count(n)} conversaciones pospuestas` }),
    resolve: (/** @type {number} */ n) =>
      plural(n, { one: `${count(n)} conversación resuelta`, other: `${count(n)} conversaciones resueltas` }),
  },
  /** Before the names of those that failed. */
  failed: {
    assign: (/** @type {number} */ n, /** @type {number} */ all) => plural(n, {
      one: `No se pudo asignar ${count(n)} conversación de ${count(all)}: `,
      other: `No se pudieron asignar ${count(n)} conversaciones de ${count(all)}: `,
    }),
    label: (/** @type {number} */ n, /** @type {number} */ all) => plural(n, {
      one: `No se pudo etiquetar ${count(n)} conversación de ${count(all)}: `,
      other: `No se pudieron etiquetar ${count(n)} conversaciones de ${count(all)}: `,
    }),
    snooze: (/** @type {number} */ n, /** @type {number} */ all) => plural(n, {
      one: `No se pudo posponer ${count(n)} conversación de ${count(all)}: `,
      other: `No se pudieron posponer ${count(n)} conversaciones de ${count(all)}: `,
    }),
    resolve: (/** @type {number} */ n, /** @type {number} */ all) => plural(n, {
      one: `No se pudo resolver ${count(n)} conversación de ${count(all)}: `,
      other: `No se pudieron resolver ${count(n)} conversaciones de ${count(all)}: `,
    }),
  },
  others: (/** @type {number} */ n) => ` y ${count(n)} más`,
};

/** @type {typeof import("../en/inbox.js").views} */
export const views = {
  save: "Guardar vista",
  options: "Opciones de la vista",
  name: "Nombre",
  for: "Visible para",
  people: { me: "Solo yo", all: "Todos" },
  rename: "Editar vista",
  done: "Guardar",
  delete: "Eliminar vista",
  deleteTitle: (/** @type {string} */ name) => `¿Eliminar la vista “${name}”?`,
  deleteBody: "Sus conversaciones quedan como están.",
  sharedBody: "Dejará de aparecer para todos. Sus conversaciones quedan como están.",
};

/** @type {typeof import("../en/inbox.js").assign} */
export const assign = {
  assign: "Asignar",
  search: "Buscar personas",
  people: "Personas",
  nobody: "Nadie",
  you: "Tú",
  none: "Sin resultados",
};

/** @type {typeof import("../en/inbox.js").labels} */
export const labels = { labels: "Etiquetas", none: "Todavía no hay etiquetas.", make: "Nueva etiqueta" };

/** @type {typeof import("../en/inbox.js").snooze} */
export const snooze = {
  snooze: "Posponer",
  hours: "Por 3 horas",
  tomorrow: "Hasta mañana",
  monday: "Hasta el lunes",
  at: "Hasta",
  pick: "Posponer hasta esa fecha",
  wrong: "Elige una fecha dentro del próximo año.",
};
