// @ts-check
'use strict';

/** Compares names that people write, and makes ids of them. Pure. */

const ID_LENGTH_MAX = 64;

/** Normalises case and spaces. @param {string} text */
const fold = (text) => text.normalize('NFC').replace(/\s+/g, ' ').trim().toLowerCase();

/** As `fold`, also without punctuation: equal results may mean the same thing. @param {string} text */
const foldMore = (text) => text.normalize('NFKD').toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/**
 * Makes a valid id that resembles a text.
 * @param {string} text
 * @returns {string} '': no character of the text is valid in an id
 */
const idFrom = (text) => text.normalize('NFKD').replace(/\p{M}/gu, '').replace(/[^A-Za-z0-9_.-]+/g, '-').replace(/^[^A-Za-z0-9]+|-+$/g, '')
  .slice(0, ID_LENGTH_MAX);

/**
 * Makes an id unique by a number at its end, and adds it to the taken ids.
 * @param {string} wanted @param {Set<string>} taken
 */
function uniqueId(wanted, taken) {
  let [id, number] = [wanted, 2];
  while (taken.has(id)) {
    const tail = `-${number++}`;
    id = wanted.slice(0, ID_LENGTH_MAX - tail.length) + tail;
  }
  taken.add(id);
  return id;
}

module.exports = { fold, foldMore, idFrom, uniqueId };
