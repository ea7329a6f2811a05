import { count, plural } from "../../format.js";

/** @type {typeof import("../en/settings.js").push} */
export const push = {
  insecure: "As notificações precisam de https. Peça a quem administra o servidor para pôr uma URL https em server.public_url.",
  unsupported: "Este navegador não tem suporte a notificações.",
  denied: "Seu navegador bloqueia as notificações deste site. Libere nas configurações do site e tente novamente.",
};

/** @type {typeof import("../en/settings.js").settings} */
export const settings = {
  settings: "Configurações",
  team: "Equipe",
};

/** @type {typeof import("../en/settings.js").sessions} */
export const sessions = {
  caption: "Sessões",
  columns: ["Navegador", "Endereço IP", "Login", "Último acesso", "Encerrar"],
  current: "este navegador",
  none: "Nenhuma sessão ativa.",
  end: "Encerrar",
};

/** @type {typeof import("../en/settings.js").health} */
export const health = {
  title: "Saúde",
  lead: "Como vão as mensagens e o que precisa de atenção.",
  look: "Precisa de atenção",
  well: "Todos os números e webhooks estão funcionando.",
  day: "Últimas 24 horas",
  failed: "Mensagens com falha",
  failedOf: (/** @type {number} */ n, /** @type {number} */ of, /** @type {string} */ fine, /** @type {string} */ bad) =>
    `${count(n)} de ${count(of)}. Abaixo de ${fine} é normal; a partir de ${bad}, precisa de atenção.`,
  noMessages: "Nenhuma mensagem enviada.",
  delivered: "Entregas de webhooks",
  deliveredOf: (/** @type {number} */ n, /** @type {number} */ of, /** @type {string} */ fine) =>
    `${count(n)} de ${count(of)} deram certo. A partir de ${fine} é normal.`,
  noDeliveries: "Nenhuma entrega.",
  verdicts: { good: "tudo bem", warn: "fique de olho", bad: "precisa de atenção" },
  replica: "Réplica",
  replicaLag: (/** @type {string} */ seconds) => `${seconds} s de atraso`,
  replicaWaiting: (/** @type {string} */ size) => `${size} aguardando envio.`,
  replicaVerified: (/** @type {string} */ day) => `Restauração verificada em ${day}.`,
  replicaUnverified: "Nenhuma restauração verificada ainda.",
  usage: "Este mês",
  used: (/** @type {number} */ n, /** @type {number} */ of, /** @type {string} */ plan) => plural(of, {
    one: `${count(n)} de ${count(of)} mensagem do plano ${plan}.`,
    many: `${count(n)} de ${count(of)} de mensagens do plano ${plan}.`,
    other: `${count(n)} de ${count(of)} mensagens do plano ${plan}.`,
  }),
  usedUnlimited: (/** @type {number} */ n, /** @type {string} */ plan) => plural(n, {
    one: `${count(n)} mensagem no plano ${plan}, que não tem limite.`,
    many: `${count(n)} de mensagens no plano ${plan}, que não tem limite.`,
    other: `${count(n)} mensagens no plano ${plan}, que não tem limite.`,
  }),
  meter: "Mensagens neste mês",
  failures: "Por que as mensagens falharam nas últimas 24 horas",
  noFailures: "Nenhuma mensagem com falha.",
  volumes: "Últimos 30 dias",
  volumesLead: "Dias em UTC. Uma mensagem lida também conta como entregue e enviada.",
  plots: { received: "Recebidas", sent: "Enviadas", delivered: "Entregues", read: "Lidas", failed: "Com falha" },
};

/** @type {typeof import("../en/settings.js").keys} */
export const keys = {
  title: "Chaves de API",
  lead: "Seus programas entram com chaves de API. Crie uma para cada programa, só com o acesso de que ele precisa.",
  newKey: "Nova chave",
  columns: ["Nome", "Chave", "Acesso", "Último uso", "Expira", "Status", "Revogar"],
  unnamed: "Sem nome",
  never: "nunca",
  bot: (/** @type {string} */ name) => `Bot: ${name}`,
  allNumbers: "Todos os números",
  noNumbers: "Números removidos",
  more: (/** @type {number} */ n) => `e mais ${count(n)}`,
  revoke: "Revogar",
  revoked: "Chave revogada",
  revokeTitle: (/** @type {string} */ label) => `Revogar “${label}”?`,
  revokeNameless: "Revogar esta chave?",
  revokeBody: (/** @type {string} */ last4) =>
    `Os programas que usam a chave com final ${last4} param de funcionar na hora. Uma chave revogada não volta.`,
  emptyTitle: "Nenhuma chave ainda",
  emptyBody: "Crie uma chave para fazer sua primeira chamada de API.",
  label: { label: "Nome", hint: "O programa que usa a chave, como “loja” ou “exportação diária”." },
  expires: "Expira",
  expiry: { none: "Nunca", hours: { 720: "Em 30 dias", 2160: "Em 90 dias", 8760: "Em um ano" } },
  access: "Acesso",
  accesses: { all: "Tudo", read: "Só leitura", some: "Escolher" },
  scopes: "Permissões",
  scope: {
    read: { label: "Leitura", hint: "Mensagens, contatos e todo o resto, inclusive eventos ao vivo." },
    send: { label: "Envio", hint: "Mensagens, confirmações de leitura e arquivos." },
    inbox: { label: "Caixa de entrada", hint: "Alterar conversas, notas, contatos, etiquetas, visualizações e respostas rápidas." },
    campaigns: { label: "Campanhas", hint: "Alterar modelos e transmissões." },
    webhooks: { label: "Webhooks", hint: "Alterar webhooks. Um webhook recebe tudo, então o acesso é tão amplo quanto o de Leitura." },
    platform: { label: "Plataforma", hint: "Alterar clientes, links de conexão, números e regras." },
  },
  noneChosen: "Escolha pelo menos uma.",
  numbers: { label: "Números", hint: "Deixe em branco para todos os números, inclusive os futuros." },
  create: "Criar chave",
  once: "Copie agora. Ela não será mostrada de novo.",
  tryIt: "Experimente",
  keyName: "chave",
  curlName: "comando",
};

/** @type {typeof import("../en/settings.js").labels} */
export const labels = {
  title: "Etiquetas",
  lead: "Organize contatos e conversas, filtre a caixa de entrada e escolha quem recebe uma transmissão.",
  newLabel: "Nova etiqueta",
  editTitle: "Editar etiqueta",
  columns: ["Nome", "Equipe", "Criada", "Editar e excluir"],
  edit: "Editar",
  delete: "Excluir",
  deleteTitle: (/** @type {string} */ name) => `Excluir “${name}”?`,
  deleteBody: "Ela sai de todos os contatos e conversas. Eles não são excluídos.",
  deleted: "Etiqueta excluída",
  saved: "Salvo",
  save: "Salvar",
  create: "Criar etiqueta",
  name: "Nome",
  color: "Cor",
  colors: {
    gray: "cinza",
    red: "vermelho",
    orange: "laranja",
    amber: "âmbar",
    yellow: "amarelo",
    lime: "verde-limão",
    green: "verde",
    emerald: "esmeralda",
    teal: "verde-azulado",
    sky: "azul-céu",
    blue: "azul",
    violet: "violeta",
    pink: "rosa",
  },
  emptyTitle: "Nenhuma etiqueta ainda",
  emptyBody: "Crie etiquetas curtas, como “VIP” ou “aguardando entrega”.",
};

/** @type {typeof import("../en/settings.js").notifications} */
export const notifications = {
  title: "Notificações",
  lead: "Receba avisos de novas mensagens, mesmo com o console fechado.",
  device: "Este dispositivo",
  deviceLead: "Ative as notificações em cada celular e computador que você usa. Você também pode instalar o console neles como app.",
  test: "Enviar um teste",
  tested: "Teste enviado",
  about: "Avisar sobre",
  aboutLead: "Vale em todos os seus dispositivos. No máximo uma por conversa a cada 30 segundos, e nenhuma da que está na tela.",
  saved: "Salvo",
  choices: {
    everything: "Tudo",
    mine_and_unassigned: "Minhas e não atribuídas",
    mentions: "Só menções",
    nothing: "Nada",
  },
  sounds: "Som",
  soundLead: "Toca um som curto enquanto o console está aberto em segundo plano. Só neste navegador.",
};

/** @type {typeof import("../en/settings.js").quickReplies} */
export const quickReplies = {
  title: "Respostas rápidas",
  lead: "Respostas que você envia sempre. Digite / na mensagem para escolher uma.",
  newOne: "Nova resposta rápida",
  editTitle: "Editar resposta rápida",
  columns: ["Atalho", "Texto", "Botões ou lista", "Editar e excluir"],
  edit: "Editar",
  delete: "Excluir",
  deleteTitle: (/** @type {string} */ shortcut) => `Excluir /${shortcut}?`,
  deleteBody: "As mensagens já enviadas com ela continuam.",
  deleted: "Resposta rápida excluída",
  save: "Salvar",
  saved: "Salvo",
  shortcut: { label: "Atalho", hint: "Letras minúsculas, números, _ e -, como “horario”." },
  text: {
    label: "Texto",
    hint: "{{first_name}} ou {{name}} vira o nome do contato. Para quem não tem nome, dê um texto alternativo: {{first_name|cliente}}.",
  },
  none: "Nenhuma resposta rápida ainda",
  noneBody: "Horário de funcionamento, política de troca: escreva uma vez e use sempre.",
};
