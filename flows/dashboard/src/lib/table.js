/**
 * Search and sort of tables. Rows are plain objects; a column has a value for each row.
 * @template T
 * @typedef {{key: string, title: string, value: (row: T) => string|number|null, numeric?: boolean}} Column
 *   numeric: sorted descending first, newest and strongest on top
 */

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/**
 * Rows that contain every word of a text.
 * @template T
 * @param {T[]} rows
 * @param {string} text
 * @param {(row: T) => (string|null|undefined)[]} textsOf searched texts of a row
 * @returns {T[]}
 */
export function search(rows, text, textsOf) {
  const words = plain(text).split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const whole = plain(textsOf(row).filter(Boolean).join(' '));
    return words.every((word) => whole.includes(word));
  });
}

/** Without case and accents: "cafe" finds "Café". @param {string} text */
const plain = (text) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

/**
 * @template T
 * @param {T[]} rows
 * @param {Column<T>[]} columns
 * @param {string} order key of a column, with "-" in front descending
 * @returns {T[]} a new list; unknown values come last either way, and equal rows keep their order
 */
export function sorted(rows, columns, order) {
  const descending = order.startsWith('-');
  const column = columns.find(({ key }) => key === order.replace(/^-/, ''));
  if (!column) return rows;
  const sign = descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [column.value(a), column.value(b)];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    return sign * (typeof x === 'number' && typeof y === 'number' ? x - y : collator.compare(String(x), String(y)));
  });
}

/** The order after a click on a column's head. @param {string} order @param {{key: string, numeric?: boolean}} column */
export function nextOrder(order, { key, numeric = false }) {
  const first = numeric ? `-${key}` : key;
  const second = numeric ? key : `-${key}`;
  return order === first ? second : first;
}

/** For `aria-sort`. @param {string} order @param {string} key */
export const sortState = (order, key) => (order === key ? 'ascending' : order === `-${key}` ? 'descending' : 'none');
