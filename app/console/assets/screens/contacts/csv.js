/** The head of a file with columns, as spreadsheets write them: enough to show it and to name its columns. */

/**
 * parseHead reads the first records of a text. Quoted cells may hold separators, quotes
 * and line breaks. end is where the header line ends in the text.
 * @param {string} source
 * @param {number} most records
 * @returns {{ separator: string, records: string[][], end: number }}
 */
export function parseHead(source, most) {
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

/**
 * writeLine is a record as a line.
 * @param {string[]} cells
 * @param {string} separator
 */
export const writeLine = (cells, separator) =>
  cells.map((cell) => (/[",;\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(separator) + "\n";
