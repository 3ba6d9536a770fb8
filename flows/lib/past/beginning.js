// @ts-check
'use strict';

const { makeBuilding } = require('../building');
const { RETENTION_MS } = require('./coverage');
const { RecentBatches } = require('../live/batches');
const { trueStart } = require('./stays');

/**
 * A locator in the state of a past moment: from a checkpoint of it, or by what was heard in the minutes before it.
 * @typedef {import('./catch-up').Deps} Deps
 * @typedef {import('./checkpoints').Checkpoint} Checkpoint
 * @typedef {import('../live/readings').Batch} Batch
 * @typedef {object} Beginning
 * @property {import('../locator').Locator} locator
 * @property {number} [sinceMs] the locator's own time, epoch ms; not given: it heard nothing yet
 * @property {import('../building').Building} building of then
 * @property {Change[]} changes of the building and of gateways since then, by time; may grow
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

const SETTLED_MS = 60_000; // who is heard at all is heard within a minute, or was lost before
const LOOK_BACK_MS = 24 * 3_600_000;

/**
 * Who was somewhere already when the reading of the past set in, and since when really, as far as it is stored.
 * @param {import('../locator').Locator} locator after the warm-up
 * @param {number} warmMs when it set in
 * @param {import('../store').Store} store
 * @param {import('./background').Background} background
 */
async function lookUpStarts(locator, warmMs, store, background) {
  const going = locator.openStays().filter(({ since, state }) => since <= warmMs + SETTLED_MS && state !== 'lost');
  for (const presence of going) {
    const { staff_id: staffId, since } = presence;
    const [last, first] = await background.retry(async () => {
      const stay = await store.lastStay(staffId, since - LOOK_BACK_MS, since);
      const fromMs = stay ? Math.floor(stay.leave_ms / 1000) * 1000 : since - LOOK_BACK_MS;
      return [stay, fromMs < since ? await store.firstLocation(staffId, fromMs, since) : null];
    });
    const trueMs = trueStart(presence, last, first);
    if (trueMs < since) locator.resume({ ...presence, since: trueMs });
  }
}

/**
 * Which buildings were in use in the past, and which gateways came and went.
 * @typedef {import('../building').Building} Building
 */

/**
 * @param {object} deps
 * @param {import('../site').Site} deps.site
 * @param {Pick<import('../store').Store, 'gatewayStates'>} deps.store
 * @param {import('./background').Background} deps.background
 * @param {() => Promise<Pick<import('../building/editor').Versions, 'list'|'read'>|null>} deps.versions of the building;
 *   null: none are kept
 * @param {(text: string) => void} deps.warn
 */
function createBuildingChanges({ site, store, background, versions, warn }) {
  /** @type {Change[]|null} of who is at work */
  let following = null;
  site.bus.on('buildingChanged', (building, ms, prepared) => following?.push(buildingChange(building, ms, prepared)));
  site.bus.on('gatewayChanged', (id, up, ms) => following?.push(gatewayChange(id, up, ms)));

  /**
   * The building of a time, and all changes from then on in their order; those still to come are added as they happen.
   * @param {number} fromMs
   * @returns {Promise<{building: Building, changes: Change[]}>}
   */
  async function since(fromMs) {
    /** @type {Change[]} */
    const happening = [];
    following = happening;
    const [first, ...next] = await buildings(fromMs);
    const states = await background.retry(() => store.gatewayStates(fromMs));
    const past = [...next.map(({ building, ms }) => buildingChange(building, ms)),
      ...states.map(({ gateway, up, ts }) => gatewayChange(gateway, up, ts))].sort((a, b) => a.ms - b.ms);
    happening.unshift(...past); // what happened meanwhile may be among both, which does no harm
    return { building: /** @type {{building: Building}} */ (first).building, changes: happening };
  }

  /** @param {number} fromMs @returns {Promise<{building: Building, ms: number}[]>} ascending, the first is in use then */
  async function buildings(fromMs) {
    let oldest = { building: site.building(), ms: site.live.buildingSinceMs() };
    const found = [oldest];
    try {
      const kept = await versions();
      for (const { version, ts, digest } of kept?.list() ?? []) { // newest first
        if (oldest.ms <= fromMs) break;
        if (ts < oldest.ms && digest === oldest.building.digest) oldest.ms = ts;
        if (ts >= oldest.ms) continue;
        const building = await makeBuilding((await kept?.read(version))?.building, `version ${version}`);
        found.unshift(oldest = { building, ms: ts });
      }
    } catch (error) { // its file is damaged, or was good by the rules of an earlier release
      const when = new Date(oldest.ms).toISOString();
      warn(`what was before ${when} is located with the building of then: the version before it cannot be read: ${error}`);
    }
    return found;
  }

  return { since, /** Nobody is at work any more. */ end: () => { following = null; } };
}

/**
 * Changes that a locator gets at their time besides readings: other buildings, gateways that come and go. A replay of the past follows the
 * same changes, so that history keeps the room that was true when a reading was taken.
 * @typedef {import('../locator').Locator} Locator
 * @typedef {import('../locator').Outcome} Outcome
 * @typedef {import('../locator').Prepared} Prepared
 * @typedef {{ms: number, prepare?: (locator: Locator) => import('../shared/pieces').Work<Prepared>,
 *   take: (locator: Locator, ms: number, outcome: Outcome, prepared?: Prepared) => void}} Change prepare: of another building, before it
 *   is taken
 */

/** @param {Building} building @param {number} ms @param {Prepared} [known] what was prepared for it already @returns {Change} */
const buildingChange = (building, ms, known) => ({
  ms,
  *prepare(locator) { return known ?? (yield* locator.prepare(building)); },
  take: (locator, at, outcome, prepared) => locator.setBuilding(building, at, outcome, prepared),
});

/** @param {string} gateway @param {boolean} up @param {number} ms @returns {Change} */
const gatewayChange = (gateway, up, ms) => ({ ms, take: (locator) => locator.setGateway(gateway, up, ms) });

module.exports = {
  beginAt, checkpointOf, fromCheckpoint, reach, WARM_UP_MS, lookUpStarts, createBuildingChanges,
  buildingChange, gatewayChange,
};
