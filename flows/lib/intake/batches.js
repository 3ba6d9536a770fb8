// @ts-check
'use strict';

const { isMeasured } = require('./readings');

/**
 * Rows of readings, as the database gives them in the order of time, back to the batches that receivers sent. Pure.
 * @typedef {import('../intake/readings').Batch} Batch
 * @typedef {[ts: number, rssi: number, kind: 'gateway'|'phone', receiver: string, beacon: string]} Row
 */

/**
 * Batches in one order, whichever way their readings came: receivers of one millisecond by id, readings by beacon.
 * The sum over readings and the choice among equals then do not depend on where they were read from.
 * @param {Batch} a @param {Batch} b
 */
const byTime = (a, b) => a.ts - b.ts || compare(a.kind, b.kind) || compare(a.receiver, b.receiver);

/** @param {Batch} batch @returns {Batch} the same, with its readings in order */
function inOrder(batch) {
  batch.readings.sort((a, b) => compare(a.beacon, b.beacon));
  return batch;
}

/**
 * The last of several readings of one beacon in a batch: receiver, beacon and ts make one reading.
 * @param {Batch} batch with its readings in order @returns {Batch} the same
 */
function withoutRepeated(batch) {
  const { readings } = batch;
  if (readings.some(({ beacon }, i) => beacon === readings[i + 1]?.beacon)) {
    batch.readings = readings.filter(({ beacon }, i) => beacon !== readings[i + 1]?.beacon);
  }
  return batch;
}

/** Who sent a batch; ids of gateways and phones may be the same. @param {Pick<Batch, 'kind'|'receiver'>} batch */
const keyOf = ({ kind, receiver }) => `${kind}/${receiver}`;

/** @param {string} a @param {string} b */
const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** Takes rows in ascending time; a batch is complete when the first row of a later millisecond comes. */
function createGrouping() {
  /** @type {Map<string, Batch>} of one millisecond */
  let open = new Map();
  let openMs = -Infinity;

  function finish() {
    const done = [...open.values()].map((batch) => withoutRepeated(inOrder(batch))).sort(byTime);
    open = new Map();
    return done;
  }

  /** @param {Row[]} rows @returns {Batch[]} those that are complete now */
  function push(rows) {
    /** @type {Batch[]} */
    const done = [];
    for (const [ts, rssi, kind, receiver, beacon] of rows) {
      if (!isMeasured(rssi)) continue; // versions before stored 0, -127 and 1 to 20, too
      if (ts !== openMs) {
        done.push(...finish());
        openMs = ts;
      }
      const key = keyOf({ kind, receiver });
      const batch = open.get(key);
      if (batch) batch.readings.push({ beacon, rssi });
      else open.set(key, { kind, receiver, ts, readings: [{ beacon, rssi }] });
    }
    return done;
  }

  return { push, finish };
}

module.exports = { createGrouping, inOrder, byTime, keyOf };
