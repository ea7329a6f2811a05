import { count, plural } from "../../format.js";

/** @type {typeof import("../en/templates.js").templates} */
export const templates = {
  title: "Plantillas",
  lead: "Mensajes aprobados para iniciar una conversación o escribir tras 24 horas de silencio. El proveedor revisa cada uno.",
  newOne: "Nueva plantilla",
  sync: "Sincronizar",
  synced: (/** @type {number} */ created, /** @type {number} */ updated, /** @type {number} */ deleted) =>
    `Sincronizado. Nuevas: ${count(created)}. Actualizadas: ${count(updated)}. Eliminadas: ${count(deleted)}.`,
  columns: ["Nombre", "Idioma", "Categoría", "Estado", "Actualizada"],
  filters: { status: "Estado", language: "Idioma", category: "Categoría" },
  emptyTitle: "Todavía no hay plantillas",
  emptyBody: "Crea tu primera plantilla o sincroniza las que tu cuenta ya tiene en el proveedor.",
  none: "Ninguna plantilla coincide.",
  most: "Se muestran las primeras 200. Usa los filtros para encontrar otras.",
  unknown: "desconocida",
  changesTo: (/** @type {string} */ category) => `, cambia a ${category} (con otro precio): `,
  soon: "pronto",
  id: "ID de la plantilla",
  providerID: "ID en el proveedor",
  facts: { language: "Idioma", category: "Categoría", updated: "Actualizada", provider: "ID en el proveedor", number: "Número" },
  variables: "Variables",
  variablesLead: "Se completan al enviar la plantilla.",
  variable: ["Variable", "Ejemplo"],
  edit: "Editar",
  broadcast: "Nueva difusión",
  remove: "Eliminar",
  removed: "Plantilla eliminada",
  removeTitle: (/** @type {string} */ name) => `¿Eliminar “${name}”?`,
  removeBody: "También se elimina en el proveedor. Sus envíos fallarán, y un nombre aprobado no se puede volver a usar hasta por 30 días.",
  pending: "El proveedor la está revisando. Tarda unos minutos, un día como máximo. El resultado aparecerá aquí.",
  pendingEdit: "Podrás editarla de nuevo después de la revisión.",
  helps: "Lo que suele ayudar: ",
};

/** Why the provider refuses or stops a template, and what usually helps. @type {typeof import("../en/templates.js").reasons} */
export const reasons = {
  ABUSIVE_CONTENT: {
    why: "El proveedor considera que el contenido es abusivo.",
    help: "quita las amenazas y la presión, y di con claridad quién escribe y por qué.",
  },
  INCORRECT_CATEGORY: {
    why: "La categoría no corresponde al contenido.",
    help: "las ofertas y novedades son MARKETING. Los avisos que la gente espera, como un recibo, son UTILITY.",
  },
  INVALID_FORMAT: {
    why: "El formato no es válido.",
    help: "numera las variables desde 1, pon texto alrededor de cada una, usa ejemplos realistas y enlaces a tu propio dominio.",
  },
  PROMOTIONAL: {
    why: "Es promocional, y su categoría no lo permite.",
    help: "cámbiala a MARKETING o quita la oferta.",
  },
  SCAM: {
    why: "Parece un fraude.",
    help: "di el nombre de tu empresa, usa enlaces a tu propio dominio y nunca pidas códigos, contraseñas ni tarjetas.",
  },
  TAG_CONTENT_MISMATCH: {
    why: "El texto no corresponde al idioma o a la categoría.",
    help: "escribe todo, incluso los ejemplos, en el idioma que elegiste.",
  },
  CATEGORY_NOT_AVAILABLE: {
    why: "Tu cuenta todavía no puede usar esta categoría.",
    help: "verifica la empresa en el proveedor o elige otra categoría.",
  },
  FIRST_PAUSE: {
    why: "Algunas personas la bloquearon o reportaron, así que está en pausa por 3 horas.",
    help: "envíala a menos personas, y solo a quienes la esperan.",
  },
  SECOND_PAUSE: {
    why: "Algunas personas la bloquearon o reportaron otra vez, así que está en pausa por 6 horas.",
    help: "cambia el texto antes de que la desactiven para siempre.",
  },
  RATE_LIMITING_PAUSE: {
    why: "Se envió a demasiadas personas que no responden.",
    help: "envíala a menos personas, y solo a quienes la esperan.",
  },
  DISABLED: {
    why: "El proveedor la desactivó para siempre.",
    help: "crea una nueva con otro nombre y otro texto.",
  },
};

/** @type {typeof import("../en/templates.js").unknownReason} */
export const unknownReason = {
  why: "El proveedor la rechazó.",
  help: "léela como si no conocieras tu empresa, hazla más clara y envíala de nuevo.",
};

/** @type {typeof import("../en/templates.js").builder} */
export const builder = {
  title: "Nueva plantilla",
  templates: "Plantillas",
  edit: (/** @type {string} */ name) => `Editar ${name}`,
  editLead: "Los cambios se revisan de nuevo. No puedes editar la plantilla hasta que termine la revisión.",
  addVariable: "Agregar variable",
  left: (/** @type {number} */ n, /** @type {number} */ most) => `${count(n)} de ${count(most)} caracteres`,
  examples: "Ejemplos",
  examplesLead: "Quienes revisan ven el texto con estos valores.",
  example: (/** @type {string} */ name) => `Ejemplo para {{${name}}}`,
  buttons: "Botones",
  addButton: "Agregar botón",
  addCardButton: "Agregar botón a las tarjetas",
  buttonKinds: { QUICK_REPLY: "Respuesta rápida", URL: "Enlace", PHONE_NUMBER: "Número de teléfono", COPY_CODE: "Código de la oferta" },
  remove: "Quitar",
  removeCard: "Quitar tarjeta",
  cards: "Tarjetas",
  cardsLead: "Imágenes una al lado de otra, cada una con texto y botones. Solo para marketing, de 2 a 10 tarjetas.",
  addCard: "Agregar tarjeta",
  card: (/** @type {number} */ n) => `Tarjeta ${n}`,
  warns: "Agregar un aviso para que no compartan el código",
  saveHint: "Al guardarla, se envía a revisión.",
  submit: "Guardar",
  busy: "Guardando…",
  submitted: "Enviada a revisión",
  cancel: "Cancelar",
  more: "Revisa los campos marcados arriba.",
  name: { label: "Nombre", hint: "Para tu equipo y tu código, como order_shipped. Quienes la reciben no lo ven." },
  language: "Idioma",
  category: "Categoría",
  categories: {
    UTILITY: { label: "Utilidad", hint: "Avisos que la gente espera: un recibo, una entrega, un cambio." },
    MARKETING: { label: "Marketing", hint: "Ofertas, novedades, invitaciones. La gente puede dejar de recibirlas." },
    AUTHENTICATION: { label: "Autenticación", hint: "Un código para iniciar sesión. El proveedor escribe el texto." },
  },
  header: "Encabezado",
  formats: { none: "Ninguno", text: "Texto" },
  headerText: "Texto del encabezado",
  url: { label: "URL del archivo", hint: "Una URL https. Quienes revisan ven este archivo. Cada envío usa el suyo." },
  body: { label: "Texto", hint: "*negrita*, _cursiva_, ~tachado~. {{1}} o {{name}} se completa al enviar." },
  footer: "Pie de página",
  minutes: "El código vence en (minutos)",
  buttonText: "Texto del botón",
  link: "Enlace",
  linkExample: "Ejemplo del enlace completo",
  phone: "Número de teléfono",
  codeExample: "Código de ejemplo",
  cardText: "Texto de la tarjeta",
};

/** @type {typeof import("../en/templates.js").draft} */
export const draft = {
  name: "Usa solo letras minúsculas, números y _, como en order_shipped.",
  blank: "Completa este campo.",
  long: (/** @type {number} */ n) => plural(n, { one: `Como máximo ${count(n)} carácter.`, other: `Como máximo ${count(n)} caracteres.` }),
  braces: "Escribe las variables con dos llaves a cada lado: {{1}}.",
  names: "Numera las variables desde 1 sin saltos, o ponles nombres con letras minúsculas, números y _.",
  edge: "No empieces ni termines con una variable. Pon texto antes y después.",
  beside: "Pon texto entre dos variables.",
  many: "Demasiadas variables para tan poco texto.",
  oneVariable: "Usa una variable como máximo.",
  noVariables: "Aquí no se permiten variables.",
  line: "Usa una sola línea.",
  https: "Ingresa una URL https.",
  linkEnd: "Usa una variable, {{1}}, justo al final.",
  phone: "Incluye el código de país, como en +15550001111.",
  example: (/** @type {string} */ name) => `Agrega un ejemplo para {{${name}}}.`,
  cards: "Usa de 2 a 10 tarjetas.",
  cardButton: "Cada tarjeta necesita un botón.",
  minutes: "De 1 a 90.",
};
