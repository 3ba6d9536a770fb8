// @ts-check
'use strict';

const LEAST_READINGS = 300; // a mean over fewer may be chance

/**
 * By how many dB gateways hear people, and beacons are heard by them, stronger (negative: weaker) than expected.
 * @param {Pick<import('../site').Site, 'receivers'>} site
 * @returns {(kind: 'gateway'|'beacon', id: string) => number|null} to a tenth; null: too few readings as yet
 */
function biases(site) {
  const known = new Map(site.receivers().filter(({ readings }) => readings >= LEAST_READINGS)
    .map(({ kind, id, offset_db: db }) => [`${kind} ${id}`, Math.round(db * 10) / 10]));
  return (kind, id) => known.get(`${kind} ${id}`) ?? null;
}

module.exports = { biases };
