import { count, plural } from "../../format.js";

/** @type {typeof import("../en/parts.js").server} */
export const server = {
  network: "Sem conexão com o servidor.",
  unreadable: "O servidor enviou uma resposta que não deu para ler.",
};

/** States of anything, as the API names them, in words. @type {typeof import("../en/parts.js").words} */
export const words = {
  active: "ativo",
  all: "todos",
  approved: "aprovado",
  archived: "arquivado",
  cancelled: "cancelada",
  completed: "concluída",
  connected: "conectado",
  consumed: "usado",
  dead: "interrompida",
  degraded: "com problema",
  deleted: "excluído",
  delivered: "entregue",
  disabled: "desativado",
  disconnected: "desconectado",
  expired: "expirado",
  failed: "com falha",
  flagged: "sinalizado",
  in_appeal: "em recurso",
  invited: "convite enviado",
  limit_exceeded: "limite excedido",
  no_sign_in: "sem acesso",
  onboarding: "em configuração",
  open: "em aberto",
  paused: "em pausa",
  pending: "pendente",
  pending_deletion: "exclusão pendente",
  preparing: "em preparação",
  queued: "na fila",
  read: "lida",
  received: "recebida",
  rejected: "rejeitado",
  revoked: "revogado",
  running: "em andamento",
  scheduled: "agendada",
  sent: "enviada",
  skipped: "não enviada",
  succeeded: "com sucesso",
  suspended: "suspenso",
  waiting: "aguardando",
};

/** @type {typeof import("../en/parts.js").copying} */
export const copying = {
  copy: "Copiar",
  copyOf: (/** @type {string} */ name) => `Copiar ${name}`,
  copied: "Copiado",
  select: "Pressione Ctrl-C para copiar",
};

export const guide = /** @type {string} */ ("Guia");

/** @type {typeof import("../en/parts.js").dialog} */
export const dialog = {
  close: "Fechar",
  cancel: "Cancelar",
  busy: "Um momento…",
  done: "Concluir",
  type: (/** @type {string} */ word) => `Digite “${word}” para confirmar`,
};

/** @type {typeof import("../en/parts.js").form} */
export const form = { cancel: "Cancelar", saving: "Salvando…", required: "Preencha este campo.", optional: "opcional" };

/** What the server says is wrong with a field, in English. @type {typeof import("../en/parts.js").problems} */
export const problems = { of: (/** @type {string} */ why) => `Confira este campo: ${why}` };

/** @type {typeof import("../en/parts.js").headerFile} */
export const headerFile = {
  choose: { image: "Escolher imagem", video: "Escolher vídeo", document: "Escolher documento" },
  other: "Escolher arquivo",
  upload: "Carregar arquivo",
};

/** @type {typeof import("../en/parts.js").interactive} */
export const interactive = {
  buttons: ["Botão 1", "Botão 2", "Botão 3"],
  open: "Botão que abre a lista",
  rows: "Opções",
  rowsHint: "Uma por linha, até 10. Para incluir uma descrição, use | depois do nome.",
  tooMany: "Opções: no máximo 10.",
  tooLong: "Opções: até 24 caracteres cada, e 72 na descrição.",
};

/** @type {typeof import("../en/parts.js").lists} */
export const lists = {
  more: "Mostrar mais",
  first: "Primeira página",
  all: "Todos",
  fresh: (/** @type {number} */ n) => plural(n, { one: `${count(n)} item novo`, other: `${count(n)} itens novos` }),
  looking: "Buscando mais para trás…",
  goOn: "Continuar buscando",
  soFar: "Nada encontrado até aqui. Ainda tem mais para buscar.",
  noNumber: "Nenhum número conectado",
  noNumberBody: "Conecte um número para começar.",
  numbers: "Números",
};

/** @type {typeof import("../en/parts.js").notices} */
export const notices = { region: "Avisos do confab", dismiss: "Dispensar", failed: "Algo deu errado nesta página." };

/** @type {typeof import("../en/parts.js").connection} */
export const connection = { lost: "Reconectando… seu texto está salvo", now: "Tentar agora" };

/** @type {typeof import("../en/parts.js").period} */
export const period = {
  period: "Período",
  last30: "Últimos 30 dias",
  periods: { week: "Últimos 7 dias", month: "Este mês", before: "Mês passado", quarter: "Últimos 90 dias" },
};

/** @type {typeof import("../en/parts.js").plot} */
export const plot = { table: "Ver como tabela", day: "Dia", name: "Nome", before: "Antes", none: "—" };

/** @type {typeof import("../en/parts.js").states} */
export const states = {
  again: "Tentar novamente",
  loading: "Carregando",
  lostTitle: "Sem conexão com o servidor",
  lost: "Nada foi alterado. Tentamos de novo assim que a conexão voltar.",
  goneTitle: "Não encontrado",
  gone: "Pode ter sido excluído ou ser de outra organização.",
  deniedTitle: "Só administradores podem abrir esta página",
  denied: "Se você precisa de acesso, fale com um administrador.",
  failedTitle: "Não foi possível carregar",
  failed: "Nada se perdeu. Tente novamente daqui a pouco. Se continuar, mande o ID da requisição abaixo para quem administra o servidor.",
  pageFailed: "Algo deu errado nesta página. Recarregue. Se continuar, avise quem administra o servidor.",
  request: "ID da requisição",
  reference: "Requisição",
};

/** @type {typeof import("../en/parts.js").table} */
export const table = { sortBy: "Ordenar por" };

/** @type {typeof import("../en/parts.js").templateForm} */
export const templateForm = {
  code: "Código",
  header: "Cabeçalho ",
  link: (/** @type {string} */ format) => `${format} (URL https)`,
  place: ["Latitude", "Longitude", "Lugar", "Endereço"],
  button: (/** @type {string} */ name) => `Final do link de “${name}”`,
  coupon: "Código da oferta",
  ends: "Fim da oferta",
  card: (/** @type {number} */ i) => `Cartão ${i}: `,
  required: "Preencha este campo.",
  unsupported: "Este modelo mostra um produto. Envie pela API.",
};

/** @type {typeof import("../en/parts.js").templatePreview} */
export const templatePreview = {
  name: "Prévia",
  cards: "Cartões",
  more: "Ver todas as opções",
  code: "*{{1}}* é o seu código de verificação.",
  secret: " Para sua segurança, não o compartilhe.",
  expires: (/** @type {number} */ n) =>
    plural(n, { one: `Este código expira em ${n} minuto.`, other: `Este código expira em ${n} minutos.` }),
  offerEnds: "Termina no horário que você definir",
  empty: "A prévia da mensagem aparece aqui",
  media: { IMAGE: "Imagem", VIDEO: "Vídeo", GIF: "GIF", DOCUMENT: "Documento", LOCATION: "Localização", PRODUCT: "Produto" },
  buttons: { COPY_CODE: "Copiar código da oferta", OTP: "Copiar código", REQUEST_CONTACT_INFO: "Compartilhar dados de contato" },
};
