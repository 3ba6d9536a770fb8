// @ts-check
'use strict';

const { placementKey } = require('./receivers');

/**
 * By how much each gateway hears people stronger than others do, and each beacon is heard, as it was known at a time. It is subtracted
 * from readings. Which version counts follows from the time of the reading alone, so the same readings give the same rooms whenever
 * they are located.
 * @typedef {import('../locator').OffsetVersion} OffsetVersion
 * @typedef {(ms: number) => Float32Array|null} Corrections dB by source at an event time; null: none are in use
 * @param {import('./radio').Radio} radio
 * @param {readonly OffsetVersion[]} versions ascending by time; may grow at the end
 * @returns {Corrections}
 */
function createCorrections(radio, versions) {
  /** @type {WeakMap<OffsetVersion, Float32Array>} */
  const known = new WeakMap();

  /** Of devices that stand where they were learned. @param {OffsetVersion} version */
  function bySource({ offsets }) {
    const found = new Float32Array(radio.sources.length);
    for (const { kind, id, place, offset_db: db } of offsets) {
      const source = (kind === 'gateway' ? radio.gateways : radio.beacons).get(id);
      if (source !== undefined && placementKey(radio.sources[source].device) === place) found[source] = db;
    }
    return found;
  }

  return (ms) => {
    let at = versions.length - 1;
    while (at >= 0 && versions[at].from_ms > ms) at -= 1;
    if (at < 0) return null;
    const version = versions[at];
    let found = known.get(version);
    if (!found) known.set(version, found = bySource(version));
    return found;
  };
}

module.exports = { createCorrections };
