// @ts-check
'use strict';

/**
 * What a batch says about staff members, in the locator's terms. Pure.
 * @typedef {import('../intake/readings').Batch} Batch
 * @typedef {import('./model').Model} Model
 * @typedef {{kind: 'phone'|'gateway', sources: number[], rssis: number[], raw: number[], tag: number}} Heard what was heard of one
 *   person at one moment, strongest first; rssis: dBm, as if every transmitter had the default power; raw: as it was received;
 *   tag: number of the one that gateways heard best, -1 for phones
 */

/** @param {'phone'|'gateway'} kind @returns {Heard} */
const nothingHeard = (kind) => ({ kind, sources: [], rssis: [], raw: [], tag: -1 });

/** @param {Heard} heard */
function clear(heard) {
  heard.sources.length = heard.rssis.length = heard.raw.length = 0;
  heard.tag = -1;
}

/**
 * A source heard twice (two tags of one person, two ids of one beacon) counts as one: the stronger reading stays. Of equals the source
 * with the lower number comes first, and of one source's the tag with the lower number, whatever order they came in.
 * @param {Heard} heard is added to @param {number} source @param {number} rssi @param {number} raw @param {number} tag
 */
function addReading(heard, source, rssi, raw, tag) {
  const { sources, rssis, raw: raws } = heard;
  let at = sources.indexOf(source);
  if (at >= 0 && rssis[at] === rssi) {
    raws[at] = Math.max(raws[at], raw);
    if (at === 0) heard.tag = Math.min(heard.tag, tag);
  }
  if (at >= 0 && rssis[at] >= rssi) return;
  if (at < 0) at = sources.length;
  for (; at > 0 && (rssis[at - 1] < rssi || (rssis[at - 1] === rssi && sources[at - 1] > source)); at -= 1) {
    sources[at] = sources[at - 1];
    rssis[at] = rssis[at - 1];
    raws[at] = raws[at - 1];
  }
  sources[at] = source;
  rssis[at] = rssi;
  raws[at] = raw;
  if (at === 0) heard.tag = tag;
}

/**
 * By how much a reading is lowered for the power of its transmitter, as the building has it. What a transmitter says of its own power
 * (`tx` of a reading) is nobody's measurement: it locates nobody and teaches nothing.
 * @param {number|undefined} known dBm at 1 m @param {import('./settings').Settings} settings
 */
const powerDb = (known, { txDbm }) => (known === undefined ? 0 : known - txDbm);

const ofPhone = nothingHeard('phone');

/**
 * What a phone heard of the building's beacons.
 * @param {Batch} batch @param {Model} model
 * @param {import('./settings').Settings} settings @param {Float32Array|null} [offsets] dB by source, subtracted
 * @returns {Heard} empty when there are none; valid until the next call
 */
function heardByPhone({ readings }, { beacons, sources }, settings, offsets = null) {
  clear(ofPhone);
  for (const { beacon, rssi } of readings) {
    const source = beacons.get(beacon);
    if (source === undefined) continue;
    const lessDb = powerDb(sources[source]?.tx, settings) + (offsets === null ? 0 : offsets[source]);
    addReading(ofPhone, source, rssi - lessDb, rssi, -1);
  }
  return ofPhone;
}

module.exports = { addReading, clear, heardByPhone, nothingHeard, powerDb };
