// @ts-check
'use strict';

const path = require('node:path');
const { createCheckpoints } = require('./checkpoints');
const { createCoverage, createRecord } = require('./coverage');
const { watchDrops, createDeployGap } = require('./lost-readings');
const { createKnownSeed } = require('./known-people');
const { createRebuild } = require('./rebuild');

/**
 * The past: what is located and stored of it (coverage), what lacks of it and is located again from stored readings (rebuild), and who has
 * one at all. Owns no timer: whoever makes it calls `tick` and `seed`.
 */
class Past {

  #deployGap;
  #clock;

  /**
   * @param {object} deps
   * @param {import('../site').Site} deps.site
   * @param {import('../store').Store} deps.store
   * @param {() => number} deps.clock
   * @param {{log: (text: string) => void, warn: (text: string) => void}} deps.logger
   * @param {string|null} deps.folder of the flows' data; null: nothing is kept over a restart
   * @param {boolean} [deps.keepsOrder] whether the broker delivers in order after a kill, too, so that a probe proves what it says
   * @param {Parameters<typeof createRebuild>[0]['versions']} [deps.versions] of the building
   * @param {import('./coverage').CoverageRecord} [deps.record]
   * @param {import('./checkpoints').Checkpoints} [deps.checkpoints]
   * @param {(ms: number) => Promise<void>} [deps.sleep]
   */
  constructor({ site, store, clock, logger, folder, keepsOrder, versions, record = createRecord(folder, logger.warn),
    checkpoints = createCheckpoints(folder && path.join(folder, 'checkpoints'), logger.warn), sleep }) {
    this.#clock = clock;
    this.coverage = createCoverage({ startedMs: site.startedMs, newestStored: store.newestLocation,
      newestPublished: () => site.live.newestPublishedMs(), knownPeople: site.memory.knownPeople, record, sleep });
    this.#deployGap = createDeployGap({ lost: this.coverage.lost, bus: site.bus, clock });
    this.drops = watchDrops(site, this.coverage);
    this.rebuild = createRebuild({ site, store, coverage: this.coverage, checkpoints, versions, drops: this.drops, keepsOrder, clock,
      logger, sleep });
    this.knownSeed = createKnownSeed({ people: site.memory.knownPeople, store, coverage: this.coverage, clock });
  }

  /** To be called once, before the first reading comes. */
  start() {
    this.rebuild.start();
  }

  /** Locates the parts that became due; to be called every two seconds. */
  tick() {
    this.drops.tick(this.#clock());
    this.rebuild.tick();
  }

  /** Who has a past here; to be called about once a second. */
  seed() {
    return this.knownSeed.tick();
  }

  /** @returns {Promise<void>} when the record of what is still to be located is saved */
  stop() {
    this.#deployGap.stop();
    return this.rebuild.stop();
  }
}

module.exports = { Past };
