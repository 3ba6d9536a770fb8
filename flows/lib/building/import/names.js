// @ts-check
'use strict';

/** Names that people write, compared and made into ids. Pure. */

const LONGEST_ID = 64;

/** Without regard to case and spaces. @param {string} text */
const fold = (text) => text.normalize('NFC').replace(/\s+/g, ' ').trim().toLowerCase();

/** As `fold`, and without regard to signs either: what may be meant as the same. @param {string} text */
const foldMore = (text) => text.normalize('NFKD').toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/**
 * An id as the building file takes it, near to what was written.
 * @param {string} text
 * @returns {string} '': nothing of the text can stand in an id
 */
const idFrom = (text) => text.normalize('NFKD').replace(/\p{M}/gu, '').replace(/[^A-Za-z0-9_.-]+/g, '-').replace(/^[^A-Za-z0-9]+|-+$/g, '')
  .slice(0, LONGEST_ID);

/**
 * The same id, or with a number behind it where it is taken; it is taken from then on.
 * @param {string} wanted @param {Set<string>} taken
 */
function free(wanted, taken) {
  let [id, number] = [wanted, 2];
  while (taken.has(id)) {
    const tail = `-${number++}`;
    id = wanted.slice(0, LONGEST_ID - tail.length) + tail;
  }
  taken.add(id);
  return id;
}

module.exports = { fold, foldMore, idFrom, free };
