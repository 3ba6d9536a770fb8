// @ts-check
'use strict';

const { keyOf } = require('./batches');
const { createFifo } = require('./fifo');

/**
 * What receivers kept while they were offline, in the order of arrival. Of such a receiver what is newer waits here, too, so that
 * its order stays. Pure.
 * @typedef {import('./readings').Batch} Batch
 * @typedef {{batch: Batch, sinceMs: number, isBacklog: boolean}} Arrived sinceMs: when, on a clock that only goes on
 */

/** More than clocks differ, and more than a batch waits in the broker where the machine keeps up. */
const OLD_MS = 60_000;

/** Whether a batch that arrives now was kept. @param {Batch} batch @param {number} nowMs epoch ms */
const isBacklog = ({ ts }, nowMs) => nowMs - ts > OLD_MS;

function createBacklogs() {
  /** @type {import('./fifo').Fifo<Arrived>} */
  const waiting = createFifo();
  /** How many wait, by receiver. @type {Map<string, number>} */
  const counts = new Map();

  return {
    /** Whether something of the batch's receiver waits. @param {Batch} batch */
    has: (batch) => counts.has(keyOf(batch)),
    /** @param {Arrived} one */
    push(one) {
      const key = keyOf(one.batch);
      counts.set(key, (counts.get(key) ?? 0) + 1);
      waiting.push(one);
    },
    shift() {
      const one = waiting.shift();
      if (!one) return undefined;
      const key = keyOf(one.batch);
      const left = /** @type {number} */ (counts.get(key)) - 1;
      if (left > 0) counts.set(key, left);
      else counts.delete(key);
      return one;
    },
    first: waiting.first,
    size: waiting.size,
  };
}

module.exports = { createBacklogs, isBacklog, OLD_MS };
