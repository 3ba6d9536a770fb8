'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, test } = require('node:test');
const fc = require('./support/fast-check');
const { createBuilding, loadBuilding } = require('../lib/building');
const { buildingFaults } = require('../lib/building/checks');
const { Conflict, NotWritable, changesBetween, createEditor, faultDetails, openVersions } = require('../lib/building/editor');
const { replaceFile } = require('../lib/shared/whole-file');
const { smallBuilding } = require('./support/building');

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'editing-'));
after(() => fs.rmSync(root, { recursive: true }));
let folders = 0;
const nothing = { added: 0, removed: 0, changed: 0 };
const changed = (change) => { const data = smallBuilding(); change(data); return data; };
const named = (name) => changed((data) => { data.building = name; });
const digestOf = (data) => createBuilding(data).digest;

/** An editor of its own file, with what it messages. */
function start(folder = path.join(root, String(folders += 1)), versionOptions = {}) {
  fs.mkdirSync(folder, { recursive: true });
  const file = path.join(folder, 'building.json');
  if (!fs.existsSync(file)) fs.writeFileSync(file, JSON.stringify(smallBuilding()));
  const messages = [];
  let now = 1_700_000_000_000;
  const editor = createEditor({ file, folder: path.join(folder, 'versions'), first: loadBuilding(file), clock: () => now++,
    logger: { log: (text) => messages.push(text), warn: (text) => messages.push(text) }, versionOptions });
  const edit = async (next, digest) => editor.write(next, digest ?? (await editor.current()).digest, { by: 'ann', how: 'edit', of: null });
  return { editor, edit, file, folder, messages, list: async () => (await editor.versions()).list(), onDisk: () => JSON.parse(fs.readFileSync(file, 'utf8')) };
}

test('changes are counted by id', () => {
  const next = changed((data) => {
    data.levels[0].rooms[0].name = 'Hall';
    data.levels[1].rooms.pop();
    data.levels[1].name = 'Top';
    data.beacons[0] = { room: 'a', level: 'L1', id: data.beacons[0].id, x_m: 5, y_m: 5 }; // equal, with another order of keys
    data.beacons.pop();
    data.gateways.push({ id: 'gw-x', level: 'L1', room: 'a', x_m: 1, y_m: 1 });
    data.staff[1].tags = ['BB00000000FF'];
  });
  assert.deepEqual(changesBetween(smallBuilding(), next), {
    levels: { ...nothing, changed: 1 }, rooms: { added: 0, removed: 1, changed: 1 }, beacons: { ...nothing, removed: 1 },
    gateways: { ...nothing, added: 1 }, staff: { ...nothing, changed: 1 }, other: false });
  assert.equal(changesBetween(smallBuilding(), named('House')).other, true);
  assert.equal(changesBetween(smallBuilding(), changed((data) => data.levels.reverse())).other, true);
  assert.equal(changesBetween(smallBuilding(), smallBuilding()).other, false);
});

test('property: the reverse change swaps added and removed', () => {
  const kept = (list, keep) => list.filter((_, i) => keep[i]);
  const pick = (data, keep) => ({ ...data, beacons: kept(data.beacons, keep), staff: kept(data.staff, keep.slice(4)) });
  const some = fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }).map((chosen) => pick(smallBuilding(), chosen));
  fc.assert(fc.property(some, some, (one, two) => {
    const there = changesBetween(one, two);
    const back = changesBetween(two, one);
    for (const kind of ['levels', 'rooms', 'beacons', 'gateways', 'staff']) {
      const { added, removed, changed: other } = there[kind];
      assert.deepEqual({ added: removed, removed: added, changed: other }, back[kind]);
      if (kind in one && kind !== 'levels') assert.equal(one[kind].length + added - removed, two[kind].length);
    }
  }));
});

test('every fault has its JSON pointer', () => {
  const bad = changed((data) => { data.beacons[2].room = 'attic'; delete data.building; });
  assert.deepEqual(faultDetails(buildingFaults(bad)), [
    { pointer: '', reason: "must have required property 'building'" }, { pointer: '/beacons/2/room', reason: 'there is no room "attic"' }]);
});

test('an edit is a version with author, time, changes and the whole building', async () => {
  const { editor, edit, list, onDisk, file } = start();
  fs.chmodSync(file, 0o640);
  const next = changed((data) => { data.staff.push({ id: '2', name: 'Cem' }); });
  const { version } = await edit(next);
  assert.deepEqual(onDisk(), next);
  assert.equal(fs.statSync(file).mode & 0o777, 0o640);
  assert.deepEqual((await list()).map(({ version: n, by, how }) => [n, by, how]), [[2, 'ann', 'edit'], [1, null, 'start']]);
  assert.deepEqual(version.changes.staff, { ...nothing, added: 1 });
  const versions = await editor.versions();
  assert.deepEqual((await versions.read(1)).building, smallBuilding());
  assert.deepEqual((await versions.read(2)).building, next);
  assert.equal(await versions.read(3), null);
  assert.deepEqual(await edit(next), { version: null, set_aside: null });
});

test('an edit of an outdated building is refused', async () => {
  const { editor, edit, onDisk } = start();
  const { digest } = await editor.current();
  const results = await Promise.allSettled([edit(named('One'), digest), edit(named('Two'), digest)]);
  assert.deepEqual(results.map(({ status }) => status), ['fulfilled', 'rejected']);
  assert.ok(results[1].reason instanceof Conflict);
  assert.equal(results[1].reason.digest, digestOf(named('One')));
  assert.equal(results[1].reason.version.version, 2);
  assert.equal(onDisk().building, 'One');
});

test('a change by hand is a version, and protected like an edit', async () => {
  const { editor, edit, file, list } = start();
  const { digest } = await editor.current();
  fs.writeFileSync(file, JSON.stringify(named('By hand')));
  await assert.rejects(edit(named('Mine'), digest), Conflict);
  await editor.recordApplied(); // the reloader applies it later: no second version
  assert.deepEqual((await list()).map(({ how, by }) => [how, by]), [['file', null], ['start', null]]);
  await edit(named('Mine'));
  await editor.recordApplied();
  assert.deepEqual((await list()).map(({ how }) => how), ['edit', 'file', 'start']);
});

test('a file with faults is copied before it is overwritten, and the newest five copies are kept', async () => {
  const { editor, edit, file, folder, onDisk } = start();
  for (let n = 0; n < 7; n += 1) {
    fs.writeFileSync(file, `{"half": ${n}`);
    const { file: building, faults } = await editor.current();
    assert.equal(building.building, n === 0 ? 'Small House' : `Good ${n - 1}`, 'the building in use');
    assert.match(faults[0], /is not JSON/);
    const { set_aside: aside } = await edit(named(`Good ${n}`));
    assert.equal(fs.readFileSync(aside, 'utf8'), `{"half": ${n}`);
    assert.equal(onDisk().building, `Good ${n}`);
    assert.deepEqual((await editor.current()).faults, []);
  }
  assert.equal(fs.readdirSync(path.join(folder, 'versions')).filter((name) => name.startsWith('refused-')).length, 5);
});

test('versions survive a restart, and a change made meanwhile becomes one', async () => {
  const first = start();
  await first.edit(named('One'));
  const second = start(first.folder);
  assert.deepEqual((await second.list()).map(({ how }) => how), ['edit', 'start']);
  fs.writeFileSync(first.file, JSON.stringify(named('Meanwhile')));
  const third = start(first.folder);
  assert.deepEqual((await third.list()).map(({ version, how }) => [version, how]), [[3, 'start'], [2, 'edit'], [1, 'start']]);
});

test('a kill before the file is replaced drops the version; a kill after that keeps it', async () => {
  const one = start();
  const versions = await one.editor.versions();
  const what = { ts: 1, by: 'ann', how: 'edit', of: null, changes: changesBetween(smallBuilding(), named('New')) };
  await versions.prepare({ ...what, digest: digestOf(named('New')) }, named('New'));
  assert.deepEqual((await start(one.folder).list()).map(({ version }) => version), [1]);
  await versions.prepare({ ...what, digest: digestOf(named('New')) }, named('New'));
  await replaceFile(one.file, JSON.stringify(named('New')));
  assert.deepEqual((await start(one.folder).list()).map(({ version, by }) => [version, by]), [[2, 'ann'], [1, null]]);
  assert.deepEqual(fs.readdirSync(path.join(one.folder, 'versions')).sort(), ['000001.ndjson', '000002.ndjson']);
});

test('the oldest versions are removed and counted when there are too many or they are too large', async () => {
  const { editor, edit, list } = start(undefined, { bounds: { versions: 5 } });
  for (let n = 0; n < 10; n += 1) await edit(named(`House ${n}`));
  assert.deepEqual((await list()).map(({ version }) => version), [11, 10, 9, 8, 7]);
  assert.equal((await editor.versions()).dropped(), 6);
  assert.equal(await (await editor.versions()).read(6), null);
  const small = start(undefined, { bounds: { bytes: 100 } });
  await small.edit(named('House'));
  assert.deepEqual((await small.list()).map(({ version }) => version), [2], 'the newest stays');
});

test('a damaged version is ignored with a warning', async () => {
  const one = start();
  await one.edit(named('One'));
  fs.writeFileSync(path.join(one.folder, 'versions', '000001.ndjson'), 'rubbish');
  const two = start(one.folder);
  assert.deepEqual((await two.list()).map(({ version }) => version), [2]);
  assert.match(two.messages.join(), /000001.ndjson is no version/);
});

test('a write error is reported, and nothing has changed', async () => {
  const one = start();
  await one.editor.current();
  fs.rmSync(path.join(one.folder, 'versions'), { recursive: true });
  fs.writeFileSync(path.join(one.folder, 'versions'), 'a file in the way');
  await assert.rejects(one.edit(named('New')), (error) => error instanceof NotWritable && /ENOTDIR/.test(error.message));
  assert.equal(one.onDisk().building, 'Small House');
  const two = start(one.folder);
  await assert.rejects(two.edit(named('New')), NotWritable);
  assert.match(two.messages.join(), /versions of the building are not kept/);
});

test('property: after any edits and changes by hand the file has the last content, and every state is a version', async () => {
  const step = fc.record({ by: fc.constantFrom('edit', 'hand', 'stale', 'bad'), name: fc.integer({ min: 0, max: 3 }) });
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
    const { editor, edit, file, list, onDisk } = start();
    await list(); // the start version exists
    let now = 'Small House';
    const states = [now];
    for (const { by, name } of steps) {
      const next = `House ${name}`;
      if (by === 'bad') {
        fs.writeFileSync(file, 'no JSON');
        continue;
      }
      if (by === 'stale') {
        await assert.rejects(edit(named(next), 'of long ago'), Conflict);
        continue;
      }
      if (by === 'edit') await edit(named(next));
      else fs.writeFileSync(file, JSON.stringify(named(next)));
      await editor.recordApplied();
      if (next !== now) states.push(next);
      now = next;
      assert.equal(onDisk().building, now);
    }
    const versions = await editor.versions();
    const kept = await Promise.all((await list()).map(async ({ version }) => (await versions.read(version)).building.building));
    assert.deepEqual(kept.reverse(), states);
  }), { numRuns: 40 });
});

test('openVersions creates its folder', async () => {
  const versions = await openVersions(path.join(root, 'new', 'deep'), 'x');
  assert.deepEqual([versions.list(), versions.dropped(), versions.newest()], [[], 0, null]);
});
