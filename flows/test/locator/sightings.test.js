// @ts-check
'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { createModel } = require('../../lib/locator/model');
const { addReading, heardByGateway, heardByPhone, nothingHeard } = require('../../lib/locator/sightings');
const { DEFAULTS } = require('../../lib/locator/constants');
const { beaconOf, house } = require('./house');

/** What a phone heard: beacon and RSSI. @param {any[]} readings @param {Record<string, object>} [changes] */
function byPhone(readings, changes) {
  const building = house(changes);
  const { radio } = createModel(building, DEFAULTS);
  const { sources, rssis } = heardByPhone({ kind: 'phone', receiver: '77', ts: 0, readings }, building, radio, DEFAULTS.txDbm);
  return sources.map((source, k) => [radio.sources[source].id, rssis[k]]);
}

/**
 * Of those a gateway heard: person, RSSI and tag.
 * @param {string} receiver @param {any[]} readings @param {Record<string, object>} [changes]
 */
function byGateway(receiver, readings, changes) {
  /** @type {any[]} */
  const found = [];
  heardByGateway({ kind: 'gateway', receiver, ts: 0, readings }, house(changes), DEFAULTS.txDbm, (...seen) => found.push(seen));
  return found;
}

test("a phone's known beacons, strongest first; unknown ones are left out", () => {
  const readings = [{ beacon: beaconOf('G-b'), rssi: -80 }, { beacon: 'FFFFFFFFFFFF', rssi: -40 }, { beacon: beaconOf('G-a'), rssi: -60 }];
  assert.deepEqual(byPhone(readings), [[beaconOf('G-a'), -60], [beaconOf('G-b'), -80]]);
});

test('a gateway speaks of the owners of tags, with its offset, down to its minimum', () => {
  const readings = [{ beacon: 'C0FFEE000001', rssi: -70 }, { beacon: 'C0FFEE000002', rssi: -88 }, { beacon: beaconOf('G-a'), rssi: -50 }];
  assert.deepEqual(byGateway('gw-G-a', readings, { 'gw-G-a': { rssi_offset: 4, min_rssi: -80 } }), [['1', -66, 'C0FFEE000001']]);
  assert.deepEqual(byGateway('nobody', readings), []);
});

test('of a source heard twice the stronger reading counts, and the strongest comes first', () => {
  const heard = nothingHeard('gateway');
  for (const [source, rssi] of [[3, -80], [4, -75], [3, -70], [4, -90]]) addReading(heard, source, rssi);
  assert.deepEqual(heard, { kind: 'gateway', sources: [3, 4], rssis: [-70, -75], tag: '' });
});

test('a calibrated power in the reading makes up for it, unless the building knows better', () => {
  const reading = { beacon: beaconOf('G-a'), rssi: -70, tx: -69 };
  assert.equal(byPhone([reading])[0][1], -60);
  assert.equal(byPhone([reading], { [beaconOf('G-a')]: { tx: -75 } })[0][1], -70);
  assert.equal(byGateway('gw-G-a', [{ beacon: 'C0FFEE000001', rssi: -70, tx: -69 }])[0][1], -60);
});

test("a person's tags have a power of their own, which goes before what they say", () => {
  const reading = { beacon: 'C0FFEE000001', rssi: -50 };
  const rssiOf = (/** @type {any} */ one, /** @type {any} */ changes) => byGateway('gw-G-a', [one], changes)[0][1];
  assert.equal(rssiOf(reading, { 1: { tag_tx: -39 } }), -70);
  assert.equal(rssiOf({ ...reading, tx: -69 }, { 1: { tag_tx: -39 } }), -70);
  assert.equal(rssiOf({ ...reading, beacon: 'C0FFEE000002' }, { 1: { tag_tx: -39 } }), -50, 'others have theirs');
  assert.equal(rssiOf(reading, { 1: { tag_tx: -39 }, 'gw-G-a': { rssi_offset: 4 } }), -66);
});

test('the least that a gateway reports is what it measures, whatever the power of a tag', () => {
  const readings = [{ beacon: 'C0FFEE000001', rssi: -78 }];
  assert.equal(byGateway('gw-G-a', readings, { 1: { tag_tx: -39 }, 'gw-G-a': { min_rssi: -80 } }).length, 1);
  assert.equal(byGateway('gw-G-a', readings, { 1: { tag_tx: -79 }, 'gw-G-a': { min_rssi: -75 } }).length, 0);
});
