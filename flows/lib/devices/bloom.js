// @ts-check
'use strict';

const { createHash } = require('node:crypto');

/**
 * A set of ids in a few bits each: a Bloom filter (B. H. Bloom, Communications of the ACM 13, 1970). Ids of the set always match;
 * a small share of other ids matches as well. docs/interfaces.md says how a filter is read.
 * @typedef {{ids: number, k: number, bits: string}} Filter ids: how many ids it holds; k: bits of each id; bits: base64
 */

/** For a false positive rate of 0.1 %. The fewest bits for a rate p are −log2(p) / ln 2 (the same paper). */
const BITS_PER_ID = 14.4;
/** 60,000 letters in base64. With more than 25,000 ids the false positive rate grows. */
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

/** @param {Filter} filter @returns {number} 0 … 1, share of other ids that match: all k places of the id are taken */
function falsePositiveRate({ ids, k, bits }) {
  return (1 - Math.exp(-k * ids / (Buffer.byteLength(bits, 'base64') * 8))) ** k;
}

module.exports = { createFilter, falsePositiveRate };
