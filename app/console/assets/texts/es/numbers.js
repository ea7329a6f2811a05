/** @type {typeof import("../en/numbers.js").numbers} */
export const numbers = {
  title: "Números",
  number: "Número",
  lead: "Los números de empresa desde los que envías.",
  newOne: "Nuevo número",
  columns: ["Nombre", "Número", "Estado", "Conectado"],
  none: "Todavía no hay números",
  noneBody: "Conecta un número de tu cuenta de empresa para enviar y recibir mensajes.",
  noneAgent: "Pide a un administrador que conecte el primero.",
  id: "ID del número de teléfono",
  register: "Registrar",
  limited: "El proveedor limita la velocidad de envío. Los mensajes pueden esperar unos minutos.",
  again: "Conectar de nuevo",
  check: "Verificar ahora",
  checked: "Verificado",
  disconnect: "Desconectar",
  disconnectTitle: (/** @type {string} */ name) => `¿Desconectar ${name}?`,
  disconnectBody: "Deja de enviar. Sus mensajes y contactos se conservan, y puedes conectarlo de nuevo.",
  disconnected: "Desconectado",
  delete: "Eliminar",
  deleteTitle: (/** @type {string} */ name) => `¿Eliminar ${name}?`,
  deleteBody: "Se eliminan para siempre sus mensajes, contactos, archivos y eventos.",
  deleted: "Número eliminado",
  quality: "Últimas 24 horas",
  figures: { sent: "Enviados", delivered: "Entregados", read: "Leídos", failed: "Con error", received: "Recibidos" },
  failures: "Por qué fallaron los mensajes",
  webhook: "Webhook del proveedor",
  webhookLead: "Ingresa esta URL en la configuración de tu app en el proveedor, para que avise aquí de los mensajes y cambios.",
  webhookName: "dirección",
  details: "Detalles",
  rows: { phone: "Número", waba: "Cuenta de empresa", provider: "Estado en el proveedor", made: "Conectado", customer: "Cliente" },
};

/** The states of a number in words, and what to do next. @type {typeof import("../en/numbers.js").states} */
export const states = {
  connected: { word: "conectado", next: "Envía y recibe mensajes." },
  degraded: {
    word: "necesita atención",
    next: "No puede enviar. Si se perdió el registro, regístralo de nuevo. Si venció el token de acceso, conéctalo con uno nuevo.",
  },
  onboarding: { word: "sin registrar", next: "Regístralo con su PIN para empezar a enviar." },
  disconnected: { word: "desconectado", next: "No puede enviar. Verifícalo ahora o conéctalo de nuevo con otro token." },
  restricted: { word: "restringido", next: "Por ahora, el proveedor no le permite enviar. Tu cuenta de empresa muestra el motivo." },
};

/** @type {typeof import("../en/numbers.js").failures} */
export const failures = { caption: "Errores por código", columns: ["Código", "Significado", "Mensajes"] };

/** @type {typeof import("../en/numbers.js").forms} */
export const forms = {
  newOne: "Nuevo número",
  again: "Conectar de nuevo",
  connect: "Conectar",
  trying: "Consultando al proveedor…",
  connected: "Conectado",
  madeUp: "En un sandbox, el proveedor es simulado y los números son ficticios.",
  real: "Primero se verifica el token. No se guarda nada si el proveedor no lo acepta.",
  register: "Registrar",
  registered: "Registrado",
  registerLead: "Si el número tiene verificación en dos pasos, ingresa su PIN. Si no, este será su PIN.",
  name: { label: "Nombre", hint: "Déjalo vacío para generar uno." },
  number: { label: "Número", hint: "Déjalo vacío para generar uno." },
  id: "ID del número de teléfono",
  waba: "ID de la cuenta de empresa",
  token: { label: "Token de acceso", hint: "De un usuario del sistema con permiso para administrar y enviar." },
  pin: "PIN",
  keptHint: "Seis dígitos. Déjalo vacío para usar el PIN guardado de este número.",
  pinHint: "Seis dígitos. Solo hace falta para registrar un número que todavía no puede enviar.",
};

/** @type {typeof import("../en/numbers.js").hours} */
export const hours = {
  title: "Horario de atención",
  lead: "Las reglas pueden responder fuera de este horario. Arrastra sobre un día o escribe horas, como 09:00-12:30, 14:00-18:00.",
  open: "abierto ahora",
  closed: "cerrado ahora",
  always: "Siempre abierto",
  week: "Semana",
  days: { mon: "Lunes", tue: "Martes", wed: "Miércoles", thu: "Jueves", fri: "Viernes", sat: "Sábado", sun: "Domingo" },
  closedAll: "Cerrado",
  zone: "Zona horaria",
  holidays: {
    label: "Días festivos",
    hint: "Uno por línea, como “2026-12-25 Navidad”. Cerrado todo el día, salvo que indiques horas: “2026-12-24 09:00-12:00 Nochebuena”.",
  },
  save: "Guardar horario",
  saving: "Guardando…",
  saved: "Horario guardado",
};

/** @type {typeof import("../en/numbers.js").optOut} */
export const optOut = {
  title: "Palabras de baja",
  lead: "Quien envía solo una palabra de baja deja de recibir marketing. Con una palabra para volver, lo recibe de nuevo.",
  enabled: "Palabras de baja",
  follow: "Respetar las palabras de baja",
  wordsHint: "Separa las palabras con comas. Las mayúsculas, los acentos y la puntuación final no importan.",
  stop: "Palabras para darse de baja",
  start: "Palabras para volver a recibir",
  stopReply: "Respuesta a quien se da de baja",
  startReply: "Respuesta a quien vuelve",
  save: "Guardar",
  saved: "Guardado",
};
