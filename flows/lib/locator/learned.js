// @ts-check
'use strict';

const { placementKey } = require('./model');

/**
 * What was learned of a building, as it was known at a time: offsets of devices, which are subtracted from readings, devices that
 * are silent though they should hear, and levels whose plan has shown its worth. Which version counts follows from the time of the reading
 * alone, so the same readings give the same rooms whenever they are located.
 * @typedef {import('../locator').LearnedVersion} LearnedVersion
 * @typedef {{offsets: Float32Array|null, silent: ReadonlySet<number>, plan: ReadonlySet<string>}} Known offsets: dB by source, null: none;
 *   silent: sources; plan: levels where the plan speaks
 * @param {import('./model').Model} model
 * @param {readonly LearnedVersion[]} versions ascending by time; may grow at the end
 * @param {boolean} usesOffsets
 * @returns {(ms: number) => Known} event time
 */
function createLearned({ sources, beacons, gateways }, versions, usesOffsets) {
  /** @type {WeakMap<LearnedVersion, Known>} */
  const known = new WeakMap();
  /** @param {{kind: 'beacon'|'gateway', id: string}} device */
  const numberOf = ({ kind, id }) => (kind === 'gateway' ? gateways : beacons).get(id) ?? -1;

  /** Of devices that stand where they were learned. @param {LearnedVersion} version @returns {Known} */
  function knownOf({ offsets, silent = [], plan = [] }) {
    const bySource = new Float32Array(sources.length);
    for (const offset of usesOffsets ? offsets : []) {
      const source = sources[numberOf(offset)];
      if (source && placementKey(source.device) === offset.place) bySource[source.number] = offset.offset_db;
    }
    return { offsets: bySource, silent: new Set(silent.map(numberOf)), plan: new Set(plan) };
  }

  return (ms) => {
    let at = versions.length - 1;
    while (at >= 0 && versions[at].from_ms > ms) at -= 1;
    if (at < 0) return NOTHING;
    const version = versions[at];
    let found = known.get(version);
    if (!found) known.set(version, found = knownOf(version));
    return found;
  };
}

/** @type {Known} */
const NOTHING = Object.freeze({ offsets: null, silent: new Set(), plan: new Set() });

module.exports = { createLearned };
