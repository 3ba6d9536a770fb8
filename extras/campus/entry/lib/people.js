// @ts-check
'use strict';

const { compareIds } = require('./core');

/**
 * Where people are now, of several sites: everybody is in one place, the one of the newest sighting.
 * @typedef {{site: string, items: any[]}} OfSite items: as the site answered them
 */

/**
 * `/retrieveformonitoring`: of each staff member the newest; of the same second the one heard louder, then the first site's.
 * @param {OfSite[]} lists in the order of campus.toml
 * @returns {object[]} newest first
 */
function latestOf(lists) {
  /** @type {Map<string, any>} */
  const found = new Map();
  for (const { site, items } of lists) {
    for (const item of items) {
      const known = found.get(item.staff_id);
      if (!known || item.timestamp > known.timestamp || (item.timestamp === known.timestamp && item.rssi > known.rssi)) {
        found.set(item.staff_id, { ...item, site });
      }
    }
  }
  return [...found.values()].sort((a, b) => b.timestamp - a.timestamp);
}

/**
 * `/api/v1/staff`: everybody of any site once, with the presence of the newest sighting.
 * @param {OfSite[]} lists in the order of campus.toml
 * @returns {any[]} by id
 */
function staffOf(lists) {
  /** @type {Map<string, any>} */
  const found = new Map();
  for (const { site, items } of lists) {
    for (const item of items) {
      const mine = { ...item, presence: item.presence && { ...item.presence, site } };
      const known = found.get(item.staff_id);
      found.set(item.staff_id, known ? together(known, mine) : mine);
    }
  }
  return [...found.values()].sort((a, b) => compareIds(a.staff_id, b.staff_id));
}

/** One person as two sites know them. @param {any} a of the earlier site @param {any} b */
function together(a, b) {
  const newer = (b.presence?.ts ?? -1) > (a.presence?.ts ?? -1) ? b : a;
  const { presence, level_db: levelDb, level_sd_db: levelSdDb } = newer;
  return { ...a, name: a.name ?? b.name, listed: a.listed || b.listed, tags: [...new Set([...a.tags, ...b.tags])],
    presence, level_db: levelDb, level_sd_db: levelSdDb };
}

module.exports = { latestOf, staffOf };
