// @ts-check
'use strict';

const { createHeard } = require('../intake/heard');

/**
 * What comes in while the past is located again after a start, and is of a time that is read already: the backlog of a phone
 * that was away, say. The rebuild has not heard it, and nobody else tells of the past. So it is noted, to be located as late. Pure.
 * @typedef {import('../intake/readings').Batch} Batch
 */

/** Batches; of more it is not waited whether they are heard yet, which costs at most a rebuild that finds nothing new. */
const KEPT_BATCHES = 50_000;

/**
 * @typedef {ReturnType<typeof createMissed>} Missed
 * @param {(batch: Batch) => void} tell of each that was missed
 * @param {number} readMs what is older may be missed as long as nothing else is said
 * @param {number} [bound] batches kept
 */
function createMissed(tell, readMs, bound = KEPT_BATCHES) {
  let heard = createHeard();
  let fromMs = Infinity;
  /** @type {Set<Batch>} of a time that is read, and not heard so far */
  let waiting = new Set();

  function end() {
    const missing = [...waiting].filter((batch) => !heard.knows(batch));
    waiting = new Set();
    missing.forEach(tell);
  }

  return {
    /** From here on the past is told again. @param {number} ms */
    begin(ms) {
      heard = createHeard();
      fromMs = readMs = ms;
      waiting = new Set([...waiting].filter(({ ts }) => ts < ms)); // the others are stored, and will be read
    },
    /** Up to here it is read by now, or about to be. @param {number} ms */
    reading(ms) { readMs = Math.max(readMs, ms); },
    /** One out of the past. @param {Batch} batch */
    replayed(batch) { if (batch.ts >= fromMs) heard.again(batch); },
    /** One that comes in. @param {Batch} batch */
    hear(batch) {
      if (batch.ts >= readMs || heard.knows(batch)) return;
      waiting.add(batch);
      if (waiting.size > bound) end();
    },
    /** The past is through: what has not been heard is missing. */
    end,
  };
}

module.exports = { createMissed };
