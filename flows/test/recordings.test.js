'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, test } = require('node:test');
const { createBuilding } = require('../lib/building');
const { EventBus } = require('../lib/events');
const { createRecordings, LIMITS, RecordingConflict } = require('../lib/recordings');
const { buildingOf, createSelection, readingsText, truthText, withTap } = require('../lib/recordings/recording');
const { smallBuilding, BEACONS, TAG } = require('./support/building');
const fc = require('./support/fast-check');

const T = 1_700_000_000_400;
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'recordings-'));
after(() => fs.rmSync(root, { recursive: true }));
let folders = 0;

/** Recordings in a folder, by a clock that the test sets. */
function open(given = {}) {
  const rig = { warnings: [], ended: [], nowMs: T, bus: new EventBus() };
  rig.bus.on('recordingEnded', (what, { name }, why) => rig.ended.push([what, name, why]));
  const folder = given.folder ?? path.join(root, String(folders += 1));
  const recordings = createRecordings({ folder, clock: () => rig.nowMs, warn: (text) => rig.warnings.push(text), bus: rig.bus, ...given });
  recordings.addBatch = (batch, nowMs) => rig.bus.emit('batch', batch, nowMs, true);
  return { recordings, rig, folder };
}
const start = (recordings, name = 'walk-1', staffId = '0') => recordings.start({ staffId, name, by: 'test' }, smallBuilding());
const heard = (ts, readings, { kind = 'gateway', receiver = 'gw-a' } = {}) => ({ kind, receiver, ts, readings });
const tag = (rssi = -60) => ({ beacon: TAG, rssi });
const tap = (recordings, recording, name, room, ageMs = 0) => recordings.addTap(recording, { tap: name, room, ageMs });

test('the building of a recording has the walker only, without a name, and no pictures', () => {
  const file = smallBuilding();
  file.levels[0].plan = 'level-1.png';
  const building = buildingOf(file, '0');
  assert.deepEqual(building.staff, [{ id: '0', name: 'Walker', tags: [TAG] }]);
  assert.ok(!JSON.stringify(building).match(/Ann|Ben|level-1/));
  assert.doesNotThrow(() => createBuilding(building), 'it is a building file');
  assert.deepEqual(buildingOf(file, 'nobody').staff, [{ id: 'nobody', name: 'Walker' }]);
});

test('a recording selects the walker\'s tags at gateways and beacons at the walker\'s phone, and nothing of others', () => {
  const select = createSelection(buildingOf(smallBuilding(), '0'));
  const other = { beacon: 'AA00000000EE', rssi: -50 };
  const beacon = { beacon: BEACONS.a, rssi: -70 };
  assert.deepEqual(select(heard(T, [tag(), other, beacon])), [tag()]);
  assert.deepEqual(select(heard(T, [tag()], { receiver: 'gw-unknown' })), []);
  assert.deepEqual(select(heard(T, [tag(), other, beacon], { kind: 'phone', receiver: '0' })), [beacon]);
  assert.deepEqual(select(heard(T, [beacon], { kind: 'phone', receiver: '1' })), []);
});

test('a repeated tap, or one without a change, changes nothing; a late tap is inserted by time', () => {
  const taps = [['a', 1000, 'r1'], ['b', 3000, 'r2']].map(([name, ts, room]) => ({ tap: name, ts, room }));
  assert.deepEqual(withTap(taps, { tap: 'a', ts: 9000, room: 'r9' }), taps);
  assert.deepEqual(withTap(taps, { tap: 'c', ts: 9000, room: 'r2' }), taps);
  assert.deepEqual(withTap(taps, { tap: 'c', ts: 2000, room: 'r3' }).map(({ tap: name }) => name), ['a', 'c', 'b']);
  assert.deepEqual(withTap(taps, { tap: 'c', ts: 9000, room: null }).at(-1), { tap: 'c', ts: 9000, room: null });
  assert.equal(withTap([], { tap: 'a', ts: 0, room: null }).length, 1, 'the first says something in any case');
});

test('the truth has one row a second, empty before the first tap and where the person is in no room', () => {
  const taps = [['a', 1600, 'r1'], ['b', 3000, null], ['c', 4100, 'r2']].map(([name, ts, room]) => ({ tap: name, ts, room }));
  assert.equal(truthText({ started_ms: 400, stopped_ms: 5900, taps }),
    'ts_ms,room\n1000,\n2000,r1\n3000,\n4000,\n5000,r2\n');
});

test('however taps come, the truth of a second is the last tap before it', () => {
  const room = fc.constantFrom('r1', 'r2', null);
  fc.assert(fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 20_000 }), room), { maxLength: 12 }), (made) => {
    const distinct = [...new Map(made).entries()];
    const taps = distinct.reduce((all, [ts, where], i) => withTap(all, { tap: String(i), ts, room: where }), []);
    const rows = truthText({ started_ms: 0, stopped_ms: 20_000, taps }).trim().split('\n').slice(1);
    assert.equal(rows.length, 21);
    for (const [i, row] of rows.entries()) {
      const last = taps.filter(({ ts }) => ts <= i * 1000).at(-1)?.room ?? '';
      assert.equal(row, `${i * 1000},${last}`);
    }
  }));
});

test('readings are rig in the order of their times, each once', () => {
  const kept = '2000,gateway,g,B,-60\n1000,gateway,g,B,-61\n2000,gateway,g,B,-60\n1500,phone,0,C,-62\n2000,gateway,h,B,-63\n';
  assert.equal(readingsText(kept, 'gateway'), 'ts_ms,receiver,beacon,rssi\n1000,g,B,-61\n2000,g,B,-60\n2000,h,B,-63\n');
  assert.equal(readingsText(kept, 'phone'), 'ts_ms,receiver,beacon,rssi\n1500,0,C,-62\n');
});

test('a recording becomes a folder of files', async () => {
  const { recordings, rig } = open();
  const recording = await start(recordings);
  await tap(recordings, recording, 't1', 'a');
  recordings.addBatch(heard(T + 600, [tag()]), T + 650);
  recordings.tick(T + 1000);
  rig.nowMs = T + 2500;
  await tap(recordings, recording, 't2', 'b', 1000);
  recordings.addBatch(heard(T + 1600, [tag(-70)], { receiver: 'gw-b' }), T + 1650);
  recordings.addBatch(heard(T + 1600, [{ beacon: BEACONS.a, rssi: -50 }], { kind: 'phone', receiver: '0' }), T + 1650);
  recordings.addBatch(heard(T - 1, [tag()]), T + 1700);
  await assert.rejects(recordings.files(recording), RecordingConflict);
  await recordings.stop(recording);
  await recordings.stop(recording);
  recordings.addBatch(heard(T + 2400, [tag()]), T + 2600);
  assert.deepEqual([recording.gateway_readings, recording.phone_readings, recording.outside_readings, recording.stopped_because], [2, 1, 1, 'asked']);
  const files = await recordings.files(recording);
  assert.deepEqual(Object.keys(files), ['building.json', 'set.json', 'walk-1.csv', 'walk-1.truth.csv']);
  assert.equal(files['walk-1.csv'], `ts_ms,receiver,beacon,rssi\n${T + 600},gw-a,${TAG},-60\n${T + 1600},gw-b,${TAG},-70\n`);
  assert.equal(files['walk-1.truth.csv'], `ts_ms,room\n${T + 600},a\n${T + 1600},b\n`);
  const set = JSON.parse(files['set.json']);
  assert.deepEqual(Object.keys(set), ['mode', 'licence', 'source', 'notes']);
  assert.equal(set.mode, 'gateway');
  for (const text of ['windows of the receivers', '2 taps', "1 readings of the person's phone", '1 readings had a time outside']) assert.ok(set.notes.includes(text), set.notes);
  assert.deepEqual(rig.ended, []);
});

test('what is on disk is its owner\'s, and a restart goes on where it was', async () => {
  const first = open();
  const recording = await start(first.recordings);
  await tap(first.recordings, recording, 't1', 'a');
  first.recordings.addBatch(heard(T + 600, [tag()]), T + 650);
  await first.recordings.close();
  const inside = path.join(first.folder, recording.id);
  assert.equal(fs.statSync(inside).mode & 0o777, 0o700);
  for (const file of fs.readdirSync(inside)) assert.equal(fs.statSync(path.join(inside, file)).mode & 0o777, 0o600, file);
  fs.appendFileSync(path.join(inside, 'readings.csv'), `${T + 700},gatew`); // a kill in the middle of a row

  const { recordings } = open({ folder: first.folder });
  const same = recordings.get(recording.id);
  assert.deepEqual([same.gateway_readings, same.phone_readings, same.stopped_ms, same.taps.length], [1, 0, null, 1]);
  await assert.rejects(start(recordings, 'walk-2'), /"walk-1" is being recorded: stop it first/);
  recordings.addBatch(heard(T + 1600, [tag(-61)]), T + 1650);
  await recordings.stop(same);
  assert.equal((await recordings.files(same))['walk-1.csv'].split('\n').length, 4);
});

test('a recording ends when its time is over or it is full, and is deleted when it is old', async () => {
  const { recordings, rig } = open({ limits: { ...LIMITS, bytes: 100 } });
  const long = await start(recordings);
  recordings.tick(T + LIMITS.lastsMs - 1);
  assert.equal(long.stopped_ms, null);
  recordings.tick(T + LIMITS.lastsMs + 5000);
  assert.deepEqual([long.stopped_ms, long.stopped_because], [T + LIMITS.lastsMs, 'time']);
  const full = await start(recordings, 'walk-2');
  for (let i = 0; i < 4; i += 1) recordings.addBatch(heard(T + i, [tag()]), T + i);
  assert.equal(full.stopped_because, 'full');
  assert.ok((await recordings.files(full))['walk-2.csv'].split('\n').length >= 4, 'the last rows are kept');
  recordings.tick(T + LIMITS.keptMs);
  assert.deepEqual(rig.ended, [['recording_stopped', 'walk-1', 'its time was over'], ['recording_stopped', 'walk-2', 'it was full'],
    ['recording_deleted', 'walk-1', 'its time was over'], ['recording_deleted', 'walk-2', 'its time was over']]);
  assert.deepEqual(recordings.list(), []);
  await recordings.close();
});

test('one runs at a time, names are unique, the number is bounded, and deleted ones are gone', async () => {
  const { recordings, folder } = open({ limits: { ...LIMITS, recordings: 2 } });
  const one = await start(recordings);
  await assert.rejects(start(recordings, 'walk-2'), RecordingConflict);
  await recordings.stop(one);
  await assert.rejects(start(recordings), /there is a recording "walk-1" already/);
  const two = await start(recordings, 'walk-2');
  await recordings.erase(two); // while it runs
  recordings.addBatch(heard(T + 1, [tag()]), T + 1);
  recordings.tick(T + 1000);
  await start(recordings, 'walk-3').then((three) => recordings.stop(three));
  await assert.rejects(start(recordings, 'walk-4'), /2 recordings are kept: delete some first/);
  await recordings.erase(one);
  assert.deepEqual(recordings.list().map(({ name }) => name), ['walk-3']);
  assert.equal(fs.readdirSync(folder).length, 1);
});

test('a tap of an offline phone counts for its own time, also after the end, but not later than the end', async () => {
  const { recordings, rig } = open();
  const recording = await start(recordings);
  await tap(recordings, recording, 't0', 'b', 5000);
  assert.equal(recording.taps[0].ts, T, 'none is before the start');
  rig.nowMs = T + 10_000;
  await recordings.stop(recording);
  rig.nowMs = T + 20_000;
  await tap(recordings, recording, 't1', 'a', 15_000);
  assert.deepEqual(recording.taps.map(({ ts }) => ts - T), [0, 5000]);
  await assert.rejects(tap(recordings, recording, 't2', 'b', 5000), /is over/);
  await recordings.removeTap(recording, 't1');
  await recordings.removeTap(recording, 't1');
  assert.equal(recording.taps.length, 1);
});

test('readings that cannot be written are counted and warned of', async () => {
  const { recordings, rig, folder } = open();
  const recording = await start(recordings);
  fs.rmSync(path.join(folder, recording.id, 'readings.csv'));
  fs.mkdirSync(path.join(folder, recording.id, 'readings.csv'));
  recordings.addBatch(heard(T + 600, [tag()]), T + 650);
  recordings.tick(T + 1000);
  await recordings.close();
  assert.equal(recording.lost_readings, 1);
  assert.match(rig.warnings.join(), /readings could not be written/);
});

test('a recording that cannot be read at the start is warned of and ignored', () => {
  const folder = path.join(root, 'broken');
  fs.mkdirSync(path.join(folder, '0123456789ab'), { recursive: true });
  const { recordings, rig } = open({ folder });
  assert.deepEqual(recordings.list(), []);
  assert.match(rig.warnings.join(), /this recording cannot be read/);
  assert.ok(fs.existsSync(path.join(folder, '0123456789ab')));
});
