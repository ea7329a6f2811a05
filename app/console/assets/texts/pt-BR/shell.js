import { count, plural } from "../../format.js";

/** @type {typeof import("../en/shell.js").jump} */
export const jump = {
  title: "Buscar ou ir para",
  placeholder: "Busque telas e contatos, ou cole um ID",
  none: "Nada encontrado. Você também pode colar um ID para abrir.",
  results: "Resultados",
  screen: "Tela",
  action: "Ação",
  contact: "Contato",
  settings: "Configurações",
  hint: ["navegar", "abrir", "fechar"],
  dark: "Mudar para o tema escuro",
  light: "Mudar para o tema claro",
  shortcuts: "Atalhos do teclado",
  singleKeys: "Atalhos de uma tecla",
  singleKeysHint: "Desative se você aciona sem querer, por exemplo com controle por voz. Os atalhos com Ctrl continuam valendo.",
  then: "depois",
  /** Pages that are opened by their names. */
  pages: {
    people: "Pessoas",
    keys: "Chaves de API",
    labels: "Etiquetas",
    quickReplies: "Respostas rápidas",
    notifications: "Notificações",
    profile: "Perfil",
    health: "Saúde",
    newKey: "Nova chave de API",
    invite: "Convidar alguém",
  },
  /** What an id is of. */
  ids: {
    message: "Rastreamento da mensagem",
    event: "Rastreamento do evento",
    request: "Registro da requisição",
    conversation: "Conversa",
    contact: "Contato",
    broadcast: "Transmissão",
    template: "Modelo",
    customer: "Cliente",
    webhook: "Webhook",
    delivery: "Entrega",
    label: "Etiqueta",
    key: "Chave de API",
    rule: "Regra",
    quickReply: "Resposta rápida",
    view: "Visualização salva",
    note: "Nota",
    session: "Sessão",
    audit: "Registro de auditoria",
    number: "Número",
    setupLink: "Link de conexão",
    secret: "Segredo do webhook",
    import: "Importação de contatos",
    media: "Arquivo de mensagem",
    people: "Pessoas",
    person: "Pessoa da equipe",
  },
};

/** @type {typeof import("../en/shell.js").shell} */
export const shell = {
  goTo: "Ir para",
  everywhere: "Em qualquer tela",
  number: "Número",
  waitingAt: (/** @type {number} */ n, /** @type {string} */ name) => `${count(n)} aguardando em ${name}`,
  account: "Conta",
  profile: "Perfil",
  sessions: "Sessões",
  jump: "Buscar ou ir para",
  shortcuts: "Atalhos do teclado",
  docs: "Referência da API",
  availability: "Disponibilidade",
  available: "Disponível",
  away: "Ausente",
  signOut: "Sair",
  signOutUnsent: "Sair com mensagens não enviadas?",
  unsentLead: (/** @type {number} */ n) => plural(n, {
    one: "Uma mensagem ainda não foi enviada. Ao sair, você perde as mensagens não enviadas e todos os rascunhos.",
    many: `${count(n)} de mensagens ainda não foram enviadas. Ao sair, você perde as mensagens não enviadas e todos os rascunhos.`,
    other: `${count(n)} mensagens ainda não foram enviadas. Ao sair, você perde as mensagens não enviadas e todos os rascunhos.`,
  }),
  discard: "Descartar e sair",
  theme: "Tema",
  themes: { system: "Do sistema", light: "Claro", dark: "Escuro" },
};

/** @type {typeof import("../en/shell.js").nothing} */
export const nothing = {
  title: "Página não encontrada",
  body: "Confira o endereço. Algumas páginas são só para administradores.",
  back: "Ir para a caixa de entrada",
};
