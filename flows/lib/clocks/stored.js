// @ts-check
'use strict';

const { keyOf } = require('../live/batches');

/**
 * Stored readings by their corrected time. The database knows stamps: those of receivers whose clock is off are asked for apart, and come
 * in their place. What is held at present is left out, since it is located when its time is known; and so is what lies ahead of now.
 * @typedef {import('../store').Store} Store
 * @typedef {import('../live/batches').Row} Row
 * @typedef {import('../store').Only} Only
 * @typedef {ReturnType<import('.').Clocks['shifted']>} Shifted
 * @typedef {Pick<import('.').Clocks, 'shifted'|'timeOf'>} Clocks
 */

/** Nobody's time lies farther ahead. */
const AHEAD_MS = 2000;
const PIECE_ROWS = 2000;

/** @param {Row} row */
const receiverOf = ([, , kind, receiver]) => keyOf({ kind, receiver });

/**
 * @param {Store} store @param {Clocks} clocks @param {() => number} clock
 * @returns {Store} whose readings are at their corrected time
 */
function correctedStore(store, clocks, clock) {
  /** @type {Store['readings']} */
  async function readings(fromMs, toMs, take, only = null) {
    const shifted = clocks.shifted(fromMs, toMs);
    const untilMs = Math.min(toMs, clock() + AHEAD_MS);
    const theirs = await shiftedRows(shifted, fromMs, untilMs, only);
    let next = 0;
    /** Those up to a time. @param {number} ms */
    const upTo = (ms) => {
      const from = next;
      while ((theirs[next]?.[0] ?? Infinity) <= ms) next += 1;
      return theirs.slice(from, next);
    };
    await store.readings(fromMs, untilMs, async (rows) => {
      const right = shifted.keys.size === 0 ? rows : rows.filter((row) => !shifted.keys.has(receiverOf(row)));
      const some = upTo(rows.at(-1)?.[0] ?? -Infinity);
      await take(some.length === 0 ? right : [...right, ...some].sort((a, b) => a[0] - b[0]));
    }, only);
    for (; next < theirs.length; next += PIECE_ROWS) await take(theirs.slice(next, next + PIECE_ROWS));
  }

  /**
   * Readings of receivers whose clock is off, in order.
   * @param {Shifted} shifted @param {number} fromMs @param {number} toMs exclusive @param {Only|null} only @returns {Promise<Row[]>}
   */
  async function shiftedRows({ keys, leastMs, mostMs }, fromMs, toMs, only) {
    /** @type {Row[]} */
    const found = [];
    const whose = onlyOf(keys, only);
    if (whose === 'nobody' || fromMs >= toMs) return found;
    await store.readings(fromMs - mostMs, toMs - leastMs, async (rows) => {
      for (const row of rows) {
        const key = receiverOf(row);
        const isTheirs = keys.has(key) && (only === null || (row[2] === 'gateway' ? only.gateways : only.phones.includes(row[3])));
        const ms = isTheirs ? clocks.timeOf(key, row[0]) : null;
        if (ms !== null && ms >= fromMs && ms < toMs) found.push([ms, row[1], row[2], row[3], row[4]]);
      }
    }, whose);
    return found.sort((a, b) => a[0] - b[0]);
  }

  /** @type {Store['firstReading']} */
  async function firstReading(fromMs, toMs, only = null) {
    const { keys, leastMs, mostMs } = clocks.shifted(fromMs, toMs);
    const whose = onlyOf(keys, only);
    const [first, theirs] = await Promise.all([store.firstReading(fromMs, toMs, only),
      whose === 'nobody' ? null : store.firstReading(fromMs - mostMs, toMs - leastMs, whose)]);
    const earliest = Math.min(first ?? Infinity, theirs === null ? Infinity : Math.max(fromMs, theirs + leastMs));
    return earliest < toMs ? earliest : null;
  }

  return { ...store, readings, firstReading };
}

/** More phones are not asked for one by one. */
const MOST_PHONES = 500;

/**
 * Those of a selection whose clock is off.
 * @param {Set<string>} keys @param {Only|null} only @returns {Only|null|'nobody'} null: all are read
 */
function onlyOf(keys, only) {
  const all = [...keys].map((key) => key.split('/', 2));
  const phones = all.flatMap(([kind, id = '']) => (kind === 'phone' && (only?.phones.includes(id) ?? true) ? [id] : []));
  const gateways = (only?.gateways ?? true) && all.some(([kind]) => kind === 'gateway');
  if (phones.length === 0 && !gateways) return 'nobody';
  return phones.length > MOST_PHONES ? null : { phones, gateways };
}

module.exports = { correctedStore };
