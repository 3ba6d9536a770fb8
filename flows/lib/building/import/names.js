// @ts-check
'use strict';

/** Compares names that people write, and makes ids of them. Pure. */

const ID_LENGTH_MAX = 64;

/** Normalises case and spaces, and leaves out what nobody sees. @param {string} text */
const fold = (text) => text.normalize('NFC').replace(/\p{Default_Ignorable_Code_Point}/gu, '').replace(/\s+/g, ' ').trim().toLowerCase();

/** As `fold`, also without punctuation: equal results may mean the same thing. @param {string} text */
const foldMore = (text) => text.normalize('NFKD').toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/**
 * Makes a valid id that resembles a text.
 * @param {string} text
 * @returns {string} '': no character of the text is valid in an id
 */
function idFrom(text) {
  const signed = text.trim().replace(/^[-\u2013\u2212]\s?(?=\d)/, 'minus-'); // a level -1 is not level 1
  const plain = signed.normalize('NFKD').replace(/\p{M}/gu, '').replace(/[^A-Za-z0-9_.-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '');
  let end = plain.length;
  while (plain[end - 1] === '-') end -= 1;
  return plain.slice(0, Math.min(end, ID_LENGTH_MAX));
}

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

/**
 * An index of things by id and name, which may grow.
 * @template T
 * @param {readonly T[]} things @param {(thing: T) => {id: string, name: string}} keysOf
 */
function createNameIndex(things, keysOf) {
  /** @type {Map<string, T>} */
  const byId = new Map();
  /** @type {Map<string, Set<T>>} */
  const byFolded = new Map();
  /** @param {T} thing */
  const add = (thing) => {
    const { id, name } = keysOf(thing);
    byId.set(id, thing);
    for (const key of [fold(id), fold(name)]) byFolded.set(key, (byFolded.get(key) ?? new Set()).add(thing));
  };
  things.forEach(add);
  return {
    add,
    /** @param {string} written @returns {T[]} the one of that exact id, else all of that id or name */
    find(written) {
      const exact = byId.get(written);
      return exact ? [exact] : [...byFolded.get(fold(written)) ?? []];
    },
  };
}

module.exports = { createNameIndex, fold, foldMore, idFrom, uniqueId };
