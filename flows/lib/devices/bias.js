// @ts-check
'use strict';

const READINGS_MIN = 300; // the mean of fewer may be chance

/**
 * How many dB stronger than expected (negative: weaker) gateways receive tags, and phones receive beacons.
 * @param {Pick<import('../site').Site, 'receivers'>} site
 * @returns {(kind: 'gateway'|'beacon', id: string) => number|null} rounded to 0.1 dB; null: too few readings yet
 */
function biases(site) {
  const known = new Map(site.receivers().filter(({ readings }) => readings >= READINGS_MIN)
    .map(({ kind, id, offset_db: db }) => [`${kind} ${id}`, Math.round(db * 10) / 10]));
  return (kind, id) => known.get(`${kind} ${id}`) ?? null;
}

module.exports = { biases };
