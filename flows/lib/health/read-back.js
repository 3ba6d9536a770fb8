// @ts-check
'use strict';

const { within } = require('../shared/deadline');

/** Poll interval while no heartbeat is on its way, so that the absence of InfluxDB is noticed. */
const IDLE_POLL_MS = 1000;
/** A query has a shorter limit of its own; what takes longer is given up, and the next poll begins anew. */
const POLL_WITHIN_MS = 60_000;

/**
 * Reads the heartbeat back from the database, one poll at a time. A poll that fails or hangs costs itself: the next one follows.
 * @param {object} options
 * @param {Pick<import('./heartbeat').Probe, 'poll'|'pending'|'readBackMs'>} options.probe
 * @param {(readBackMs: number, nowMs: number) => Promise<void>|void} options.stored takes what is stored by now
 * @param {(text: string) => void} options.warn
 * @param {() => number} [options.clock]
 * @param {number} [options.withinMs]
 */
function createReadBack({ probe, stored, warn, clock = Date.now, withinMs = POLL_WITHIN_MS }) {
  let [isPolling, polledMs, warned] = [false, 0, ''];

  async function read() {
    await probe.poll(clock);
    await stored(probe.readBackMs(), clock());
  }

  return {
    /** Called several times a second. @returns {Promise<void>} which never fails */
    async poll() {
      if (isPolling || (!probe.pending() && clock() - polledMs < IDLE_POLL_MS)) return;
      isPolling = true;
      polledMs = clock();
      try {
        await within(read(), withinMs, 'reading the heartbeat back');
        warned = '';
      } catch (error) {
        const text = `the heartbeat was not read back: ${error instanceof Error ? error.message : error}`;
        if (text !== warned) warn(text);
        warned = text;
      } finally {
        isPolling = false;
      }
    },
  };
}

module.exports = { createReadBack };
