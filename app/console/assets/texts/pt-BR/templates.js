import { count, plural } from "../../format.js";

/** @type {typeof import("../en/templates.js").templates} */
export const templates = {
  title: "Modelos",
  lead: "Mensagens aprovadas para iniciar uma conversa ou escrever depois de 24 horas de silêncio. O provedor analisa cada uma.",
  newOne: "Novo modelo",
  sync: "Sincronizar",
  synced: (/** @type {number} */ created, /** @type {number} */ updated, /** @type {number} */ deleted) =>
    `Sincronizado. Novos: ${count(created)}. Atualizados: ${count(updated)}. Excluídos: ${count(deleted)}.`,
  columns: ["Nome", "Idioma", "Categoria", "Status", "Atualizado"],
  filters: { status: "Status", language: "Idioma", category: "Categoria" },
  emptyTitle: "Nenhum modelo ainda",
  emptyBody: "Crie seu primeiro modelo ou sincronize os que sua conta já tem no provedor.",
  none: "Nenhum modelo encontrado.",
  most: "Mostrando os primeiros 200. Use os filtros para achar os outros.",
  unknown: "desconhecida",
  changesTo: (/** @type {string} */ category) => `, muda para ${category} (com outro preço): `,
  soon: "em breve",
  id: "ID do modelo",
  providerID: "ID no provedor",
  facts: { language: "Idioma", category: "Categoria", updated: "Atualizado", provider: "ID no provedor", number: "Número" },
  variables: "Variáveis",
  variablesLead: "Preenchidas na hora do envio.",
  variable: ["Variável", "Exemplo"],
  edit: "Editar",
  broadcast: "Nova transmissão",
  remove: "Excluir",
  removed: "Modelo excluído",
  removeTitle: (/** @type {string} */ name) => `Excluir “${name}”?`,
  removeBody: "Ele também é excluído no provedor. Os envios dele vão falhar, e um nome aprovado fica até 30 dias sem poder ser usado.",
  pending: "Em análise no provedor. Leva alguns minutos, no máximo um dia. O resultado aparece aqui.",
  pendingEdit: "Depois da análise, você pode editar de novo.",
  helps: "O que costuma ajudar: ",
};

/** Why the provider refuses or stops a template, and what usually helps. @type {typeof import("../en/templates.js").reasons} */
export const reasons = {
  ABUSIVE_CONTENT: {
    why: "O provedor considera o conteúdo abusivo.",
    help: "tire ameaças e pressão, e diga com clareza quem escreve e por quê.",
  },
  INCORRECT_CATEGORY: {
    why: "A categoria não combina com o conteúdo.",
    help: "ofertas e novidades são MARKETING. Avisos que a pessoa espera, como um recibo, são UTILITY.",
  },
  INVALID_FORMAT: {
    why: "O formato é inválido.",
    help: "numere as variáveis a partir de 1, ponha texto em volta de cada uma, use exemplos reais e links do seu próprio domínio.",
  },
  PROMOTIONAL: {
    why: "É promocional, e a categoria não permite.",
    help: "mude para MARKETING ou tire a oferta.",
  },
  SCAM: {
    why: "Parece golpe.",
    help: "diga o nome da empresa, use links do seu próprio domínio e nunca peça códigos, senhas ou cartões.",
  },
  TAG_CONTENT_MISMATCH: {
    why: "O texto não combina com o idioma ou a categoria.",
    help: "escreva tudo, até os exemplos, no idioma que você escolheu.",
  },
  CATEGORY_NOT_AVAILABLE: {
    why: "Sua conta ainda não pode usar esta categoria.",
    help: "verifique a empresa no provedor ou escolha outra categoria.",
  },
  FIRST_PAUSE: {
    why: "Pessoas bloquearam ou denunciaram este modelo, por isso ele está pausado por 3 horas.",
    help: "envie para menos gente, e só para quem espera a mensagem.",
  },
  SECOND_PAUSE: {
    why: "Pessoas bloquearam ou denunciaram este modelo de novo, por isso ele está pausado por 6 horas.",
    help: "mude o texto antes que ele seja desativado de vez.",
  },
  RATE_LIMITING_PAUSE: {
    why: "Foi enviado para muita gente que não responde.",
    help: "envie para menos gente, e só para quem espera a mensagem.",
  },
  DISABLED: {
    why: "O provedor desativou este modelo de vez.",
    help: "crie um novo, com outro nome e outro texto.",
  },
};

/** @type {typeof import("../en/templates.js").unknownReason} */
export const unknownReason = {
  why: "O provedor rejeitou este modelo.",
  help: "leia como quem não conhece você, deixe mais claro e envie de novo.",
};

/** @type {typeof import("../en/templates.js").builder} */
export const builder = {
  title: "Novo modelo",
  templates: "Modelos",
  edit: (/** @type {string} */ name) => `Editar ${name}`,
  editLead: "As mudanças passam por nova análise. Até ela terminar, você não pode editar o modelo.",
  addVariable: "Adicionar variável",
  left: (/** @type {number} */ n, /** @type {number} */ most) => `${count(n)} de ${count(most)} caracteres`,
  examples: "Exemplos",
  examplesLead: "Quem analisa vê o texto preenchido com eles.",
  example: (/** @type {string} */ name) => `Exemplo para {{${name}}}`,
  buttons: "Botões",
  addButton: "Adicionar botão",
  addCardButton: "Adicionar botão aos cartões",
  buttonKinds: { QUICK_REPLY: "Resposta rápida", URL: "Link", PHONE_NUMBER: "Número de telefone", COPY_CODE: "Código da oferta" },
  remove: "Remover",
  removeCard: "Remover cartão",
  cards: "Cartões",
  cardsLead: "Imagens lado a lado, cada uma com texto e botões. Só para marketing, de 2 a 10 cartões.",
  addCard: "Adicionar cartão",
  card: (/** @type {number} */ n) => `Cartão ${n}`,
  warns: "Incluir um aviso para não compartilhar o código",
  saveHint: "Ao salvar, o modelo vai para análise.",
  submit: "Salvar",
  busy: "Salvando…",
  submitted: "Enviado para análise",
  cancel: "Cancelar",
  more: "Confira os campos marcados acima.",
  name: { label: "Nome", hint: "Para a sua equipe e o seu código, como order_shipped. Quem recebe não vê." },
  language: "Idioma",
  category: "Categoria",
  categories: {
    UTILITY: { label: "Utilidade", hint: "Avisos que a pessoa espera: um recibo, uma entrega, uma mudança." },
    MARKETING: { label: "Marketing", hint: "Ofertas, novidades, convites. A pessoa pode parar de receber." },
    AUTHENTICATION: { label: "Autenticação", hint: "Um código de acesso. O provedor escreve o texto." },
  },
  header: "Cabeçalho",
  formats: { none: "Nenhum", text: "Texto" },
  headerText: "Texto do cabeçalho",
  url: { label: "URL do arquivo", hint: "Uma URL https. Quem analisa vê este arquivo. Cada envio usa o seu." },
  body: { label: "Texto", hint: "*negrito*, _itálico_, ~tachado~. {{1}} ou {{name}} é preenchido na hora do envio." },
  footer: "Rodapé",
  minutes: "O código expira em (minutos)",
  buttonText: "Texto do botão",
  link: "Link",
  linkExample: "Exemplo do link completo",
  phone: "Número de telefone",
  codeExample: "Exemplo de código",
  cardText: "Texto do cartão",
};

/** @type {typeof import("../en/templates.js").draft} */
export const draft = {
  name: "Use só letras minúsculas, números e _, como em order_shipped.",
  blank: "Preencha este campo.",
  long: (/** @type {number} */ n) => plural(n, { one: `No máximo ${count(n)} caractere.`, other: `No máximo ${count(n)} caracteres.` }),
  braces: "Escreva as variáveis com duas chaves de cada lado: {{1}}.",
  names: "Numere as variáveis a partir de 1, sem pular, ou dê nomes com letras minúsculas, números e _.",
  edge: "Não comece nem termine com uma variável. Ponha texto antes e depois.",
  beside: "Ponha texto entre duas variáveis.",
  many: "Variáveis demais para tão pouco texto.",
  oneVariable: "Use no máximo uma variável.",
  noVariables: "Aqui não pode ter variáveis.",
  line: "Use uma linha só.",
  https: "Digite uma URL https.",
  linkEnd: "Use uma variável, {{1}}, bem no final.",
  phone: "Inclua o código do país, como em +15550001111.",
  example: (/** @type {string} */ name) => `Dê um exemplo para {{${name}}}.`,
  cards: "Use de 2 a 10 cartões.",
  cardButton: "Cada cartão precisa de um botão.",
  minutes: "De 1 a 90.",
};
