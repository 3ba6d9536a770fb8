/**
 * Tables as CSV (RFC 4180, UTF-8), for spreadsheets and programs.
 */

/**
 * @param {string[]} head
 * @param {(string|number|null)[][]} rows
 */
export const csv = (head, rows) => `${[head, ...rows].map((row) => row.map(cell).join(',')).join('\r\n')}\r\n`;

/** Quotes a cell; a text that a spreadsheet would take for a formula gets an apostrophe. @param {string|number|null} value */
function cell(value) {
  if (value === null) return '';
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** RFC 3339 in UTC. @param {number} ms */
export const stamp = (ms) => new Date(ms).toISOString();
