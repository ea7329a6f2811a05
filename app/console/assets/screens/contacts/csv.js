/** The head of a file with columns, as spreadsheets write them: enough to show it and to name its columns. */

/**
 * parseHead reads the first records of a text. Quoted cells may hold separators, quotes
 * and line breaks. end is where the header line ends in the text.
 * @param {string} source
 * @param {number} most records
 * @returns {{ separator: string, records: string[][], end: number }}
 */
function parseHead(source, most) {
  const begin = source.startsWith("\ufeff") ? 1 : 0;
  const first = source.slice(begin).split(/\r?\n/, 1)[0];
  const separator = first.split(";").length > first.split(",").length ? ";" : ",";
  /** @type {string[][]} */
  const records = [];
  let cells = [""];
  let quoted = false;
  let end = source.length;

  for (let i = begin; i < source.length && records.length < most; i++) {
    const letter = source[i];
    const last = cells.length - 1;
    if (quoted) {
      if (letter !== '"') cells[last] += letter;
      else if (source[i + 1] === '"') cells[last] += source[i++];
      else quoted = false;
    } else if (letter === '"' && cells[last] === "") quoted = true;
    else if (letter === separator) cells.push("");
    else if (letter === "\n") {
      if (cells.length > 1 || cells[0].trim()) records.push(cells);
      if (records.length === 1) end = Math.min(end, i + 1);
      cells = [""];
    } else if (letter !== "\r") cells[last] += letter;
  }
  if (records.length < most && (cells.length > 1 || cells[0].trim())) records.push(cells);
  return { separator, records, end };
}

/** How much of a file is looked at for its header, and how many of its lines are shown. */
const headBytes = 64 << 10;
const shownLines = 4;

/**
 * readHead reads the first lines of a file. Where the header ends is counted in bytes, as
 * a decoder of single bytes shows it.
 * @param {File | undefined} file
 */
export async function readHead(file) {
  const bytes = file ? await file.slice(0, headBytes).arrayBuffer() : new ArrayBuffer(0);
  const { end } = parseHead(new TextDecoder("latin1").decode(bytes), 1);
  return { ...parseHead(new TextDecoder().decode(bytes), shownLines), end };
}

/**
 * renamed is a file with other names of its columns: only its first line is written anew.
 * @param {File} file
 * @param {{ separator: string, end: number }} head
 * @param {string[]} names
 */
export const renamed = (file, { separator, end }, names) =>
  new File([writeLine(names, separator), file.slice(end)], file.name, { type: "text/csv" });

/** What columns with phone numbers are called in the languages of the console. */
const phoneColumns = [
  /^(?=.)(to|(phone|mobile|cell|tele?|whatsapp)?[ _-]?(phone|number)?)$/i,
  /^((n[uú]mero )?(de )?)(tel[eé]fono|telefone|celular|m[oó]vil|whatsapp)$|^n[uú]mero$/i,
  /^((nomor|no\.?) )?(telepon|telp|hp|ponsel|wa|whatsapp)$|^nomor$/i,
  /^(رقم )?(ال)?(هاتف|جوال|موبايل|واتساب)$|^(ال)?رقم$/,
];

/** isPhoneColumn reports whether a column is called as one with phone numbers is. @param {string} name */
export const isPhoneColumn = (name) => phoneColumns.some((one) => one.test(name.trim()));

/**
 * writeLine is a record as a line.
 * @param {string[]} cells
 * @param {string} separator
 */
const writeLine = (cells, separator) =>
  cells.map((cell) => (/[",;\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(separator) + "\n";
