// @ts-check
'use strict';

const { ID } = require('../building/ids');

/**
 * Refused readings: a count by reason, and for the 256 receivers of the last refusals their count, time and newest reason.
 * @typedef {import('../intake/readings').Rejection} Rejection
 * @typedef {{receiver: string, kind: string, count: number, last_ms: number, reason: import('../intake/readings').Reason,
 *   detail: string}} Refused
 *   count: readings since the start; a message that was refused as a whole counts 1
 */

const RECEIVERS_MAX = 256;

function createRefusals() {
  /** @type {Map<string, number>} */
  const byReason = new Map();
  /** @type {Map<string, Refused>} the oldest refusal first */
  const byReceiver = new Map();

  /** @param {Rejection} rejection @param {number} nowMs */
  function add({ kind, receiver: from, reason, detail, count }, nowMs) {
    const receiver = ID.test(from) ? from : 'unknown';
    byReason.set(reason, (byReason.get(reason) ?? 0) + count);
    const earlier = byReceiver.get(receiver)?.count ?? 0;
    byReceiver.delete(receiver);
    byReceiver.set(receiver, { receiver, kind, count: earlier + count, last_ms: nowMs, reason, detail });
    if (byReceiver.size > RECEIVERS_MAX) byReceiver.delete(/** @type {string} */ (byReceiver.keys().next().value));
  }

  return {
    add,
    /** @returns {Record<string, number>} since the start */
    byReason: () => Object.fromEntries(byReason),
    /** @returns {Readonly<Refused>[]} the latest first */
    latest: () => [...byReceiver.values()].reverse(),
    /** @param {string} receiver @returns {Readonly<Refused>|null} */
    of: (receiver) => byReceiver.get(receiver) ?? null,
  };
}

module.exports = { createRefusals };
