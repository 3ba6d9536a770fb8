// @ts-check
'use strict';

/**
 * When a checkpoint is written: of the present while it heard everything in time, and of a replay in passing.
 */

const SETTLED_MS = 30_000; // after an edit of the building everybody has come along into it

/**
 * @param {Pick<import('./recover').Deps, 'site'|'coverage'|'checkpoints'|'clock'>} deps
 */
function createSaving({ site, coverage, checkpoints, clock }) {
  /** @param {number} ms event time @param {Pick<import('../checkpoints').Checkpoint, 'heard'|'locator'>} state */
  const write = (ms, state) => {
    checkpoints.write({ ms, ...state }, clock(), coverage.neededSince());
  };

  return {
    /** To be called every few seconds. */
    present() {
      const nowMs = clock();
      const isExact = coverage.isCaughtUp() && coverage.divergedSince() === Infinity && nowMs - site.live.buildingSinceMs() > SETTLED_MS;
      if (isExact && checkpoints.isDue(nowMs)) write(nowMs, site.live.save(nowMs));
    },
    /** @param {ReturnType<typeof import('./replay').createReplay>} replay of everybody @param {number} ms all before was heard */
    replayed(replay, ms) {
      if (checkpoints.isDue(ms)) write(ms, { heard: null, locator: replay.save() });
    },
  };
}

module.exports = { createSaving };
