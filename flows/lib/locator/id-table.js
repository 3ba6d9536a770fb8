// @ts-check
'use strict';

/** Numbers for ids, so that an id that is kept many times costs two or four bytes each time: 0, 1, 2 … as they are first seen. */
function createIdTable() {
  /** @type {string[]} */
  const ids = [];
  /** @type {Map<string, number>} */
  const numbers = new Map();

  return {
    /** Of an id, a new one where it has none. @param {string} id */
    numberOf(id) {
      const known = numbers.get(id);
      if (known !== undefined) return known;
      numbers.set(id, ids.length);
      return ids.push(id) - 1;
    },
    /** A copy, by number. */
    all: () => ids.slice(),
    /** @param {number} number */
    idOf: (number) => ids[number],
  };
}

module.exports = { createIdTable };
