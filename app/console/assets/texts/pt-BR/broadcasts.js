import { count, plural } from "../../format.js";

/** @type {typeof import("../en/broadcasts.js").broadcasts} */
export const broadcasts = {
  title: "Transmissões",
  lead: "Envie um modelo para muita gente. As respostas da sua equipe sempre passam na frente.",
  newOne: "Nova transmissão",
  status: "Status",
  columns: ["Nome", "Status", "Progresso", "Modelo", "Quando"],
  emptyTitle: "Nenhuma transmissão ainda",
  emptyBody: "Escolha um modelo aprovado e uma etiqueta, e envie para todo mundo que tem essa etiqueta.",
  none: "Nenhuma transmissão encontrada.",
  id: "ID da transmissão",
  of: (/** @type {number} */ done, /** @type {number} */ all) => `${count(done)} de ${count(all)}`,
  progress: "Progresso",
  moves: { pause: "Pausar", resume: "Retomar" },
  cancel: "Cancelar",
  cancelTitle: (/** @type {string} */ name) => `Cancelar ${name}?`,
  cancelBody: (/** @type {number} */ n) => plural(n, {
    one: `${count(n)} pessoa ainda na fila não vai receber. O que já foi enviado continua enviado.`,
    many: `${count(n)} de pessoas ainda na fila não vão receber. O que já foi enviado continua enviado.`,
    other: `${count(n)} pessoas ainda na fila não vão receber. O que já foi enviado continua enviado.`,
  }),
  cancelAction: "Cancelar transmissão",
  starts: "Começa: ",
  started: "Começou: ",
  ended: "Terminou: ",
  rate: (/** @type {number} */ n) => `${count(n)} por segundo`,
  left: (/** @type {string} */ words) => `termina em cerca de ${words}`,
  paused: {
    requested: "Pausada manualmente. Nada é enviado até alguém retomar.",
    restored: "Pausada porque o servidor foi restaurado de um backup. Confira o que já foi enviado antes de retomar.",
    quota_exceeded: "Pausada: as mensagens do seu plano para este mês acabaram.",
    account_rate_limited: "Pausada: o provedor pediu para ir mais devagar. Ela volta sozinha.",
  },
  stopped: (/** @type {string} */ code) => `Pausada: este número não pode enviar agora (${code}). Resolva isso e depois retome.`,
  funnel: "Resultados",
  counts: {
    sent: "Enviadas",
    delivered: "Entregues",
    read: "Lidas",
    failed: "Com falha",
    skipped: "Não enviadas",
    waiting: "Aguardando",
  },
  replies: "Respostas",
  repliesLead: "Quem respondeu ou tocou em um botão em até 3 dias.",
  replied: "Responderam",
  cost: "Custo",
  billable: (/** @type {number} */ n) => plural(n, {
    one: `${count(n)} mensagem paga`,
    many: `${count(n)} de mensagens pagas`,
    other: `${count(n)} mensagens pagas`,
  }),
  estimated: (/** @type {string} */ billable, /** @type {string} */ amount) => `${billable}, custo estimado de ${amount}`,
  tapped: (/** @type {string} */ button) => `Tocaram em “${button}”`,
  failed: "Falhas por motivo",
  skipped: "Não enviadas, por motivo",
  failure: (/** @type {string} */ words, /** @type {number} */ code) => `${words} (${code})`,
  reasonColumns: ["Motivo", "Pessoas"],
  recipients: "Destinatários",
  recipient: ["Destinatário", "Status", "Motivo"],
  noRecipients: "Nenhum destinatário encontrado.",
  export: "Exportar",
  message: "Mensagem",
};

/** @type {typeof import("../en/broadcasts.js").newBroadcast} */
export const newBroadcast = {
  title: "Nova transmissão",
  broadcasts: "Transmissões",
  steps: ["Modelo", "Público", "Quando", "Revisão"],
  name: { label: "Nome", hint: "Só a sua equipe vê." },
  template: "Modelo",
  choose: "Escolha um",
  fieldsHint: "Use {{first_name}}, {{name}}, {{email}}, outro campo ou uma coluna do arquivo. Texto alternativo: {{first_name|cliente}}.",
  noTemplates: "Nenhum modelo aprovado",
  noTemplatesBody: "Uma transmissão precisa de um modelo aprovado pelo provedor.",
  newTemplate: "Novo modelo",
  next: "Avançar",
  back: "Voltar",
  noName: "Dê um nome.",
  noTemplate: "Escolha um modelo.",
  when: "Quando",
  times: { now: "Agora", later: "Depois" },
  at: "Data e hora",
  now: "Assim que você iniciar",
  noTime: "Escolha data e hora.",
  past: "Escolha uma data no futuro.",
  test: "Teste",
  testLead: "Envie antes para o seu celular. Os campos mostram o texto alternativo ou o próprio nome.",
  to: "Número de telefone",
  sendTest: "Enviar teste",
  tested: (/** @type {string} */ to) => `Enviado para ${to}`,
  start: "Iniciar transmissão",
  schedule: "Agendar transmissão",
  busy: "Um momento…",
  nobody: "Ninguém receberia esta mensagem. Mude o público ou a mensagem.",
  made: "Transmissão criada",
};

/** @type {typeof import("../en/broadcasts.js").audience} */
export const audience = {
  kind: "Para",
  kinds: {
    label: "Todo mundo com uma etiqueta",
    file: {
      label: "As linhas de um arquivo CSV",
      hint: "Uma coluna tem os números de telefone. As outras podem preencher a mensagem.",
    },
    numbers: { label: "Estes números", hint: "Um por linha, até 10.000." },
  },
  label: "Etiqueta",
  choose: "Escolha uma",
  file: "Arquivo CSV",
  numbers: "Números",
  column: "Nenhuma coluna do arquivo se chama “phone number”. Renomeie a que tem os telefones.",
  bad: (/** @type {string} */ line) => `“${line}” não é um número de telefone.`,
  none: { label: "Escolha uma etiqueta.", file: "Escolha um arquivo.", numbers: "Digite pelo menos um número." },
  counting: "Conferindo os destinatários…",
  noRecipients: {
    label: "Nenhum contato tem esta etiqueta. Etiquetas de conversas não contam.",
    file: "O arquivo não tem destinatários.",
    numbers: "Digite pelo menos um número.",
  },
  labelled: (/** @type {string} */ name) => `Todo mundo com a etiqueta ${name}`,
  listed: (/** @type {number} */ n) =>
    plural(n, { one: `${count(n)} número que você digitou`, other: `${count(n)} números que você digitou` }),
};

/** @type {typeof import("../en/broadcasts.js").forecast} */
export const forecast = {
  /** Why people were skipped, after how many they are. */
  reasons: {
    marketing_opted_out: "sem marketing, a pedido da pessoa",
    consent_required: "sem consentimento",
    missing_parameter: "sem valor para um campo da mensagem",
    invalid_parameter: "com um valor que não pode ser enviado: quebra de linha, tabulação ou muitos espaços",
    invalid_phone_number: "sem um número de telefone válido",
    duplicate: "por já receber em outro número",
    contact_deleted: "por exclusão do contato",
    broadcast_cancelled: "sem envio até o cancelamento",
  },
  fallback: "Para falar com todo mundo, dê um texto alternativo ao campo, como {{name|cliente}}.",
  people: (/** @type {number} */ n) =>
    plural(n, { one: `${count(n)} pessoa`, many: `${count(n)} de pessoas`, other: `${count(n)} pessoas` }),
  atLeast: (/** @type {number} */ n) => plural(n, {
    one: `Mais de ${count(n)} pessoa`,
    many: `Mais de ${count(n)} de pessoas`,
    other: `Mais de ${count(n)} pessoas`,
  }),
  skippedFor: (/** @type {number} */ n, /** @type {string} */ reason) => `${count(n)} ${reason}`,
  skipped: "Vão ficar de fora:",
  repeated: (/** @type {number} */ n) => plural(n, {
    one: `${count(n)} repetido na lista, com um só envio`,
    other: `${count(n)} repetidos na lista, com um só envio para cada`,
  }),
  capped: (/** @type {number} */ n) => `Só conferimos os primeiros ${count(n)}.`,
};

/** @type {typeof import("../en/broadcasts.js").review} */
export const review = {
  facts: ["Nome", "De", "Modelo", "Para", "Quando"],
  change: "Mudar",
  changes: ["Mudar modelo", "Mudar público", "Mudar data"], // for those who hear which
  counting: "Conferindo os destinatários…",
  all: (/** @type {number} */ n) => plural(n, {
    one: `Vai para ${count(n)} pessoa`,
    many: `Vai para ${count(n)} de pessoas`,
    other: `Vai para ${count(n)} pessoas`,
  }),
  some: (/** @type {number} */ n, /** @type {number} */ total) => plural(total, {
    one: `Vai para ${count(n)} de ${count(total)} pessoa`,
    many: `Vai para ${count(n)} de ${count(total)} de pessoas`,
    other: `Vai para ${count(n)} de ${count(total)} pessoas`,
  }),
  capped: (/** @type {number} */ n) => `Só conferimos os primeiros ${count(n)}. Para o resto valem as mesmas regras.`,
  paused: {
    account_rate_limited: "O provedor pediu para este número ir mais devagar. A transmissão espera e depois começa sozinha.",
    quota_exceeded: "As mensagens do seu plano para este mês acabaram. A transmissão vai pausar assim que começar.",
  },
  stopped: (/** @type {string} */ code) => `Este número não pode enviar agora (${code}). A transmissão vai pausar assim que começar.`,
  quota: (/** @type {number} */ n) => plural(n, {
    one: `Seu plano ainda tem ${count(n)} mensagem este mês. Depois disso, a transmissão é pausada.`,
    many: `Seu plano ainda tem ${count(n)} de mensagens este mês. Depois disso, a transmissão é pausada.`,
    other: `Seu plano ainda tem ${count(n)} mensagens este mês. Depois disso, a transmissão é pausada.`,
  }),
  cost: (/** @type {string} */ amount) => `Custo estimado: ${amount}`,
  costHint: (/** @type {number} */ n) => plural(n, {
    one: "Se o provedor cobrar a mensagem. O que vale é a fatura dele.",
    many: `Se o provedor cobrar todas as ${count(n)} de mensagens. O que vale é a fatura dele.`,
    other: `Se o provedor cobrar todas as ${count(n)} mensagens. O que vale é a fatura dele.`,
  }),
  noCost: "Custo estimado: não disponível",
  noRates: "Não há tarifas para estas mensagens.",
  first: "O que as pessoas recebem",
  firstLead: (/** @type {number} */ n) => plural(n, {
    one: "A mensagem como esta pessoa vai ver.",
    other: `A mensagem como as primeiras ${count(n)} pessoas vão ver.`,
  }),
};
