import { count, plural } from "../../format.js";

/** @type {typeof import("../en/composer.js").composer} */
export const composer = {
  message: "Mensagem",
  placeholder: (/** @type {string} */ name) => "Escreva para " + name,
  send: "Enviar",
  sendAndResolve: "Enviar e resolver",
  notResolved: "Não resolvida: a mensagem ainda não foi enviada.",
  attach: "Anexar arquivo",
  quick: "Respostas rápidas",
  templates: "Modelos",
  emoji: "Emoji",
  buttons: "Botões",
  list: "Lista",
  notBoth: "Uma mensagem não pode ter arquivos e botões. Remova um dos dois.",
  later: "Enviar depois",
  replyingTo: (/** @type {string} */ who) => `Resposta para ${who}`,
  reply: "Resposta",
  note: "Nota",
  modes: "Escrever",
  earlier: "Uma mensagem anterior",
  cancelReply: "Cancelar resposta",
  cancelTime: "Enviar agora",
  you: "Você",
  left: (/** @type {string} */ span) => span + " para responder",
  never: "Esta pessoa ainda não escreveu. Você só pode enviar um modelo.",
  closed: "Já faz mais de 24 horas que esta pessoa escreveu. Agora você só pode enviar um modelo.",
  choose: "Escolher um modelo",
  kept: "Seu rascunho está guardado: ",
  notSent: "Não enviada: ",
  tooLong: (/** @type {number} */ n) =>
    plural(n, { one: `${count(n)} caractere acima do limite`, other: `${count(n)} caracteres acima do limite` }),
  hint: "respostas rápidas",
  keys: "todas as teclas",
};

/** @type {typeof import("../en/composer.js").noteForm} */
export const noteForm = {
  note: "Nota",
  placeholder: "Escreva uma nota para a equipe",
  add: "Adicionar nota",
  mention: "Mencionar alguém",
  people: "Pessoas",
  hint: "Só a equipe vê as notas.",
  tooLong: (/** @type {number} */ n) =>
    plural(n, { one: `${count(n)} caractere acima do limite`, other: `${count(n)} caracteres acima do limite` }),
};

/** @type {typeof import("../en/composer.js").attachments} */
export const attachments = {
  files: "Arquivos para enviar",
  remove: (/** @type {string} */ name) => "Remover " + name,
  again: "Tentar novamente",
  lost: "Sem conexão com o servidor.",
  uploading: (/** @type {string} */ name) => "Carregando " + name,
  drop: "Solte os arquivos para enviar",
};

/** @type {typeof import("../en/composer.js").interactive} */
export const interactive = {
  buttons: "Botões",
  list: "Lista",
  add: "Adicionar à mensagem",
  removeButtons: "Remover botões",
  removeList: "Remover lista",
};

/** @type {typeof import("../en/composer.js").quickReplies} */
export const quickReplies = {
  list: "Respostas rápidas",
  none: "Nenhuma resposta rápida encontrada.",
  empty: "Nenhuma resposta rápida ainda.",
  make: "Criar uma",
};

/** @type {typeof import("../en/composer.js").templates} */
export const templates = {
  choose: "Escolher um modelo",
  search: "Buscar modelos",
  list: "Modelos",
  none: "Nenhum modelo aprovado",
  noneBody: "Os modelos precisam ser aprovados antes do envio.",
  make: "Modelos",
  back: "Escolher outro",
  send: "Enviar modelo",
  file: "Escolher arquivo",
};

/** @type {typeof import("../en/composer.js").sendLater} */
export const sendLater = {
  title: "Enviar depois",
  at: "Quando",
  send: "Agendar",
  hint: "No seu fuso horário, com até 90 dias de antecedência.",
  wrong: "Escolha uma data nos próximos 90 dias.",
  hour: "Daqui a uma hora",
  tomorrow: "Amanhã às 9h",
  monday: "Segunda às 9h",
};

/** @type {typeof import("../en/composer.js").sending} */
export const sending = {
  off: "Este número não pode enviar agora. ",
  reasons: {
    organization_suspended: "Sua organização está suspensa. Fale com quem administra o servidor.",
    subscription_inactive: "Sua assinatura não está ativa. Fale com quem administra o servidor.",
    quota_exceeded: "As mensagens do seu plano para este mês acabaram.",
    customer_suspended: "O cliente deste número está suspenso ou arquivado.",
    account_restricted: "O provedor restringiu este número.",
    whatsapp_number_not_verified: "O provedor ainda não aprovou este número.",
  },
  see: "Ver o motivo",
  customer: "Abrir o cliente",
};

/** @type {typeof import("../en/composer.js").outbox} */
export const outbox = { unknown: "Esta mensagem talvez já tenha sido enviada. Confirme com a pessoa antes de enviar de novo." };
