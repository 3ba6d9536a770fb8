// @ts-check
'use strict';

/**
 * Deploys that exchange a node of the pipeline: Node-RED drops messages for a node that does not exist for a moment. Their readings
 * are stored, so the time is located again.
 */

/** Batches may be so old when they come; decisions look ahead as well. */
const BEFORE_MS = 10_000;
/** Readings are in the database after this. */
const STORED_MS = 10_000;

/** @param {{lost: (fromMs: number, toMs: number) => void, clock: () => number}} means lost: as of the coverage */
function createExchange({ lost, clock }) {
  /** @type {number|null} */
  let closedMs = null;
  /** @type {NodeJS.Timeout|undefined} */
  let timer;
  return {
    /** A node was closed. */
    closed() {
      clearTimeout(timer);
      closedMs ??= clock();
    },
    /** A node is there. */
    opened() {
      if (closedMs === null) return;
      const fromMs = closedMs - BEFORE_MS;
      const toMs = clock();
      clearTimeout(timer);
      timer = setTimeout(() => {
        closedMs = null;
        lost(fromMs, toMs);
      }, STORED_MS);
    },
    /** The site is closed: the next start locates what lacks. */
    stop: () => clearTimeout(timer),
  };
}

module.exports = { createExchange, STORED_MS, BEFORE_MS };
