/**
 * The sign of a room on the plan: its name and number of people, as far as there is space.
 */

export const LINE_PX = 16;
const LETTER_PX = 7.4;
const MARGIN_PX = 14;
/** Height of two lines. */
const TWO_LINES_PX = 26;
/** A shorter part of a name is useless. */
const LETTERS_MIN = 4;

/**
 * @param {{name: string, count: number, limit: number|null, label?: string, sign: {width: number, height: number}}} room label: instead
 *   of the number of people
 * @param {number} scale pixels a metre
 * @returns {{kind: 'name'|'count', text: string}[][]} lines from the top, each of pieces
 */
export function nameLines({ name, count, limit, label, sign }, scale) {
  const letters = Math.floor((sign.width * scale - MARGIN_PX) / LETTER_PX);
  const number = label === undefined ? countText(count, limit, letters) : label.length <= letters ? label : '';
  /** @type {{kind: 'name'|'count', text: string}[]} */
  const second = number ? [{ kind: 'count', text: number }] : [];
  if (sign.height * scale >= TWO_LINES_PX) {
    const fits = letters >= Math.min(name.length, LETTERS_MIN);
    return [...(fits ? [[{ kind: /** @type {const} */ ('name'), text: cut(name, letters) }]] : []), second].filter(({ length }) => length > 0);
  }
  const rest = letters - number.length - (number ? 1 : 0);
  if (rest < Math.min(name.length, LETTERS_MIN)) {
    const nobody = count === 0 && label === undefined && letters >= Math.min(name.length, LETTERS_MIN); // its colour shows that too
    if (nobody) return [[{ kind: 'name', text: cut(name, letters) }]];
    return second.length > 0 ? [second] : [];
  }
  return [[{ kind: 'name', text: cut(name, rest) }, ...second]];
}

/** @param {number} count @param {number|null} limit @param {number} letters that fit */
function countText(count, limit, letters) {
  const full = limit === null ? String(count) : `${count} / ${limit}`;
  if (count === 0 && limit === null) return '';
  if (letters >= full.length) return full;
  return count > 0 && letters >= 1 ? String(count) : '';
}

/** @param {string} text @param {number} letters */
const cut = (text, letters) => (text.length <= letters ? text : `${text.slice(0, letters - 1).trimEnd()}…`);
