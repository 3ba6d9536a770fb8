// @ts-check
'use strict';

/**
 * Storey numbers from names of levels: B2, B1, G or 0, M, 1, 2, …, roof. Pure.
 */

/** Numbers of storeys without one: lower ground, mezzanine, roof. */
const [LOWER_GROUND, MEZZANINE, ROOF] = [-0.5, 0.5, 1000];

/** The first match counts. @type {[RegExp, (found: RegExpExecArray) => number][]} */
const FORMS = [
  [/^(?:b|basement|sub-?basement|cellar)[ ._-]*(\d{1,3})?\b/, ([, number]) => -Number(number ?? 1)],
  [/^(?:lg|lower ground)\b/, () => LOWER_GROUND],
  [/^(?:ug|upper ground)\b/, () => MEZZANINE],
  [/^(?:g|gf|ground)(?:[ ._-]*(?:floor|level))?\b/, () => 0],
  [/^(?:m|mezz|mezzanine)\b/, () => MEZZANINE],
  [/^(?:r|rf|roof|rooftop)\b/, () => ROOF],
  [/^(?:(?:l|lvl|level|f|fl|floor|storey|story)[ ._-]*)?(-?\d{1,3})(?:st|nd|rd|th|f)?\b/, ([, number]) => Number(number)],
];

/**
 * @param {string} name as people write it: "B1", "Ground floor", "3rd floor", "L3"
 * @returns {number|null} 0: ground; negative: below it; null: not known
 */
function storeyOf(name) {
  const text = name.normalize('NFKC').replace(/\s+/g, ' ').trim().toLowerCase();
  for (const [form, number] of FORMS) {
    const found = form.exec(text);
    if (found) return number(found);
  }
  return null;
}

/**
 * Sorts levels, the lowest first. Levels of unknown storey come last, in their present order.
 * @template {{name: string}} T
 * @param {T[]} levels
 * @returns {T[]}
 */
const inOrder = (levels) => levels.map((level, i) => ({ level, i, storey: storeyOf(level.name) ?? Infinity }))
  .sort((a, b) => (a.storey === b.storey ? a.i - b.i : a.storey - b.storey)).map(({ level }) => level);

module.exports = { storeyOf, inOrder };
