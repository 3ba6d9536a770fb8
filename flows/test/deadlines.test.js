'use strict';

const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const { setTimeout: later } = require('node:timers/promises');
const { createBuilding, loadBuilding, BuildingError } = require('../lib/building');
const { createEditor } = require('../lib/building/editor');
const { createReloader, startBuilding } = require('../lib/building/reload');
const { createTextReader } = require('../lib/building/source');
const { readKeys } = require('../lib/access');
const { createQueue, oneAtATime, TookTooLong, within } = require('../lib/shared/deadline');
const { smallBuilding } = require('./support/building');

const never = () => new Promise(() => {});
const QUIET = { log: () => {}, warn: () => {} };
const T = 1_700_000_000_000;

function folderOf(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'deadlines-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

test('work that hangs is told of, is not started twice, and keeps nobody', async () => {
  await assert.rejects(within(never(), 20, 'reading'), (error) => error instanceof TookTooLong && /reading takes longer than 0.02 s/.test(error.message));
  assert.equal(await within(Promise.resolve(1), 20, 'reading'), 1);
  let started = 0;
  const hung = oneAtATime(() => { started += 1; return never(); }, 20, 'reading');
  await assert.rejects(hung(), TookTooLong);
  await assert.rejects(hung(), TookTooLong);
  assert.equal(started, 1);
  const broken = oneAtATime(async () => { throw new TypeError(`no ${started += 1}`); }, 1000, 'reading');
  await assert.rejects(broken(), /no 2/);
  await assert.rejects(broken(), /no 3/);
});

test('a queue goes on after a failure; what nobody waits for any more is not begun', async () => {
  const add = createQueue(50, 'writing');
  const done = [];
  let goOn;
  await assert.rejects(add(async () => { throw new RangeError('odd'); }), RangeError);
  await assert.rejects(add(() => new Promise((resolve) => { goOn = resolve; })), TookTooLong);
  await assert.rejects(add(async () => done.push('late')), TookTooLong);
  goOn();
  await add(async () => done.push('next'));
  assert.deepEqual(done, ['next']);
});

function reloaderOf({ read, apply = async () => {}, limits = { readMs: 30, applyMs: 30 } }) {
  const state = { faults: [], current: createBuilding(smallBuilding()), applied: 0 };
  state.reloader = createReloader({ source: 'building.json', read, current: () => state.current, limits, logger: QUIET,
    refuse: (faults) => { state.faults = faults; },
    apply: async (next) => { state.applied += 1; await apply(next); state.current = next; } });
  return state;
}

test('a file that hangs while it is read is a fault; when it is back it is taken over', async () => {
  let text = null;
  let reads = 0;
  let goOn;
  const state = reloaderOf({ read: () => {
    reads += 1;
    return text === null ? new Promise((resolve) => { goOn = resolve; }) : Promise.resolve(text);
  } });
  await state.reloader.checkNow();
  assert.match(state.faults[0], /^\/ cannot be read: reading it takes longer than 0.03 s/);
  assert.equal(reads, 1, 'a read that hangs is not repeated');
  text = JSON.stringify({ ...smallBuilding(), building: 'Back' });
  goOn(text);
  await state.reloader.checkNow();
  assert.deepEqual([state.faults, state.current.name], [[], 'Back']);
});

test('a building that hangs while it is put in use is a fault, and two are never put in use at once', async () => {
  let goOn;
  const state = reloaderOf({ read: async () => JSON.stringify({ ...smallBuilding(), building: 'Slow' }),
    apply: () => (goOn ? Promise.resolve() : new Promise((resolve) => { goOn = resolve; })) });
  await state.reloader.check();
  assert.match(state.faults[0], /cannot be taken over: putting it in use takes longer/);
  await state.reloader.check();
  assert.match(state.faults[0], /putting the building before it in use takes longer/);
  assert.equal(state.applied, 1);
  goOn();
  await later(5);
  await state.reloader.check();
  assert.deepEqual([state.faults, state.current.name], [[], 'Slow']);
});

for (const [what, text] of [
  ['nested 5,000 lists', `{"building":${'['.repeat(5000)}${']'.repeat(5000)}}`], ['nested 5,000 objects', `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`],
  ['a name that is no text', '{"building":{"toString":1}}'], ['null', 'null'], ['a number', '7'],
]) {
  test(`a file with ${what} is refused at a reload, at a start and by the editor, and the last building goes on`, async (t) => {
    const state = reloaderOf({ read: async () => text, limits: { readMs: 5000, applyMs: 5000 } });
    await state.reloader.checkNow();
    assert.ok(state.faults.length > 0);
    const folder = folderOf(t);
    const file = path.join(folder, 'building.json');
    fs.writeFileSync(file, JSON.stringify(smallBuilding()));
    const editor = createEditor({ file, folder: path.join(folder, 'versions'), first: loadBuilding(file), clock: () => T, logger: QUIET });
    await editor.versions();
    fs.writeFileSync(file, text);
    assert.throws(() => loadBuilding(file), BuildingError);
    const warned = [];
    assert.equal(startBuilding(file, path.join(folder, 'versions'), (one) => warned.push(one)).name, 'Small House');
    assert.match(warned[0], /in use last goes on/);
    const { file: inUse, faults } = await editor.current();
    assert.equal(inUse.building, 'Small House');
    assert.deepEqual(faults, state.faults);
  });
}

test('a start goes on with the last building whatever error the file makes', (t) => {
  const folder = folderOf(t);
  const versions = path.join(folder, 'versions');
  fs.mkdirSync(versions);
  fs.writeFileSync(path.join(versions, '000001.ndjson'), `{"version":1}\n${JSON.stringify(smallBuilding())}\n`);
  const file = path.join(folder, 'pipe');
  execFileSync('mkfifo', [file]);
  assert.equal(startBuilding(file, versions, () => {}).name, 'Small House');
  assert.throws(() => startBuilding(file, path.join(folder, 'none'), () => {}), /is no regular file/);
  fs.writeFileSync(path.join(versions, '000002.ndjson'), 'damaged');
  const warned = [];
  assert.throws(() => startBuilding(file, versions, (text) => warned.push(text)), /is no regular file/);
  assert.match(warned[0], /cannot be used/);
});

test('named pipes and folders are refused where a file is meant, and nothing waits for them', async (t) => {
  const folder = folderOf(t);
  const pipe = path.join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  await assert.rejects(createTextReader(pipe)(), /is no regular file/);
  await assert.rejects(createTextReader(folder)(), /is no regular file/);
  assert.throws(() => readKeys(pipe), /is no regular file/);
  const large = path.join(folder, 'large');
  fs.writeFileSync(large, Buffer.alloc(9 * 1024 * 1024, 0x20));
  await assert.rejects(createTextReader(large)(), /has 9.0 MiB, at most 8 are taken/);
});

test('an editor answers while its file hangs, and a change puts a pipe aside', async (t) => {
  const folder = folderOf(t);
  const file = path.join(folder, 'building.json');
  fs.writeFileSync(file, JSON.stringify(smallBuilding()));
  const first = loadBuilding(file);
  const options = { file, folder: path.join(folder, 'versions'), first, clock: () => T, logger: QUIET };
  const hung = createEditor({ ...options, read: never, withinMs: 50 });
  await assert.rejects(hung.current(), /takes longer/);
  await assert.rejects(hung.write({ ...smallBuilding(), building: 'New' }, first.digest, { by: 'a', how: 'edit', of: null }), /cannot be written/);
  const editor = createEditor(options);
  fs.rmSync(file);
  execFileSync('mkfifo', [file]);
  assert.match((await editor.current()).faults[0], /is no regular file/);
  const { set_aside: aside } = await editor.write({ ...smallBuilding(), building: 'New' }, first.digest, { by: 'a', how: 'edit', of: null });
  assert.ok(fs.statSync(aside).isFIFO());
  assert.equal(loadBuilding(file).name, 'New');
});
