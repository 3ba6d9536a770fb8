// @ts-check
'use strict';

const { ID } = require('../building/ids');

/**
 * Refused readings: a count by reason, and for the 256 receivers of the last refusals their count, time and newest reason. Readings whose
 * RSSI is not known are counted apart: some phones have them among others at all times, which is no fault of theirs.
 * @typedef {import('../live/readings').Rejection} Rejection
 * @typedef {{receiver: string, kind: string, count: number, last_ms: number, reason: import('../live/readings').Reason,
 *   detail: string}} Refused
 *   count: readings since the start; a message that was refused as a whole counts 1
 * @typedef {Refused & {since_ms: number|null}} Unmeasured since_ms: since when every RSSI of it is unknown; null: not every one is
 */

const RECEIVERS_MAX = 256;

function createRefusals() {
  /** @type {Map<string, number>} */
  const byReason = new Map();
  /** @type {Map<string, Refused>} the oldest refusal first */
  const byReceiver = new Map();
  /** @type {Map<string, Unmeasured>} the oldest first */
  const unmeasured = new Map();

  /** @param {Rejection} rejection @param {number} nowMs */
  function add({ kind, receiver: from, reason, detail, count }, nowMs) {
    const receiver = ID.test(from) ? from : 'unknown';
    byReason.set(reason, (byReason.get(reason) ?? 0) + count);
    const isUnknown = reason === 'rssi_unknown';
    const earlier = (isUnknown ? unmeasured : byReceiver).get(receiver)?.count ?? 0;
    const refused = { receiver, kind, count: earlier + count, last_ms: nowMs, reason, detail };
    if (isUnknown) putLast(unmeasured, receiver, { ...refused, since_ms: unmeasured.get(receiver)?.since_ms ?? nowMs });
    else putLast(byReceiver, receiver, refused);
  }

  return {
    add,
    /** A receiver has measured some RSSI. @param {string} receiver */
    measured(receiver) {
      const known = unmeasured.size > 0 && unmeasured.get(receiver);
      if (known) known.since_ms = null;
    },
    /** Receivers with readings whose RSSI is not known, the latest first. @returns {Readonly<Unmeasured>[]} */
    unmeasured: () => [...unmeasured.values()].reverse(),
    /** @returns {Record<string, number>} since the start */
    byReason: () => Object.fromEntries(byReason),
    /** @returns {Readonly<Refused>[]} the latest first */
    latest: () => [...byReceiver.values()].reverse(),
    /** @param {string} receiver @returns {Readonly<Refused>|null} */
    of: (receiver) => byReceiver.get(receiver) ?? null,
  };
}

/** @template T @param {Map<string, T>} map @param {string} key @param {T} value */
function putLast(map, key, value) {
  map.delete(key);
  map.set(key, value);
  if (map.size > RECEIVERS_MAX) map.delete(/** @type {string} */ (map.keys().next().value));
}

module.exports = { createRefusals };
