// @ts-check
'use strict';

const { makeBuilding } = require('../building');

/**
 * What a locator is told at its time besides readings: other buildings, gateways that come and go. A replay of the past
 * follows the same turns, so that history keeps the room that was true when a reading was taken.
 * @typedef {import('../locator').Locator} Locator
 * @typedef {import('../locator').Outcome} Outcome
 * @typedef {import('../building').Building} Building
 * @typedef {import('../locator').Prepared} Prepared
 * @typedef {{ms: number, prepare?: (locator: Locator) => import('../shared/pieces').Work<Prepared>,
 *   take: (locator: Locator, ms: number, outcome: Outcome, prepared?: Prepared) => void}} Turn prepare: of another building, before it
 *   is taken
 */

/** @param {Building} building @param {number} ms @param {Prepared} [known] what was prepared for it already @returns {Turn} */
const toBuilding = (building, ms, known) => ({
  ms,
  *prepare(locator) { return known ?? (yield* locator.prepare(building)); },
  take: (locator, at, outcome, prepared) => locator.setBuilding(building, at, outcome, prepared),
});

/** @param {string} gateway @param {boolean} up @param {number} ms @returns {Turn} */
const toGateway = (gateway, up, ms) => ({ ms, take: (locator) => locator.setGateway(gateway, up) });

/**
 * @param {object} means
 * @param {Pick<import('../site').Site, 'building'|'buildingSinceMs'|'tellTurn'>} means.site
 * @param {Pick<import('../store').Store, 'gatewayStates'>} means.store
 * @param {import('./toil').Toil} means.toil
 * @param {() => Promise<Pick<import('../building/editing/versions').Versions, 'list'|'read'>|null>} means.versions of the building;
 *   null: none are kept
 * @param {(text: string) => void} means.warn
 */
function createTurns({ site, store, toil, versions, warn }) {
  /** @type {Turn[]|null} of who is at work */
  let following = null;
  site.tellTurn((turn) => following?.push(turn));

  /**
   * The building of a time, and all turns from then on in their order; those still to come are added as they happen.
   * @param {number} fromMs
   * @returns {Promise<{building: Building, turns: Turn[]}>}
   */
  async function since(fromMs) {
    /** @type {Turn[]} */
    const happening = [];
    following = happening;
    const [first, ...next] = await buildings(fromMs);
    const states = await toil.insist(() => store.gatewayStates(fromMs));
    const past = [...next.map(({ building, ms }) => toBuilding(building, ms)),
      ...states.map(({ gateway, up, ts }) => toGateway(gateway, up, ts))].sort((a, b) => a.ms - b.ms);
    happening.unshift(...past); // what happened meanwhile may be among both, which does no harm
    return { building: /** @type {{building: Building}} */ (first).building, turns: happening };
  }

  /** @param {number} fromMs @returns {Promise<{building: Building, ms: number}[]>} ascending, the first is in use then */
  async function buildings(fromMs) {
    let oldest = { building: site.building(), ms: site.buildingSinceMs() };
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

module.exports = { createTurns, toBuilding, toGateway };
