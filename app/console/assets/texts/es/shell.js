import { count, plural } from "../../format.js";

/** @type {typeof import("../en/shell.js").jump} */
export const jump = {
  title: "Buscar o ir a",
  placeholder: "Busca pantallas y contactos, o pega un ID",
  none: "Sin resultados. También puedes pegar cualquier ID para abrirlo.",
  results: "Resultados",
  screen: "Pantalla",
  action: "Acción",
  contact: "Contacto",
  settings: "Configuración",
  hint: ["navegar", "abrir", "cerrar"],
  dark: "Cambiar al tema oscuro",
  light: "Cambiar al tema claro",
  shortcuts: "Atajos de teclado",
  singleKeys: "Atajos de una tecla",
  singleKeysHint: "Desactívalos si los usas sin querer, por ejemplo con el control por voz. Los atajos con Ctrl siguen activos.",
  then: "luego",
  /** Pages that are opened by their names. */
  pages: {
    people: "Personas",
    keys: "Claves de API",
    labels: "Etiquetas",
    quickReplies: "Respuestas rápidas",
    notifications: "Notificaciones",
    profile: "Perfil",
    health: "Salud",
    newKey: "Nueva clave de API",
    invite: "Invitar a alguien",
  },
  /** What an id is of. */
  ids: {
    message: "Seguimiento del mensaje",
    event: "Seguimiento del evento",
    request: "Registro de la solicitud",
    conversation: "Conversación",
    contact: "Contacto",
    broadcast: "Difusión",
    template: "Plantilla",
    customer: "Cliente",
    webhook: "Webhook",
    delivery: "Entrega",
    label: "Etiqueta",
    key: "Clave de API",
    rule: "Regla",
    quickReply: "Respuesta rápida",
    view: "Vista guardada",
    note: "Nota",
    session: "Sesión",
    audit: "Registro de auditoría",
    number: "Número",
    setupLink: "Enlace de conexión",
    secret: "Secreto del webhook",
    import: "Importación de contactos",
    media: "Archivo de un mensaje",
    people: "Personas",
    person: "Persona del equipo",
  },
};

/** @type {typeof import("../en/shell.js").shell} */
export const shell = {
  goTo: "Ir a",
  everywhere: "En cualquier pantalla",
  number: "Número",
  waitingAt: (/** @type {number} */ n, /** @type {string} */ name) => `${count(n)} en espera en ${name}`,
  account: "Cuenta",
  profile: "Perfil",
  sessions: "Sesiones",
  jump: "Buscar o ir a",
  shortcuts: "Atajos de teclado",
  docs: "Referencia de la API",
  availability: "Disponibilidad",
  available: "Disponible",
  away: "Ausente",
  signOut: "Cerrar sesión",
  signOutUnsent: "¿Cerrar sesión con mensajes sin enviar?",
  unsentLead: (/** @type {number} */ n) => plural(n, {
    one: "Hay un mensaje sin enviar. Si cierras sesión, se pierden los mensajes sin enviar y todos los borradores.",
    many: `Hay ${count(n)} de mensajes sin enviar. Si cierras sesión, se pierden los mensajes sin enviar y todos los borradores.`,
    other: `Hay ${count(n)} mensajes sin enviar. Si cierras sesión, se pierden los mensajes sin enviar y todos los borradores.`,
  }),
  discard: "Descartar y cerrar sesión",
  theme: "Tema",
  themes: { system: "Del sistema", light: "Claro", dark: "Oscuro" },
};

/** @type {typeof import("../en/shell.js").nothing} */
export const nothing = {
  title: "Página no encontrada",
  body: "Revisa la dirección. Algunas páginas son solo para administradores.",
  back: "Ir a la bandeja de entrada",
};
