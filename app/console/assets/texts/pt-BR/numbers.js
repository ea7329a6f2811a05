/** @type {typeof import("../en/numbers.js").numbers} */
export const numbers = {
  title: "Números",
  number: "Número",
  lead: "Os números comerciais pelos quais você envia.",
  newOne: "Novo número",
  columns: ["Nome", "Número", "Status", "Conectado"],
  none: "Nenhum número ainda",
  noneBody: "Conecte um número da sua conta comercial para enviar e receber mensagens.",
  noneAgent: "Peça a um administrador para conectar o primeiro.",
  id: "ID do número de telefone",
  register: "Registrar",
  limited: "O provedor está limitando a velocidade de envio. As mensagens podem esperar alguns minutos.",
  again: "Conectar de novo",
  check: "Verificar agora",
  checked: "Verificado",
  disconnect: "Desconectar",
  disconnectTitle: (/** @type {string} */ name) => `Desconectar ${name}?`,
  disconnectBody: "Ele para de enviar. As mensagens e os contatos continuam, e você pode conectar de novo.",
  disconnected: "Desconectado",
  delete: "Excluir",
  deleteTitle: (/** @type {string} */ name) => `Excluir ${name}?`,
  deleteBody: "As mensagens, os contatos, os arquivos e os eventos dele são excluídos de vez.",
  deleted: "Número excluído",
  quality: "Últimas 24 horas",
  figures: { sent: "Enviadas", delivered: "Entregues", read: "Lidas", failed: "Com falha", received: "Recebidas" },
  failures: "Por que as mensagens falharam",
  webhook: "Webhook do provedor",
  webhookLead: "Coloque esta URL nas configurações do seu app no provedor, para que ele avise aqui sobre mensagens e mudanças.",
  webhookName: "endereço",
  details: "Detalhes",
  rows: { phone: "Número", waba: "Conta comercial", provider: "Status no provedor", made: "Conectado", customer: "Cliente" },
};

/** The states of a number in words, and what to do next. @type {typeof import("../en/numbers.js").states} */
export const states = {
  connected: { word: "conectado", next: "Envia e recebe mensagens." },
  degraded: {
    word: "precisa de atenção",
    next: "Não pode enviar. Se o registro se perdeu, registre de novo. Se o token de acesso expirou, conecte com um novo.",
  },
  onboarding: { word: "não registrado", next: "Registre com o PIN para começar a enviar." },
  disconnected: { word: "desconectado", next: "Não pode enviar. Verifique agora ou conecte de novo com um novo token." },
  restricted: { word: "restrito", next: "Por enquanto, o provedor não deixa este número enviar. Sua conta comercial mostra o motivo." },
};

/** @type {typeof import("../en/numbers.js").failures} */
export const failures = { caption: "Falhas por código", columns: ["Código", "Significado", "Mensagens"] };

/** @type {typeof import("../en/numbers.js").forms} */
export const forms = {
  newOne: "Novo número",
  again: "Conectar de novo",
  connect: "Conectar",
  trying: "Consultando o provedor…",
  connected: "Conectado",
  madeUp: "No sandbox, o provedor é simulado e os números são fictícios.",
  real: "Primeiro conferimos o token. Nada é salvo se o provedor não aceitar.",
  register: "Registrar",
  registered: "Registrado",
  registerLead: "Se o número tem confirmação em duas etapas, digite o PIN dele. Se não tem, este passa a ser o PIN.",
  name: { label: "Nome", hint: "Deixe em branco para gerar um." },
  number: { label: "Número", hint: "Deixe em branco para gerar um." },
  id: "ID do número de telefone",
  waba: "ID da conta comercial",
  token: { label: "Token de acesso", hint: "De um usuário do sistema com permissão para gerenciar e enviar." },
  pin: "PIN",
  keptHint: "Seis dígitos. Deixe em branco para usar o PIN guardado para este número.",
  pinHint: "Seis dígitos. Só é preciso para registrar um número que ainda não pode enviar.",
};

/** @type {typeof import("../en/numbers.js").hours} */
export const hours = {
  title: "Horário de atendimento",
  lead: "As regras podem responder fora deste horário. Arraste sobre um dia para mudar ou digite horários, como 09:00-12:30, 14:00-18:00.",
  open: "aberto agora",
  closed: "fechado agora",
  always: "Sempre aberto",
  week: "Semana",
  days: { mon: "Segunda", tue: "Terça", wed: "Quarta", thu: "Quinta", fri: "Sexta", sat: "Sábado", sun: "Domingo" },
  closedAll: "Fechado",
  zone: "Fuso horário",
  holidays: {
    label: "Feriados",
    hint: "Um por linha, como “2026-12-25 Natal”. Fechado o dia todo, a não ser com horário: “2026-12-24 09:00-12:00 Véspera de Natal”.",
  },
  save: "Salvar horário",
  saving: "Salvando…",
  saved: "Horário salvo",
};

/** @type {typeof import("../en/numbers.js").optOut} */
export const optOut = {
  title: "Palavras de descadastro",
  lead: "Quem manda só uma palavra para parar deixa de receber marketing. Com uma palavra para voltar, recebe de novo.",
  enabled: "Palavras de descadastro",
  follow: "Obedecer às palavras de descadastro",
  wordsHint: "Separe as palavras com vírgulas. Maiúsculas, acentos e pontuação no fim não fazem diferença.",
  stop: "Palavras para parar",
  start: "Palavras para voltar",
  stopReply: "Resposta a quem pede para parar",
  startReply: "Resposta a quem pede para voltar",
  save: "Salvar",
  saved: "Salvo",
};
