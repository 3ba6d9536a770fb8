// @ts-check
'use strict';

const { RETENTION_MS } = require('../coverage');
const { RecentBatches } = require('../live/batches');
const { lookUpStarts } = require('./starts');

/**
 * A locator in the state of a past moment: from a checkpoint of it, or by what was heard in the minutes before it.
 * @typedef {import('./recover').Deps} Deps
 * @typedef {import('../checkpoints').Checkpoint} Checkpoint
 * @typedef {import('../live/readings').Batch} Batch
 * @typedef {object} Beginning
 * @property {import('../locator').Locator} locator
 * @property {number} [sinceMs] the locator's own time, epoch ms; not given: it heard nothing yet
 * @property {import('../building').Building} building of then
 * @property {import('./changes').Change[]} changes of the building and of gateways since then, by time; may grow
 * @property {number} readMs readings since then are to be heard,
 * @property {(batch: Batch) => boolean} [knows] but for these
 */

const WARM_UP_MS = 15 * 60_000; // as long as a locator remembers somebody
const FARTHER = 4; // a checkpoint is exact, so so many times as much is read from it
/** Batches came so long after they were taken, with receivers' clocks that are behind. */
const ON_THEIR_WAY_MS = 60_000;

/**
 * @param {Deps} deps @param {number} fromMs @param {string[]|null} staff null: everybody @param {number} [warmUpMs]
 * @returns {Promise<Beginning>}
 */
async function beginAt(deps, fromMs, staff, warmUpMs = WARM_UP_MS) {
  const checkpoint = await checkpointOf(deps, fromMs, staff);
  const isNear = checkpoint !== null && fromMs - checkpoint.ms <= FARTHER * warmUpMs;
  return (isNear && await fromCheckpoint(deps, checkpoint, staff)) || warmingUp(deps, fromMs, warmUpMs);
}

/**
 * The newest one that heard all readings of these people in time; of everybody, but for some.
 * @param {Deps} deps @param {number} fromMs @param {string[]|null} staff
 */
const checkpointOf = ({ checkpoints, coverage }, fromMs, staff) =>
  checkpoints.newest(Math.min(fromMs, coverage.divergedSince()), (ms) => coverage.knewAll(ms, staff ?? []));

/**
 * @param {Deps} deps @param {Checkpoint} checkpoint @param {string[]|null} staff
 * @returns {Promise<Beginning|null>} null: it is of another building or release
 */
async function fromCheckpoint({ site, changes }, { ms, heard, locator: saved }, staff) {
  const theirs = staff && new Set(staff);
  const { building, changes: next } = await changes.since(ms);
  const locator = await site.live.newLocator(building);
  if (!locator.restore(saved, (id) => theirs?.has(id) ?? true)) return null;
  const recent = heard && new RecentBatches(heard);
  const knows = (/** @type {Batch} */ batch) => (recent ? recent.knows(batch) : batch.ts < ms);
  return { locator, building, changes: next, sinceMs: ms, readMs: recent ? ms - ON_THEIR_WAY_MS : ms, knows };
}

/** @param {Deps} deps @param {number} fromMs @param {number} warmUpMs @returns {Promise<Beginning>} */
async function warmingUp({ site, changes, clock }, fromMs, warmUpMs) {
  const readMs = Math.max(fromMs - warmUpMs, clock() - RETENTION_MS);
  const { building, changes: next } = await changes.since(readMs);
  return { locator: await site.live.newLocator(building), building, changes: next, readMs };
}

/**
 * Up to the moment itself.
 * @param {Deps} deps @param {Beginning} beginning @param {ReturnType<typeof import('./replay').createReplay>} replay of it
 * @param {number} fromMs @param {Parameters<Deps['feed']['replayRange']>[3]} callbacks @param {import('../store').Only|null} only
 */
async function reach({ store, background, feed }, { locator, sinceMs, readMs }, replay, fromMs, callbacks, only) {
  await feed.replayRange(replay, readMs, Math.max(fromMs, readMs), callbacks, only);
  if (sinceMs === undefined) await lookUpStarts(locator, readMs, store, background);
}

module.exports = { beginAt, checkpointOf, fromCheckpoint, reach, WARM_UP_MS };
