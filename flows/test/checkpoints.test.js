'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const v8 = require('node:v8');
const { createCheckpoints, superfluous } = require('../lib/past/checkpoints');
const fc = require('./support/fast-check');
const { createBuilding } = require('../lib/building');
const { createLocator, emptyOutcome } = require('../lib/locator');
const { inOrder } = require('../lib/live/batches');
const { houseFile } = require('./locator/house');
const { smallBuilding } = require('./support/building');
const { World, taggedWalks, walks } = require('./support/world');

const T = 1_700_000_000_000;
const MIN = 60_000;
const checkpoint = (ms) => ({ ms, heard: null, locator: { of: ms } });
const ANY = () => true;

test('what another locator goes on from finds what the first one would have found, whenever it was saved', () => {
  for (const [file, sent] of [[smallBuilding(), walks(7, { people: 4, fromMs: T, toMs: T + 4 * MIN, contrastDb: 9 })],
    [houseFile(), taggedWalks(7, { fromMs: T, toMs: T + 4 * MIN, tags: ['C0FFEE000001', 'C0FFEE000002'] })]]) {
    const building = createBuilding(file);
    const batches = sent.map(({ kind, receiver, ms, atMs, payload }) =>
      ({ atMs, batch: inOrder({ kind, receiver, ts: ms, readings: JSON.parse(payload).readings }) }));
    const hear = (locator, outcome, { atMs, batch }) => {
      locator.hear(structuredClone(batch), atMs, outcome);
      locator.tick(atMs, outcome);
    };
    const whole = emptyOutcome();
    const first = createLocator(building);
    for (const one of batches) hear(first, whole, one);
    fc.assert(fc.property(fc.integer({ min: 1, max: batches.length - 1 }), (n) => {
      const found = emptyOutcome();
      const before = createLocator(building);
      for (const one of batches.slice(0, n)) hear(before, found, one);
      const bytes = v8.serialize(before.save(batches[n - 1].atMs, found));
      const after = createLocator(building);
      assert.ok(after.restore(v8.deserialize(bytes)));
      for (const one of batches.slice(n)) hear(after, found, one);
      assert.deepEqual(found, whole);
      assert.deepEqual(after.presences(), first.presences());
    }), { numRuns: 12 });
  }
});

test('into a locator at work: those who are chosen go on from there, the others stay as they are', () => {
  const building = createBuilding(smallBuilding());
  const sent = walks(3, { people: 4, fromMs: T, toMs: T + MIN });
  const hear = (locator, of) => {
    const outcome = emptyOutcome();
    for (const { receiver, ms, payload } of sent) {
      if (of(receiver)) locator.hear({ kind: 'phone', receiver, ts: ms, readings: JSON.parse(payload).readings }, ms, outcome);
    }
    return outcome;
  };
  const [exact, other] = [createLocator(building), createLocator(building)];
  hear(exact, () => true);
  hear(other, (id) => id !== '1');
  const before = new Map(other.learnedStrengths().map((one) => [one.staff_id, one]));
  assert.ok(other.restore(exact.save(T + MIN, emptyOutcome()), (id) => id === '1' || id === '2'));
  const learnedStrengthOf = (locator, id) => locator.learnedStrengths().find(({ staff_id: one }) => one === id);
  for (const id of ['1', '2']) {
    assert.deepEqual(learnedStrengthOf(other, id), learnedStrengthOf(exact, id));
    assert.deepEqual(other.trace(id), exact.trace(id));
  }
  assert.deepEqual(learnedStrengthOf(other, '3'), before.get('3'));
});

test('a checkpoint of another building, or of other settings, is not taken', () => {
  const saved = createLocator(createBuilding(smallBuilding())).save(T, emptyOutcome());
  assert.equal(createLocator(createBuilding(houseFile())).restore(saved), false);
  assert.equal(createLocator(createBuilding(smallBuilding()), { txDbm: -60 }).restore(saved), false);
  assert.equal(createLocator(createBuilding(smallBuilding())).restore(saved), true);
});

test('the newest of a time that can be used; a damaged one is said', async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'checkpoints-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const warnings = [];
  const place = path.join(folder, 'of', 'the flows');
  const checkpoints = createCheckpoints(place, (text) => warnings.push(text));
  assert.equal(await checkpoints.newest(Infinity, ANY), null);
  await checkpoints.write(checkpoint(T), T, 0);
  await checkpoints.write(checkpoint(T + 30_000), T + 30_000, 0);
  assert.equal(fs.statSync(place).mode & 0o777, 0o700);
  const again = createCheckpoints(place, (text) => warnings.push(text));
  const msOf = async (...asked) => (await again.newest(...asked))?.ms;
  assert.deepEqual(await again.newest(T + 60_000, ANY), checkpoint(T + 30_000));
  assert.equal(await msOf(T + 60_000, ANY), T + 30_000);
  assert.equal(await msOf(T + 60_000, (ms) => ms !== T + 30_000), T);
  assert.equal(await msOf(T + 29_999, ANY), T);
  assert.equal(await msOf(T - 1, ANY), undefined);
  assert.deepEqual(warnings, []);
  fs.writeFileSync(path.join(place, `${T + 30_000}.checkpoint`), 'torn');
  assert.equal(await msOf(T + 60_000, ANY), T);
  assert.match(warnings.join(), /checkpoint of 2023-11-14T22:13:50.000Z cannot be read, an older one is taken/);
});

test('a full disk is said once, and the next one is tried', async () => {
  const warnings = [];
  let isFull = true;
  const kept = new Map();
  const files = { list: async () => [...kept.keys()], read: async (ms) => kept.get(ms), remove: async (ms) => { kept.delete(ms); },
    write: async (ms, bytes) => {
      if (isFull) throw new Error('ENOSPC: no space left on device');
      kept.set(ms, bytes);
    } };
  const checkpoints = createCheckpoints(files, (text) => warnings.push(text));
  await checkpoints.write(checkpoint(T), T, 0);
  await checkpoints.write(checkpoint(T + MIN), T + MIN, 0);
  assert.deepEqual(warnings, ['no checkpoint is written, the next start reads a quarter of an hour more: ENOSPC: no space left on device']);
  isFull = false;
  assert.ok(checkpoints.isDue(T + 2 * MIN));
  await checkpoints.write(checkpoint(T + 2 * MIN), T + 2 * MIN, 0);
  assert.ok(!checkpoints.isDue(T + 2 * MIN + 29_000));
  assert.equal((await checkpoints.newest(Infinity, ANY)).ms, T + 2 * MIN);
});

test('they are few, close together for the last minutes, and the one that a start needs is kept', () => {
  fc.assert(fc.property(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 0, max: 400 }), (many, needed) => {
    let kept = [];
    const neededMs = T + needed * 30_000;
    for (let n = 0; n <= many; n += 1) {
      kept.push(T + n * 30_000);
      const gone = new Set(superfluous(kept, T + n * 30_000, neededMs));
      kept = kept.filter((ms) => !gone.has(ms));
    }
    const nowMs = T + many * 30_000;
    assert.ok(kept.length <= 26, `${kept.length}`);
    assert.ok(kept.some((ms) => ms <= neededMs), 'the one that a start needs');
    for (let ms = Math.max(T, nowMs - 5 * MIN + 30_000); ms <= nowMs; ms += 30_000) assert.ok(kept.includes(ms), 'each of the last minutes');
    const gaps = kept.slice(1).map((ms, n) => ms - kept[n]).filter((_, n) => kept[n] > nowMs - 60 * MIN);
    assert.ok(gaps.every((ms) => ms <= 12 * MIN), `${gaps}`);
  }), { numRuns: 60 });
});

test('a start goes on from a checkpoint: it reads the minutes since then alone', async () => {
  const sent = walks(5, { people: 4, fromMs: T, toMs: T + 40 * MIN });
  const world = new World(sent, T).start();
  await world.until(() => world.now >= T + 30 * MIN);
  world.kill();
  world.pass(20_000);
  world.start({ session: false });
  await world.until(() => world.now > world.startedMs + 2000 && world.rebuild.part().state === 'idle');
  const [{ why, readings }] = world.rebuild.jobs();
  const perMinute = sent.length * 8 / 40;
  assert.equal(why, 'start');
  assert.ok(readings < 5 * perMinute, `${readings} of ${perMinute} a minute`);
});

test('a start from a checkpoint in which somebody had missed readings: that one goes on from an older checkpoint', async () => {
  const sent = walks(11, { people: 6, fromMs: T, toMs: T + 16 * MIN, contrastDb: 9 });
  const isLate = (one) => one.receiver === '3' && one.ms >= T + 8 * MIN && one.ms < T + 9 * MIN;
  const delayed = sent.map((one) => (isLate(one) ? { ...one, atMs: T + 10 * MIN + (one.ms - T) / 1000 } : one))
    .sort((a, b) => a.atMs - b.atMs);
  const undisturbed = new World(sent, T).start();
  await undisturbed.until(() => undisturbed.now >= T + 16 * MIN);
  const world = new World(delayed, T).start();
  await world.until(() => world.now >= T + 12 * MIN);
  world.kill();
  world.pass(5000);
  for (const ms of world.checkpoints.keys()) if (ms > T + 10 * MIN + 30_000) world.checkpoints.delete(ms);
  assert.ok(Math.max(...world.checkpoints.keys()) > T + 10 * MIN);
  world.start();
  await world.until(() => world.now >= T + 16 * MIN);
  const [found, expected] = [world, undisturbed].map((one) => one.history(T, T + 15 * MIN));
  assert.deepEqual(found, expected);
});
