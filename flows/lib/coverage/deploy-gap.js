// @ts-check
'use strict';

/**
 * The gap of a deploy: Node-RED drops messages for a node of the pipeline that it replaces and that does not exist for a moment. Their
 * readings are stored, so the readings between two deployments of a node are located again.
 */

/** Batches may be so old when they come; decisions look ahead as well. */
const BEFORE_MS = 10_000;
/** Readings are in the database after this. */
const STORED_MS = 10_000;

/**
 * @param {{lost: (fromMs: number, toMs: number) => void, clock: () => number, bus: Pick<import('../events').EventBus, 'on'>}} deps lost: as
 *   of the coverage; bus: says when such a node is closed, and there again
 */
function createDeployGap({ lost, clock, bus }) {
  /** @type {number|null} */
  let closedMs = null;
  /** @type {NodeJS.Timeout|undefined} */
  let timer;
  bus.on('nodeClosed', () => {
    clearTimeout(timer);
    closedMs ??= clock();
  });
  bus.on('nodeOpened', () => {
    if (closedMs === null) return;
    const fromMs = closedMs - BEFORE_MS;
    const toMs = clock();
    clearTimeout(timer);
    timer = setTimeout(() => {
      closedMs = null;
      lost(fromMs, toMs);
    }, STORED_MS);
  });

  return {
    /** The site is closed: the next start locates what lacks. */
    stop: () => clearTimeout(timer),
  };
}

module.exports = { createDeployGap, STORED_MS, BEFORE_MS };
