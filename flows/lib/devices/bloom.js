// @ts-check
'use strict';

const { createHash } = require('node:crypto');

/**
 * A set of ids in a few bits each: a Bloom filter (B. H. Bloom, Communications of the ACM 13, 1970). What is in the set is
 * always found; of what is not, a small share is found as well. docs/interfaces.md says how it is read.
 * @typedef {{ids: number, k: number, bits: string}} Filter ids: how many it was made of; k: bits of each id; bits: base64
 */

/** One stranger in a thousand is let in. The fewest bits for a share p are −log2(p) / ln 2 (the same paper). */
const BITS_PER_ID = 14.4;
/** 60,000 letters in base64. More ids than 25,000 share them, and more strangers are let in. */
const MAX_BYTES = 45_000;
const MAX_K = 32;

/**
 * Where an id's bits are: double hashing (A. Kirsch, M. Mitzenmacher: Less Hashing, Same Performance, 2006).
 * @param {string} id @param {number} k @param {number} bits
 */
function places(id, k, bits) {
  const hash = createHash('sha256').update(id).digest();
  const [start, step] = [hash.readUInt32BE(0), (hash.readUInt32BE(4) | 1) >>> 0];
  return Array.from({ length: k }, (_, i) => (start + i * step) % bits);
}

/** @param {string[]} ids @returns {Filter} */
function createFilter(ids) {
  const bytes = Buffer.alloc(Math.min(MAX_BYTES, Math.max(1, Math.ceil(ids.length * BITS_PER_ID / 8))));
  const bits = bytes.length * 8;
  const k = Math.min(MAX_K, Math.max(1, Math.round(bits / Math.max(1, ids.length) * Math.LN2)));
  for (const id of ids) {
    for (const place of places(id, k, bits)) bytes[place >> 3] = Number(bytes[place >> 3]) | 1 << (place & 7);
  }
  return { ids: ids.length, k, bits: bytes.toString('base64') };
}

/** @param {Filter} filter @returns {number} the share of strangers that is let in: all of an id's k places are taken by others */
function strangersShare({ ids, k, bits }) {
  return (1 - Math.exp(-k * ids / (Buffer.byteLength(bits, 'base64') * 8))) ** k;
}

module.exports = { createFilter, strangersShare };
