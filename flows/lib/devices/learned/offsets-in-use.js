// @ts-check
'use strict';

const { placementKey } = require('../../locator');

/**
 * The learned offsets in use, for people to look at.
 * @typedef {{db: number, since: number}} InUse db: is subtracted from readings; since: epoch ms, of this value
 * @param {Pick<import('../../site').Site, 'building'|'devices'>} site
 * @param {number} nowMs
 * @returns {(kind: 'gateway'|'beacon', id: string) => InUse|null} null: nothing is corrected
 */
function offsetsInUse({ building, devices: { learnedVersions } }, nowMs) {
  const { gateways, beacons, file: { learned_offsets: isUsed = true } } = building();
  const versions = isUsed ? learnedVersions.filter(({ from_ms: ms }) => ms <= nowMs) : [];
  /** @type {Map<string, InUse & {place: string}>} */
  let known = new Map();
  for (const { from_ms: since, offsets } of versions) {
    known = new Map(offsets.map(({ kind, id, place, offset_db: db }) => {
      const before = known.get(`${kind} ${id}`);
      return [`${kind} ${id}`, before?.db === db && before.place === place ? before : { db, since, place }];
    }));
  }
  return (kind, id) => {
    const found = known.get(`${kind} ${id}`);
    const device = (kind === 'gateway' ? gateways : beacons).get(id);
    return found && device && placementKey(device) === found.place ? { db: found.db, since: found.since } : null;
  };
}

module.exports = { offsetsInUse };
