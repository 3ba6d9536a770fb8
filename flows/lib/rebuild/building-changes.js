// @ts-check
'use strict';

const { makeBuilding } = require('../building');
const { buildingChange, gatewayChange } = require('../intake/changes');

/**
 * Which buildings were in use in the past, and which gateways came and went.
 * @typedef {import('../intake/changes').Change} Change
 * @typedef {import('../building').Building} Building
 */

/**
 * @param {object} deps
 * @param {Pick<import('../site').Site, 'building'|'buildingSinceMs'|'onChange'>} deps.site
 * @param {Pick<import('../store').Store, 'gatewayStates'>} deps.store
 * @param {import('./background').Background} deps.background
 * @param {() => Promise<Pick<import('../building/editor').Versions, 'list'|'read'>|null>} deps.versions of the building;
 *   null: none are kept
 * @param {(text: string) => void} deps.warn
 */
function createBuildingChanges({ site, store, background, versions, warn }) {
  /** @type {Change[]|null} of who is at work */
  let following = null;
  site.onChange((change) => following?.push(change));

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

module.exports = { createBuildingChanges };
