/**
 * The sign of a room on the plan: its name and how many are in it, as far as there is space.
 */

export const LINE_PX = 16;
const LETTER_PX = 7.4;
const MARGIN_PX = 14;
/** Two lines need so much; the strip was measured with some air. */
const TWO_LINES_PX = 26;
/** Fewer letters of a name than this say nothing. */
const FEWEST = 4;

/**
 * @param {{name: string, count: number, limit: number|null, told?: string, sign: {width: number, height: number}}} room told: instead
 *   of how many people are there
 * @param {number} scale pixels a metre
 * @returns {{kind: 'name'|'count', text: string}[][]} lines from the top, each of pieces
 */
export function nameLines({ name, count, limit, told, sign }, scale) {
  const letters = Math.floor((sign.width * scale - MARGIN_PX) / LETTER_PX);
  const number = told === undefined ? countText(count, limit, letters) : told.length <= letters ? told : '';
  /** @type {{kind: 'name'|'count', text: string}[]} */
  const second = number ? [{ kind: 'count', text: number }] : [];
  if (sign.height * scale >= TWO_LINES_PX) {
    const fits = letters >= Math.min(name.length, FEWEST);
    return [...(fits ? [[{ kind: /** @type {const} */ ('name'), text: cut(name, letters) }]] : []), second].filter(({ length }) => length > 0);
  }
  const rest = letters - number.length - (number ? 1 : 0);
  if (rest < Math.min(name.length, FEWEST)) {
    const nobody = count === 0 && told === undefined && letters >= Math.min(name.length, FEWEST); // its colour says so too
    if (nobody) return [[{ kind: 'name', text: cut(name, letters) }]];
    return second.length > 0 ? [second] : [];
  }
  return [[{ kind: 'name', text: cut(name, rest) }, ...second]];
}

/** @param {number} count @param {number|null} limit @param {number} letters that there is space for */
function countText(count, limit, letters) {
  const full = limit === null ? String(count) : `${count} / ${limit}`;
  if (count === 0 && limit === null) return '';
  if (letters >= full.length) return full;
  return count > 0 && letters >= 1 ? String(count) : '';
}

/** @param {string} text @param {number} letters */
const cut = (text, letters) => (text.length <= letters ? text : `${text.slice(0, letters - 1).trimEnd()}…`);
