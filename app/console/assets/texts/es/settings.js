import { count, plural } from "../../format.js";

/** @type {typeof import("../en/settings.js").push} */
export const push = {
  insecure: "Las notificaciones necesitan https. Pide a quien administra el servidor que ponga una URL https en server.public_url.",
  unsupported: "Este navegador no admite notificaciones.",
  denied: "Tu navegador bloquea las notificaciones de este sitio. Permítelas en la configuración del sitio e inténtalo de nuevo.",
};

/** @type {typeof import("../en/settings.js").settings} */
export const settings = {
  settings: "Configuración",
  team: "Equipo",
};

/** @type {typeof import("../en/settings.js").sessions} */
export const sessions = {
  caption: "Sesiones",
  columns: ["Navegador", "Dirección IP", "Inicio de sesión", "Último acceso", "Cerrar"],
  current: "este navegador",
  none: "No hay sesiones activas.",
  end: "Cerrar",
};

/** @type {typeof import("../en/settings.js").health} */
export const health = {
  title: "Salud",
  lead: "Cómo van los mensajes y qué necesita atención.",
  look: "Necesita atención",
  well: "Todos los números y webhooks funcionan.",
  day: "Últimas 24 horas",
  failed: "Mensajes con error",
  failedOf: (/** @type {number} */ n, /** @type {number} */ of, /** @type {string} */ fine, /** @type {string} */ bad) =>
    `${count(n)} de ${count(of)}. Menos de ${fine} es normal; ${bad} o más necesita atención.`,
  noMessages: "No se enviaron mensajes.",
  delivered: "Entregas de webhooks",
  deliveredOf: (/** @type {number} */ n, /** @type {number} */ of, /** @type {string} */ fine) =>
    `${count(n)} de ${count(of)} con éxito. ${fine} o más es normal.`,
  noDeliveries: "No hubo entregas.",
  verdicts: { good: "todo bien", warn: "en observación", bad: "necesita atención" },
  replica: "Réplica",
  replicaLag: (/** @type {string} */ seconds) => `${seconds} s de retraso`,
  replicaWaiting: (/** @type {string} */ size) => `${size} por enviar.`,
  replicaVerified: (/** @type {string} */ day) => `Restauración verificada el ${day}.`,
  replicaUnverified: "Todavía no se verificó ninguna restauración.",
  usage: "Este mes",
  used: (/** @type {number} */ n, /** @type {number} */ of, /** @type {string} */ plan) => plural(of, {
    one: `${count(n)} de ${count(of)} mensaje del plan ${plan}.`,
    many: `${count(n)} de ${count(of)} de mensajes del plan ${plan}.`,
    other: `${count(n)} de ${count(of)} mensajes del plan ${plan}.`,
  }),
  usedUnlimited: (/** @type {number} */ n, /** @type {string} */ plan) => plural(n, {
    one: `${count(n)} mensaje en el plan ${plan}, que no tiene límite.`,
    many: `${count(n)} de mensajes en el plan ${plan}, que no tiene límite.`,
    other: `${count(n)} mensajes en el plan ${plan}, que no tiene límite.`,
  }),
  meter: "Mensajes de este mes",
  failures: "Por qué fallaron los mensajes en las últimas 24 horas",
  noFailures: "No hay mensajes con error.",
  volumes: "Últimos 30 días",
  volumesLead: "Días en UTC. Un mensaje leído también cuenta como entregado y enviado.",
  plots: { received: "Recibidos", sent: "Enviados", delivered: "Entregados", read: "Leídos", failed: "Con error" },
};

/** @type {typeof import("../en/settings.js").keys} */
export const keys = {
  title: "Claves de API",
  lead: "Tus programas se conectan con claves de API. Crea una para cada programa, solo con el acceso que necesita.",
  newKey: "Nueva clave",
  columns: ["Nombre", "Clave", "Acceso", "Último uso", "Vence", "Estado", "Revocar"],
  unnamed: "Sin nombre",
  never: "nunca",
  bot: (/** @type {string} */ name) => `Bot: ${name}`,
  allNumbers: "Todos los números",
  noNumbers: "Números eliminados",
  more: (/** @type {number} */ n) => `y ${count(n)} más`,
  revoke: "Revocar",
  revoked: "Clave revocada",
  revokeTitle: (/** @type {string} */ label) => `¿Revocar “${label}”?`,
  revokeNameless: "¿Revocar esta clave?",
  revokeBody: (/** @type {string} */ last4) =>
    `Los programas que usan la clave terminada en ${last4} dejan de funcionar de inmediato. Una clave revocada no se puede recuperar.`,
  emptyTitle: "Todavía no hay claves",
  emptyBody: "Crea una clave para hacer tu primera llamada a la API.",
  label: { label: "Nombre", hint: "El programa que la usa, como “tienda” o “exportación diaria”." },
  expires: "Vence",
  expiry: { none: "Nunca", hours: { 720: "En 30 días", 2160: "En 90 días", 8760: "En un año" } },
  access: "Acceso",
  accesses: { all: "Todo", read: "Solo lectura", some: "Elegir" },
  scopes: "Permisos",
  scope: {
    read: { label: "Lectura", hint: "Mensajes, contactos y todo lo demás, incluidos los eventos en vivo." },
    send: { label: "Envío", hint: "Mensajes, confirmaciones de lectura y archivos." },
    inbox: { label: "Bandeja de entrada", hint: "Cambiar conversaciones, notas, contactos, etiquetas, vistas y respuestas rápidas." },
    campaigns: { label: "Campañas", hint: "Cambiar plantillas y difusiones." },
    webhooks: { label: "Webhooks", hint: "Cambiar webhooks. Un webhook recibe todo, así que el acceso es tan amplio como el de Lectura." },
    platform: { label: "Plataforma", hint: "Cambiar clientes, enlaces de conexión, números y reglas." },
  },
  noneChosen: "Elige al menos uno.",
  numbers: { label: "Números", hint: "Déjalo vacío para todos los números, incluidos los futuros." },
  create: "Crear clave",
  once: "Cópiala ahora. No volverás a verla.",
  tryIt: "Pruébala",
  keyName: "clave",
  curlName: "comando",
};

/** @type {typeof import("../en/settings.js").labels} */
export const labels = {
  title: "Etiquetas",
  lead: "Organiza contactos y conversaciones, filtra la bandeja de entrada y elige quién recibe una difusión.",
  newLabel: "Nueva etiqueta",
  editTitle: "Editar etiqueta",
  columns: ["Nombre", "Equipo", "Creada", "Editar y eliminar"],
  edit: "Editar",
  delete: "Eliminar",
  deleteTitle: (/** @type {string} */ name) => `¿Eliminar “${name}”?`,
  deleteBody: "Se quita de todos los contactos y conversaciones, que no se eliminan.",
  deleted: "Etiqueta eliminada",
  saved: "Guardado",
  save: "Guardar",
  create: "Crear etiqueta",
  name: "Nombre",
  color: "Color",
  colors: {
    gray: "gris",
    red: "rojo",
    orange: "naranja",
    amber: "ámbar",
    yellow: "amarillo",
    lime: "verde lima",
    green: "verde",
    emerald: "esmeralda",
    teal: "verde azulado",
    sky: "celeste",
    blue: "azul",
    violet: "violeta",
    pink: "rosa",
  },
  emptyTitle: "Todavía no hay etiquetas",
  emptyBody: "Crea etiquetas cortas, como “VIP” o “esperando entrega”.",
};

/** @type {typeof import("../en/settings.js").notifications} */
export const notifications = {
  title: "Notificaciones",
  lead: "Recibe avisos de los mensajes nuevos, incluso con la consola cerrada.",
  device: "Este dispositivo",
  deviceLead: "Activa las notificaciones en cada teléfono y computadora que uses. También puedes instalar ahí la consola como app.",
  test: "Enviar una prueba",
  tested: "Prueba enviada",
  about: "Avisarme de",
  aboutLead: "Vale en todos tus dispositivos. Como máximo una por conversación cada 30 segundos, y ninguna de la que esté en pantalla.",
  saved: "Guardado",
  choices: {
    everything: "Todo",
    mine_and_unassigned: "Mías y sin asignar",
    mentions: "Solo menciones",
    nothing: "Nada",
  },
  sounds: "Sonido",
  soundLead: "Suena un aviso corto mientras la consola está abierta en segundo plano. Solo en este navegador.",
};

/** @type {typeof import("../en/settings.js").quickReplies} */
export const quickReplies = {
  title: "Respuestas rápidas",
  lead: "Respuestas que envías a menudo. Escribe / en un mensaje para elegir una.",
  newOne: "Nueva respuesta rápida",
  editTitle: "Editar respuesta rápida",
  columns: ["Atajo", "Texto", "Botones o lista", "Editar y eliminar"],
  edit: "Editar",
  delete: "Eliminar",
  deleteTitle: (/** @type {string} */ shortcut) => `¿Eliminar /${shortcut}?`,
  deleteBody: "Los mensajes que ya se enviaron con ella se conservan.",
  deleted: "Respuesta rápida eliminada",
  save: "Guardar",
  saved: "Guardado",
  shortcut: { label: "Atajo", hint: "Letras minúsculas, números, _ y -, como “horario”." },
  text: {
    label: "Texto",
    hint: "{{first_name}} o {{name}} será el nombre del contacto. Si no tiene, va el texto alternativo: {{first_name|cliente}}.",
  },
  none: "Todavía no hay respuestas rápidas",
  noneBody: "Horarios, política de cambios: escríbelo una vez y úsalo siempre.",
};
