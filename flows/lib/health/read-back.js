// @ts-check
'use strict';

const { inTurns } = require('../shared/turns');

/** Poll interval while no heartbeat is on its way, so that the absence of InfluxDB is noticed. */
const IDLE_MS = 1000;

/**
 * Reads the heartbeat back from the database, and tells those who wait for the proof that what was published before is stored.
 * @param {object} deps
 * @param {Pick<import('./heartbeat').Probe, 'poll'|'pending'|'readBackMs'>} deps.probe
 * @param {{broker: {outbox: {proven: (ms: number, nowMs: number) => void}}}} deps.site
 * @param {{tick: (readBackMs: number, nowMs: number) => Promise<void>}} deps.coverage
 * @param {(error: unknown) => void} deps.onError
 * @param {() => number} deps.clock
 * @returns {() => Promise<void>} to be called several times a second
 */
function createReadBack({ probe, site, coverage, onError, clock }) {
  let polledMs = -Infinity;
  const read = inTurns(async () => {
    polledMs = clock();
    await probe.poll(clock);
    site.broker.outbox.proven(probe.readBackMs(), clock());
    await coverage.tick(probe.readBackMs(), clock());
  }, onError, { clock });

  return async () => {
    if (probe.pending() || clock() - polledMs >= IDLE_MS) await read();
  };
}

module.exports = { createReadBack };
