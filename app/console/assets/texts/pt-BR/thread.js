import { count, plural } from "../../format.js";

/** @type {typeof import("../en/thread.js").thread} */
export const thread = {
  region: (/** @type {string} */ name) => "Conversa com " + name,
  log: "Mensagens",
  newest: "Mensagens mais recentes",
  fresh: (/** @type {number} */ n) => plural(n, { one: `${count(n)} nova`, other: `${count(n)} novas` }),
};

/** @type {typeof import("../en/thread.js").head} */
export const head = {
  back: "Voltar",
  details: "Detalhes",
  resolve: "Resolver",
  reopen: "Reabrir",
  more: "Mais ações",
  snooze: "Adiar",
  wake: "Cancelar adiamento",
  snoozed: (/** @type {string} */ until) => "Adiada até " + until,
  unread: "Marcar como não lida",
  goOn: "Seguir para a próxima",
  takeOver: "Assumir",
  handOver: "Transferir",
  held: (/** @type {string} */ who) => "Com " + who,
  you: "você",
  bot: (/** @type {string} */ name) => `o bot ${name}`,
  phoneApp: "o app do celular",
  looking: (/** @type {string} */ names, /** @type {number} */ n) =>
    plural(n, { one: `${names} também está vendo esta conversa`, other: `${names} também estão vendo esta conversa` }),
  typing: (/** @type {string} */ names, /** @type {number} */ n) =>
    plural(n, { one: `${names} está digitando`, other: `${names} estão digitando` }),
};

/** @type {typeof import("../en/thread.js").message} */
export const message = {
  reply: "Responder",
  react: "Reagir",
  more: "Mais",
  trace: "Rastrear",
  copy: "Copiar texto",
  cancel: "Cancelar envio",
  again: "Enviar de novo",
  edit: "Editar",
  drop: "Remover",
  edited: "Editada",
  deleted: "Apagada por quem enviou",
  you: "Você",
  sources: { api: "API", app: "App do celular", broadcast: "Campanha", gateway: "API", rule: "Regra" },
  notSent: "Não enviada: ",
  unread: "Mensagens não lidas",
  quoted: "Mensagem original",
  missing: "Uma mensagem anterior",
  reactedBy: (/** @type {string} */ emoji, /** @type {string} */ who) => `${who} reagiu com ${emoji}`,
};

/** Failures in words, by their code. @type {typeof import("../en/thread.js").failures} */
export const failures = {
  outside_24h_window: "já faz mais de 24 horas que esta pessoa escreveu. Envie um modelo",
  marketing_opted_out: "esta pessoa parou de receber marketing",
  marketing_blocked_by_user: "esta pessoa bloqueou mensagens de marketing",
  recipient_unavailable: "este número não está disponível",
  unsupported_message_type: "o app desta pessoa não mostra este tipo de mensagem",
  account_restricted: "o provedor restringiu seu número",
  account_locked: "o provedor bloqueou seu número",
  conversation_held: "outra pessoa está atendendo esta conversa",
  consent_required: "esta pessoa ainda não deu consentimento",
  customer_suspended: "o cliente deste número está suspenso",
  permission_revoked: "a permissão para enviar por este número foi revogada",
  auth_expired: "o acesso ao provedor expirou. Um administrador precisa conectar o número de novo",
  app_rate_limited: "mensagens demais ao mesmo tempo. Tente novamente mais tarde",
  account_rate_limited: "mensagens demais por este número. Tente novamente mais tarde",
  template_not_found: "o modelo não existe neste idioma",
  template_paused: "o provedor pausou este modelo",
  template_policy_violation: "o modelo vai contra a política do provedor",
  media_upload_failed: "não foi possível enviar o arquivo ao provedor",
  media_download_failed: "não foi possível baixar o arquivo",
  undeliverable: "não foi possível entregar",
  policy_violation: "vai contra a política do provedor",
  subscription_inactive: "sua assinatura não está ativa",
  message_cancelled: "o envio foi cancelado",
  131056: "mensagens demais para esta pessoa. Tente novamente mais tarde", // by the provider's number
};

/** @type {typeof import("../en/thread.js").content} */
export const content = {
  kinds: {
    image: "Foto",
    video: "Vídeo",
    audio: "Áudio",
    sticker: "Figurinha",
    document: "Documento",
    location: "Localização",
    contacts: "Contato",
    template: "Modelo",
    order: "Pedido",
    interactive: "Mensagem com botões",
    other: "Enviada por outro programa. Não dá para mostrar esta mensagem aqui.",
    unsupported: "Este tipo de mensagem não é aceito. Peça para a pessoa enviar de outro jeito.",
  },
  voice: "Mensagem de voz",
  reacted: (/** @type {string} */ emoji) => `Reagiu com ${emoji}`,
  tookBack: "Removeu uma reação",
  loading: "Baixando o arquivo…",
  lost: "Não foi possível baixar o arquivo.",
  gone: "Este arquivo não está mais guardado.",
  linked: "Enviado como link",
  shareContact: "Compartilhar dados de contato",
  items: (/** @type {number} */ n) => plural(n, { one: `${count(n)} item`, many: `${count(n)} de itens`, other: `${count(n)} itens` }),
  templateOf: (/** @type {string} */ name) => `Modelo ${name}`,
};

/** @type {typeof import("../en/thread.js").changes} */
export const changes = {
  by: (/** @type {string} */ what, /** @type {string} */ who) => (who ? `${what} por ${who}` : what),
  assigned: (/** @type {string} */ who) => "Atribuída a " + who,
  unassigned: "Atribuição removida",
  byTurn: (/** @type {string} */ who) => `Atribuída automaticamente a ${who}`,
  labeled: (/** @type {string} */ label) => `Etiqueta ${label} adicionada`,
  unlabeled: (/** @type {string} */ label) => `Etiqueta ${label} removida`,
  resolved: "Resolvida",
  reopened: "Reaberta",
  answered: "Reaberta por uma nova mensagem",
  pending: "Marcada como pendente",
  snoozed: (/** @type {string} */ until) => "Adiada até " + until,
  woken: "Adiamento encerrado",
  handedOver: (/** @type {string} */ who) => "Transferida para " + who,
  released: "Liberada",
  rule: "uma regra",
  phoneApp: "o app do celular",
  api: "uma chamada de API",
};

/** @type {typeof import("../en/thread.js").notes} */
export const notes = {
  note: "Nota",
  by: (/** @type {string} */ who) => "Nota de " + who,
  own: "Sua nota",
  key: "API",
  edited: "editada",
  more: "Mais",
  edit: "Editar nota",
  save: "Salvar",
  delete: "Excluir nota",
  deleteTitle: "Excluir esta nota?",
  deleteBody: "Ela é excluída para toda a equipe. Não dá para desfazer.",
};

/** @type {typeof import("../en/thread.js").pictures} */
export const pictures = {
  title: "Imagem",
  previous: "Imagem anterior",
  next: "Próxima imagem",
  zoomIn: "Aumentar zoom",
  zoomOut: "Diminuir zoom",
  download: "Baixar",
};

/** @type {typeof import("../en/thread.js").player} */
export const player = {
  play: "Reproduzir",
  pause: "Pausar",
  position: "Posição",
  at: (/** @type {string} */ now, /** @type {string} */ length) => `${now} de ${length}`,
  speed: (/** @type {string} */ factor) => `Velocidade ${factor}`,
  broken: "Este navegador não consegue reproduzir.",
  download: "Baixar",
};

/** @type {typeof import("../en/thread.js").reactions} */
export const reactions = { emoji: "Emoji", react: "Reagir" };
