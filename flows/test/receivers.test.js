'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const { createBuilding } = require('../lib/building');
const { biases } = require('../lib/devices/bias');
const { createLocator, emptyOutcome, DEFAULTS } = require('../lib/locator');
const { createModel } = require('../lib/locator/model');
const { expectedIn } = require('../lib/locator/source');
const { createReceivers } = require('../lib/locator/receivers');
const { createReceiverOffsets } = require('../lib/devices/receiver-offsets');
const { createSite } = require('../lib/site');

const T = 1_800_000_000_000;
const TAG = 'C0FFEE000001';

/** A hall of 20 m by 10 m with a gateway in each corner. */
function hall(change = {}) {
  const at = [[2, 2], [18, 2], [18, 8], [2, 8]];
  return {
    building: 'Hall',
    levels: [{ id: 'L1', name: 'One', width_m: 20, height_m: 10, rooms: [
      { id: 'west', name: 'West', polygon: [[0, 0], [10, 0], [10, 10], [0, 10]] },
      { id: 'east', name: 'East', polygon: [[10, 0], [20, 0], [20, 10], [10, 10]] }] }],
    beacons: [],
    gateways: at.map(([x, y], n) => ({ id: `g${n}`, level: 'L1', room: x < 10 ? 'west' : 'east', x_m: x, y_m: y, ...change[`g${n}`] })),
    staff: [{ id: 'ann', name: 'Ann', tags: [TAG] }],
  };
}

/** What is heard of somebody at (x, y), from gateways that are off by `off`, while the tag is stronger by `tag` dB. */
function level({ radio, cells }, gateway, x, y, off, tag) {
  const source = radio.sources[radio.gateways.get(gateway)];
  const away = (c) => Math.hypot(cells.all[c].x - x, cells.all[c].y - y);
  const cell = cells.all.reduce((best, _, c) => (away(c) < away(best) ? c : best), 0);
  return Math.round(expectedIn(source, cell, DEFAULTS.weakestDbm) + tag + (off[gateway] ?? 0));
}

/** Ann walks to and fro for some minutes. */
function walk(locator, building, { minutes, off = {}, tag = 0, fromMs = T }) {
  const model = createModel(building, DEFAULTS);
  const outcome = emptyOutcome();
  for (let s = 0; s < minutes * 60; s += 1) {
    const ms = fromMs + s * 1000;
    const along = Math.abs((s % 60) - 30) / 30;
    for (const receiver of building.gateways.keys()) {
      const rssi = level(model, receiver, 2 + 16 * along, 5, off, tag);
      locator.hear({ kind: 'gateway', receiver, ts: ms, readings: [{ beacon: TAG, rssi }] }, ms + 50, outcome);
    }
    locator.tick(ms + 700, outcome);
  }
}

test('a gateway that receives people weaker than others is found, whatever the power of their tags', () => {
  for (const tag of [0, 12, -12]) {
    const building = createBuilding(hall());
    const locator = createLocator(building);
    walk(locator, building, { minutes: 15, off: { g1: -9 }, tag });
    const found = new Map(locator.receivers().map((one) => [one.id, one]));
    const others = ['g0', 'g2', 'g3'].map((id) => found.get(id).offset_db);
    const least = Math.min(...others);
    assert.ok(found.get('g1').offset_db < least - 2, `${tag} dB: ${found.get('g1').offset_db} against ${others}`);
    assert.ok(found.get('g1').offset_db < -2 && others.every((db) => Math.abs(db) < 5), `${tag} dB: ${found.get('g1').offset_db}, ${others}`);
    assert.equal(found.get('g1').kind, 'gateway');
  }
});

test('learned offsets are bounded and robust against outliers', () => {
  const { radio } = createModel(createBuilding(hall()), DEFAULTS);
  const receivers = createReceivers(radio, DEFAULTS);
  const cells = [[radio.sources[0].near[0], 1]];
  const one = (value) => Float64Array.of(value);
  const hears = (rssi) => ({ count: 1, sources: Int32Array.of(0), levels: one(rssi), readings: one(1), ages: one(0) });
  const level_ = { meanDb: 0, variance: 1 };
  for (let s = 0; s < 900; s += 1) receivers.learn(cells, hears(60), level_, T + s * 1000);
  assert.equal(receivers.all()[0].offset_db, 20);
  const before = receivers.all()[0].offset_db;
  receivers.learn(cells, hears(-100), level_, T + 900_000);
  assert.ok(before - receivers.all()[0].offset_db < 0.2);
  receivers.learn(cells, hears(-100), { meanDb: 0, variance: 64 }, T + 901_000);
  assert.equal(receivers.all()[0].readings, 901, 'of somebody whose own level is not known yet nothing is learned');
});

test('many people are sampled: a fixed number of moments a second, and everybody may be among them', () => {
  const { radio } = createModel(createBuilding(hall()), DEFAULTS);
  const receivers = createReceivers(radio, DEFAULTS);
  const taken = new Uint32Array(1000);
  for (let s = 0; s < 60; s += 1) for (let n = 0; n < 1000; n += 1) if (receivers.samples(T + s * 1000 + n)) taken[n] += s > 0 ? 1 : 0;
  const sum = taken.reduce((a, b) => a + b);
  assert.ok(sum > 59 * 180 && sum < 59 * 220, `${sum}`);
  assert.ok(taken.every((count) => count > 0 && count < 40));
});

test('learned offsets survive a restart, but not for a gateway that was moved', async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'receivers-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'receivers.json');
  const warned = [];
  const warn = (text) => warned.push(text);
  const building = createBuilding(hall());
  const site = createSite(building, T);
  const locator = createLocator(building);
  walk(locator, building, { minutes: 1 });
  site.restoreReceivers(locator.receivers().map((one) => ({ ...one, offset_db: -5.123, readings: 400 })));
  await createReceiverOffsets(file, site, warn).save();
  const moved = createSite(createBuilding(hall({ g0: { x_m: 4 }, g3: { rssi_offset: 5 } })), T);
  createReceiverOffsets(file, moved, warn).restore();
  assert.deepEqual(moved.receivers().map(({ id, offset_db: db, readings }) => [id, db, readings]), [['g1', -5.12, 400], ['g2', -5.12, 400]]);
  assert.deepEqual(['g0', 'g1'].map((id) => biases(moved)('gateway', id)), [null, -5.1]);
  moved.setBuilding(createBuilding(hall({ g1: { y_m: 3 } })), T + 1);
  assert.deepEqual(moved.receivers().map(({ id }) => id), ['g2']);
  assert.deepEqual(warned, []);
});

test('a damaged file is warned of and learning starts again; a write error is warned of once', async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'receivers-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'receivers.json');
  const warned = [];
  const site = createSite(createBuilding(hall()), T);
  const offsets = createReceiverOffsets(file, site, (text) => warned.push(text));
  offsets.restore();
  assert.deepEqual(warned, [], 'none is there at the first start');
  fs.writeFileSync(file, '{"receivers": 5');
  offsets.restore();
  fs.writeFileSync(file, JSON.stringify({ v: 1, receivers: [null, { kind: 'gateway', id: 'g0', place: 'x', offset_db: 'much', readings: 3 }] }));
  offsets.restore();
  assert.deepEqual(site.receivers(), []);
  assert.match(warned.join(), /learned again/);
  const nowhere = createReceiverOffsets(path.join(folder, 'none', 'receivers.json'), site, (text) => warned.push(text));
  await nowhere.save();
  await nowhere.save();
  assert.equal(warned.filter((text) => text.includes('will not survive')).length, 1);
});
