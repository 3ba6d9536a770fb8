/**
 * Tables as CSV (RFC 4180, UTF-8 with a byte order mark), for spreadsheets and programs. Excel takes a file without the mark for
 * Latin-1.
 */
const MARK = '\ufeff';

/**
 * @typedef {string|number|{figure: string}|null} Value figure: a number with its digits as they are to be written
 * @param {string[]} head
 * @param {Value[][]} rows
 */
export const csv = (head, rows) => `${MARK}${[head, ...rows].map((row) => row.map(cell).join(',')).join('\r\n')}\r\n`;

/** A text that a spreadsheet takes for a formula, behind characters that it skips, too; full-width signs count in Asian versions. */
const FORMULA = /^[\s\p{Cc}\p{Cf}]*[=+\-@|%\uff1d\uff0b\uff0d\uff20]/u;
/** Numbers that lose zeros or digits, and what is taken for a date, a time or a truth: `003`, `12E5`, `1-2`, `10:30`, `MAR1`, `TRUE`. */
const CHANGED = [/^0\d/, /^\d{12,}$/, /^\d+(?:[.,]\d+)?e[+-]?\d+$/i, /^\d+[.,]\d*0$/, /^\d{1,4}[-/.]\d{1,2}(?:[-/.]\d{1,4})?$/,
  /^\d{1,2}:\d{2}(?::\d{2})?$/, /^(?:true|false)$/i, /^\d+(?:[.,]\d+)?\s*[%$€£]$/,
  /^\d{1,4}[-/. ]?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*$/i,
  /^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[-/. ]?\d{1,4}$/i];

/**
 * A cell. A text that is a formula to a spreadsheet gets an apostrophe; one that it would change is written as a text cell, `="003"`.
 * @param {Value} value
 */
function cell(value) {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'object') return value.figure;
  const text = FORMULA.test(value) ? `'${value}` : CHANGED.some((form) => form.test(value)) ? `="${value}"` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** RFC 3339 in UTC. @param {number} ms */
export const stamp = (ms) => new Date(ms).toISOString();
