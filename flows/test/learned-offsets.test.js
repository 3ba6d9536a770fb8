'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const { createBuilding } = require('../lib/building');
const { createLearnedOffsets } = require('../lib/devices/offsets');
const { estimate } = require('../lib/devices/offsets/estimate');
const { offsetsInUse } = require('../lib/devices/offsets/in-use');
const { createWitnesses } = require('../lib/devices/offsets/witnesses');
const { createLocator, emptyOutcome, placementKey } = require('../lib/locator');
const { createSite } = require('../lib/site');
const { smallBuilding, BEACONS } = require('./support/building');

const T = 1_800_000_000_000;
const [MIN, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
const IDS = Object.entries(BEACONS).filter(([key]) => key.length === 1).map(([, id]) => id);
const TRUE_DB = { [BEACONS.a]: 8, [BEACONS.b]: -8, [BEACONS.c]: 6, [BEACONS.d]: -6 };

/** A reproducible sequence of numbers around 0, with a standard deviation of about 1. */
function noise(seed) {
  let state = seed;
  return () => {
    let sum = 0;
    for (let k = 0; k < 12; k += 1) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      sum += state / 2 ** 32;
    }
    return sum - 6;
  };
}

/** Places of each device, with its offset, a path loss that is other than expected, shadows of 4 dB, and walls that take more. */
function places(offsets, spots, { slope = 0.8, walls = 0.5, common = 5, shadowDb = 4 } = {}) {
  const next = noise(7);
  return Object.entries(offsets).map(([key, db]) => ({ key, spots: Array.from({ length: spots }, () => {
    const [distance, through] = [8 + 4 * next(), Math.abs(7 * next())];
    return { readings: 9, distance_db: distance, through_db: through,
      off_db: common + db - slope * (distance - 8) - walls * through + shadowDb * next() };
  }) }));
}

const EIGHT = { a: 6, b: -6, c: 6, d: 6, e: -6, f: -6, g: 6, h: -6 };

test('offsets are found beside a path loss and walls that nobody expected; what is common to all is taken out', () => {
  const found = estimate(places(EIGHT, 30));
  for (const [key, db] of Object.entries(EIGHT)) assert.ok(Math.abs(found.get(key) - db) < 2, `${key}: ${found.get(key)}`);
});

test('devices that are alike are not corrected, however their shadows fall', () => {
  const alike = Object.fromEntries(Object.keys(EIGHT).map((key) => [key, 0]));
  assert.deepEqual([...estimate(places(alike, 30)).values()].map(Math.abs), Array(8).fill(0));
});

test('few places say little, one device says nothing, and offsets are bounded', () => {
  const sizeOf = (spots) => [...estimate(places(EIGHT, spots)).values()].reduce((sum, db) => sum + Math.abs(db), 0);
  assert.ok(sizeOf(1) < 0.8 * sizeOf(30), `${sizeOf(1)} ${sizeOf(30)}`);
  assert.equal(estimate([]).size, 0);
  assert.equal(estimate(places({ a: 9 }, 30)).size, 0);
  const wild = [...estimate(places({ a: 40, b: -40, c: 40, d: -40 }, 60)).values()];
  assert.deepEqual(wild.map(Math.abs), Array(4).fill(12));
});

/** What somebody at a place says about the small building's beacons. */
function offsetSample(staffId, ms, n, offsets = TRUE_DB, building = createBuilding(smallBuilding())) {
  const [x, y] = [3 * (n % 7), 3 * Math.floor(n / 7)];
  return { staff_id: staffId, ms, room: 'a', x_m: x, y_m: y, devices: IDS.map((id) => (
    { kind: 'beacon', id, place: placementKey(building.beacons.get(id)), off_db: offsets[id], distance_db: 7 + (n % 3),
      through_db: n % 4 })) };
}

test('one who stands in a shadow for hours is one witness', () => {
  const witnesses = createWitnesses();
  for (let n = 0; n < 12; n += 1) witnesses.note(offsetSample('0', T, n, Object.fromEntries(IDS.map((id) => [id, 0]))));
  for (let s = 0; s < 7200; s += 1) witnesses.note(offsetSample('0', T + s * 1000, 0));
  const found = estimate([...witnesses.all()].map(([key, { spots }]) => ({ key, spots: [...spots.values()] })));
  assert.deepEqual([...found.values()].map(Math.abs), [0, 0, 0, 0]);
});

/** A site whose offsets are kept in a folder. */
function rig(t, { folder = fs.mkdtempSync(path.join(os.tmpdir(), 'offsets-')), file = smallBuilding(), nowMs = T } = {}) {
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  const all = { folder, nowMs, warned: [], site: createSite(createBuilding(file), nowMs) };
  const warn = (text) => all.warned.push(text);
  all.learned = createLearnedOffsets({ folder, site: all.site, clock: () => all.nowMs, warn, log: () => {} });
  let see = null;
  all.site.onOffsetSample = (listener) => { see = listener; };
  all.learned.restore();
  /** People walk about for some hours. */
  all.teach = (hours, { people = ['0', '1'], offsets = TRUE_DB, building = all.site.building() } = {}) => {
    for (let n = 0; n < hours * 60; n += 1, all.nowMs += MIN) {
      see(offsetSample(people[n % people.length], all.nowMs, n % 30, offsets, building));
    }
  };
  return all;
}

const inUse = ({ site, nowMs }) => Object.fromEntries(IDS.map((id) => [id, offsetsInUse(site, nowMs + 2 * MIN)('beacon', id)?.db ?? 0]));
const NONE = Object.fromEntries(IDS.map((id) => [id, 0]));
const signs = (offsets) => IDS.map((id) => Math.sign(offsets[id]));

test('nothing is used before two hours and enough people have been heard', async (t) => {
  const one = rig(t);
  one.teach(1.5);
  await one.learned.update();
  assert.deepEqual(inUse(one), NONE, 'an hour and a half');
  one.teach(1);
  await one.learned.update();
  assert.deepEqual(signs(inUse(one)), signs(TRUE_DB));
  assert.equal(offsetsInUse(one.site, one.nowMs)('beacon', IDS[0]), null, 'from a minute later on');
  const alone = rig(t);
  alone.teach(5, { people: ['0'] });
  await alone.learned.update();
  assert.deepEqual(inUse(alone), NONE, 'one of two people');
});

test('a version holds for a day at least, and until another one differs', async (t) => {
  const one = rig(t);
  one.teach(3);
  await one.learned.update();
  const [first] = one.site.offsetVersions;
  one.teach(20, { offsets: NONE });
  await one.learned.update();
  assert.deepEqual(one.site.offsetVersions, [first]);
  one.teach(5, { offsets: NONE });
  await one.learned.update();
  assert.equal(one.site.offsetVersions.length, 2);
  assert.deepEqual(inUse(one), NONE);
});

test('versions and what they are learned from survive a restart; old versions go', async (t) => {
  const one = rig(t);
  one.teach(3);
  await one.learned.update();
  one.teach(1);
  await one.learned.settle();
  const next = rig(t, { folder: one.folder, nowMs: one.nowMs });
  assert.deepEqual(next.site.offsetVersions, one.site.offsetVersions);
  next.nowMs += 40 * DAY;
  next.teach(1, { offsets: NONE });
  await next.learned.update();
  assert.equal(next.site.offsetVersions.length, 2, 'an hour before the restart and one after it are two');
  next.nowMs += 40 * DAY;
  next.teach(3);
  await next.learned.update();
  assert.equal(next.site.offsetVersions.length, 2, 'the first one was followed forty days ago');
  assert.deepEqual([one.warned, next.warned], [[], []]);
});

test('a version that cannot be written is not used; a damaged file is warned of', async (t) => {
  const one = rig(t);
  one.teach(3);
  fs.mkdirSync(path.join(one.folder, 'receiver-offsets.json.new')); // nothing can be written there
  await one.learned.update();
  assert.deepEqual(one.site.offsetVersions, []);
  assert.match(one.warned.join(), /receiver-offsets\.json cannot be written, no offset comes into use/);
  fs.writeFileSync(path.join(one.folder, 'receiver-offsets.json'), '{"versions":[{"from_ms":1,"offsets":[{"id":"x"}]}]}');
  fs.writeFileSync(path.join(one.folder, 'receiver-places.json'), '{"devices":[{"kind":"beacon","id":"x","place":"y","spots":[["a",1]]}]}');
  const next = rig(t, { folder: one.folder });
  assert.deepEqual(next.site.offsetVersions, []);
  assert.match(next.warned.join('\n'), /has no versions[^]*receiver-places\.json is damaged/);
});

test('what the building file states goes before; a device that was moved begins anew; the switch turns it off', async (t) => {
  const file = smallBuilding();
  file.beacons[0].tx = -59;
  const one = rig(t, { file });
  one.teach(3);
  await one.learned.update();
  assert.equal(inUse(one)[IDS[0]], 0);
  assert.notEqual(inUse(one)[IDS[1]], 0);
  const moved = structuredClone(file);
  moved.beacons[1].x_m = 12;
  one.site.setBuilding(createBuilding(moved), one.nowMs);
  assert.equal(inUse(one)[IDS[1]], 0);
  assert.notEqual(inUse(one)[IDS[2]], 0);
  one.site.setBuilding(createBuilding({ ...file, learned_offsets: false }), one.nowMs);
  assert.deepEqual(inUse(one), NONE);
  one.site.setBuilding(createBuilding(file), one.nowMs);
  assert.notEqual(inUse(one)[IDS[1]], 0);
});

test('a locator corrects a reading by the version of its time, whenever it comes', () => {
  const building = createBuilding(smallBuilding());
  const place = placementKey(building.beacons.get(BEACONS.a));
  const versions = [{ from_ms: T, offsets: [{ kind: 'beacon', id: BEACONS.a, place, offset_db: 9 }] }];
  const rssiAt = (ts, its = building) => {
    const [locator, outcome] = [createLocator(its, {}, undefined, versions), emptyOutcome()];
    locator.hear({ kind: 'phone', receiver: '1', ts, readings: [{ beacon: BEACONS.a, rssi: -60 }] }, T + HOUR, outcome);
    locator.tick(T + HOUR + 5000, outcome);
    return outcome.locations[0].rssi;
  };
  assert.deepEqual([rssiAt(T - 1), rssiAt(T), rssiAt(T + DAY)], [-60, -69, -69]);
  const moved = smallBuilding();
  moved.beacons[0].x_m = 6;
  assert.equal(rssiAt(T, createBuilding(moved)), -60);
  assert.equal(rssiAt(T, createBuilding({ ...smallBuilding(), learned_offsets: false })), -60);
});
