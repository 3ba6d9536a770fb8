// @ts-check
'use strict';

/**
 * What a batch says about staff members, in the locator's terms. Pure.
 * @typedef {import('../intake/readings').Batch} Batch
 * @typedef {import('../building').Building} Building
 * @typedef {{kind: 'phone'|'gateway', sources: number[], rssis: number[], tag: string}} Heard what was heard of one
 *   person at one moment, strongest first; rssis in dBm, corrected; tag: which one gateways heard best, '' for phones
 */

/**
 * What is weaker may have gone unheard by a phone, dBm: it may report its strongest beacons only.
 * @param {Heard} heard @param {number} wholeReadings a phone with so many may have left out weaker ones @param {number} hearableDbm
 */
const thresholdOf = ({ rssis }, wholeReadings, hearableDbm) => (rssis.length >= wholeReadings ? rssis[rssis.length - 1] : hearableDbm);

/** @param {'phone'|'gateway'} kind @returns {Heard} */
const nothingHeard = (kind) => ({ kind, sources: [], rssis: [], tag: '' });

/**
 * A source heard twice (two tags of one person, two ids of one beacon) counts as one: the stronger reading stays.
 * @param {Heard} heard is added to
 * @param {number} source
 * @param {number} rssi
 */
function addReading(heard, source, rssi) {
  let at = heard.sources.indexOf(source);
  if (at >= 0 && heard.rssis[at] >= rssi) return;
  if (at < 0) at = heard.sources.length;
  if (at === heard.sources.length && heard.kind === 'gateway') { // else there would be room for sixteen more, and thousands of these wait
    heard.sources = heard.sources.concat(source);
    heard.rssis = heard.rssis.concat(rssi);
  }
  const { sources, rssis } = heard;
  for (; at > 0 && rssis[at - 1] < rssi; at -= 1) {
    sources[at] = sources[at - 1];
    rssis[at] = rssis[at - 1];
  }
  sources[at] = source;
  rssis[at] = rssi;
}

/**
 * What a phone heard of the building's beacons.
 * @param {Batch} batch
 * @param {Building} building
 * @param {import('./radio').Radio} radio
 * @param {number} txDbm what a beacon of unknown power is taken for
 * @param {Float32Array|null} [corrections] dB by source, subtracted
 * @returns {Heard} empty when there are none
 */
function heardByPhone({ readings }, building, radio, txDbm, corrections = null) {
  const heard = nothingHeard('phone');
  for (const { beacon, rssi, tx = txDbm } of readings) {
    const source = radio.beacons.get(beacon);
    if (source === undefined) continue;
    // what the building says about a beacon's power goes before what the beacon says
    const known = building.beacons.get(beacon)?.tx !== undefined;
    addReading(heard, source, (known ? rssi : rssi - tx + txDbm) - (corrections === null ? 0 : corrections[source]));
  }
  return heard;
}

/**
 * What a gateway heard of people's tags.
 * @param {Batch} batch
 * @param {Building} building
 * @param {number} txDbm
 * @param {(staffId: string, rssi: number, tag: string) => void} visit rssi: corrected, dBm
 */
function heardByGateway({ receiver, readings }, building, txDbm, visit) {
  const gateway = building.gateways.get(receiver);
  if (!gateway) return;
  const { rssi_offset: offset = 0, min_rssi: least = -Infinity } = gateway;
  for (const { beacon, rssi, tx = txDbm } of readings) {
    const owner = building.tagOwner.get(beacon);
    if (owner === undefined || rssi + offset < least) continue;
    // what the building says about a tag's power goes before what the tag says
    visit(owner, rssi + offset - (building.staff.get(owner)?.tag_tx ?? tx) + txDbm, beacon);
  }
}

module.exports = { addReading, heardByGateway, heardByPhone, nothingHeard, thresholdOf };
