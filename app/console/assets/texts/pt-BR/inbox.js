import { count, plural } from "../../format.js";

/** @type {typeof import("../en/inbox.js").inbox} */
export const inbox = {
  title: "Caixa de entrada",
  details: "Detalhes",
  unsent: "Resolver com uma mensagem não enviada?",
  unsentBody: {
    draft: "Sua mensagem não foi enviada. Ela fica como rascunho neste navegador.",
    waiting: "Sua mensagem ainda não foi enviada. Este navegador envia assim que der.",
  },
  resolveAnyway: "Resolver mesmo assim",
  choose: "Escolha uma conversa",
  chooseBody: "Use j e k para andar pela lista, x para selecionar e Enter para abrir. Pressione ? para ver todas as teclas.",
  noNumber: "Nenhum número conectado ainda",
  noNumberBody: "Conecte um número para ver as mensagens dele aqui.",
  numbers: "Números",
  keys: {
    next: "Próxima conversa",
    previous: "Conversa anterior",
    open: "Abrir conversa",
    reply: "Responder",
    resolve: "Resolver",
    reopen: "Reabrir",
    assign: "Atribuir",
    label: "Etiquetar",
    unread: "Marcar como não lida",
    select: "Selecionar",
    clear: "Limpar seleção",
    search: "Buscar mensagens",
  },
};

/** @type {typeof import("../en/inbox.js").list} */
export const list = {
  tabs: "Caixa de entrada",
  names: {
    open: "Abertas",
    mine: "Minhas",
    unassigned: "Não atribuídas",
    waiting: "Aguardando",
    mentions: "Menções",
    unread: "Não lidas",
    snoozed: "Adiadas",
    resolved: "Resolvidas",
    all: "Todas",
  },
  more: "Mais",
  sort: "Ordenar",
  sorts: { newest: "Mais recentes", waiting: "Maior espera" },
  filter: "Filtrar por etiqueta",
  anyLabel: "Qualquer etiqueta",
  search: "Buscar mensagens",
  list: "Conversas",
  fresh: (/** @type {number} */ n) => plural(n, { one: `${count(n)} nova`, other: `${count(n)} novas` }),
  noConversations: "Ninguém escreveu ainda",
  noConversationsBody: "Quando alguém escrever para o seu número, a conversa aparece aqui.",
  trigger: "confab trigger inbound --from +15550002222 --text hello",
  command: "comando",
  done: "Tudo em dia por aqui",
  doneBody: "Não há conversas nesta aba.",
};

/** @type {typeof import("../en/inbox.js").row} */
export const row = {
  you: "Você",
  sources: { api: "API", app: "App do celular", broadcast: "Campanha", gateway: "API", rule: "Regra" },
  said: (/** @type {string} */ who) => who + ": ",
  unread: (/** @type {number} */ n) => plural(n, { one: `${count(n)} não lida`, other: `${count(n)} não lidas` }),
  left: (/** @type {string} */ span) => span + " para responder",
  closed: "só modelo",
  pending: "Pendente",
  waits: (/** @type {string} */ span) => "espera há " + span,
  snoozed: (/** @type {string} */ until) => "Adiada até " + until,
  assigned: (/** @type {string} */ name) => "Atribuída a " + name,
  select: (/** @type {string} */ name) => "Selecionar " + name,
  selected: ", selecionada",
};

/** @type {typeof import("../en/inbox.js").search} */
export const search = {
  list: "Conversas",
  none: "Nada encontrado",
  noneBody: "A mensagem precisa ter todas as palavras. Use aspas para buscar uma frase exata.",
  more: "Mostrar mais",
  contact: "Contato",
  copies: (/** @type {number} */ n) => plural(n, {
    one: `Transmissão · ${count(n)} cópia`,
    many: `Transmissão · ${count(n)} de cópias`,
    other: `Transmissão · ${count(n)} cópias`,
  }),
  copiesOrMore: (/** @type {number} */ n) =>
    plural(n, { one: `Transmissão · ${count(n)}+ cópia`, other: `Transmissão · ${count(n)}+ cópias` }),
};

/** @type {typeof import("../en/inbox.js").selection} */
export const selection = {
  bar: "Seleção",
  selected: (/** @type {number} */ n) => plural(n, { one: `${count(n)} selecionada`, other: `${count(n)} selecionadas` }),
  assign: "Atribuir",
  label: "Etiquetar",
  snooze: "Adiar",
  resolve: "Resolver",
  clear: "Limpar seleção",
  most: (/** @type {number} */ n) => `Você pode selecionar até ${count(n)} conversas.`,
  unsent: "Resolver com mensagens não enviadas?",
  unsentBody: (/** @type {number} */ n) => plural(n, {
    one: `${count(n)} conversa tem texto não enviado. Ele fica como rascunho neste navegador.`,
    other: `${count(n)} conversas têm texto não enviado. Ele fica como rascunho neste navegador.`,
  }),
  resolveAnyway: "Resolver mesmo assim",
  done: {
    assign: (/** @type {number} */ n) => plural(n, { one: `${count(n)} conversa atribuída`, other: `${count(n)} conversas atribuídas` }),
    label: (/** @type {number} */ n) => plural(n, { one: `${count(n)} conversa etiquetada`, other: `${count(n)} conversas etiquetadas` }),
    snooze: (/** @type {number} */ n) => plural(n, { one: `${count(n)} conversa adiada`, other: `${count(n)} conversas adiadas` }),
    resolve: (/** @type {number} */ n) => plural(n, { one: `${count(n)} conversa resolvida`, other: `${count(n)} conversas resolvidas` }),
  },
  /** Before the names of those that failed. */
  failed: {
    assign: (/** @type {number} */ n, /** @type {number} */ all) => plural(all, {
      one: `Não foi possível atribuir ${count(n)} de ${count(all)} conversa: `,
      other: `Não foi possível atribuir ${count(n)} de ${count(all)} conversas: `,
    }),
    label: (/** @type {number} */ n, /** @type {number} */ all) => plural(all, {
      one: `Não foi possível etiquetar ${count(n)} de ${count(all)} conversa: `,
      other: `Não foi possível etiquetar ${count(n)} de ${count(all)} conversas: `,
    }),
    snooze: (/** @type {number} */ n, /** @type {number} */ all) => plural(all, {
      one: `Não foi possível adiar ${count(n)} de ${count(all)} conversa: `,
      other: `Não foi possível adiar ${count(n)} de ${count(all)} conversas: `,
    }),
    resolve: (/** @type {number} */ n, /** @type {number} */ all) => plural(all, {
      one: `Não foi possível resolver ${count(n)} de ${count(all)} conversa: `,
      other: `Não foi possível resolver ${count(n)} de ${count(all)} conversas: `,
    }),
  },
  others: (/** @type {number} */ n) => ` e mais ${count(n)}`,
};

/** @type {typeof import("../en/inbox.js").views} */
export const views = {
  save: "Salvar visualização",
  options: "Opções da visualização",
  name: "Nome",
  for: "Visível para",
  people: { me: "Só eu", all: "Todo mundo" },
  rename: "Editar visualização",
  done: "Salvar",
  delete: "Excluir visualização",
  deleteTitle: (/** @type {string} */ name) => `Excluir a visualização “${name}”?`,
  deleteBody: "As conversas continuam como estão.",
  sharedBody: "Ela deixa de aparecer para todo mundo. As conversas continuam como estão.",
};

/** @type {typeof import("../en/inbox.js").assign} */
export const assign = {
  assign: "Atribuir",
  search: "Buscar pessoas",
  people: "Pessoas",
  nobody: "Ninguém",
  you: "Você",
  none: "Ninguém encontrado",
};

/** @type {typeof import("../en/inbox.js").labels} */
export const labels = { labels: "Etiquetas", none: "Nenhuma etiqueta ainda.", make: "Nova etiqueta" };

/** @type {typeof import("../en/inbox.js").snooze} */
export const snooze = {
  snooze: "Adiar",
  hours: "Por 3 horas",
  tomorrow: "Até amanhã",
  monday: "Até segunda",
  at: "Até",
  pick: "Adiar até essa data",
  wrong: "Escolha uma data dentro de um ano.",
};
