'use strict';

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, test } = require('node:test');
const express = require('express');
const fc = require('./support/fast-check');
const { createBuilding, loadBuilding } = require('../lib/building');
const { nameFault, newAwkward, warningsOf } = require('../lib/building/awkward');
const { createEditor } = require('../lib/building/editor');
const { createPictures } = require('../lib/building/pictures');
const { beaconIn, readBeacon } = require('../lib/building/ids');
const { encodingFault, encodingOf } = require('../lib/building/import/decode');
const { emptyBuilding, fromListWork } = require('../lib/building/import/from-list');
const { ImportError } = require('../lib/building/import/rows');
const { createReloader, startBuilding } = require('../lib/building/reload');
const { createTextReader } = require('../lib/building/source');
const { createHealth } = require('../lib/health');
const { createRouter } = require('../lib/http');
const { createSessions } = require('../lib/access');
const { inOneGo } = require('../lib/shared/pieces');
const { Site } = require('../lib/site');
const { smallBuilding } = require('./support/building');
const { guards } = require('./support/guards');

const CASES = JSON.parse(fs.readFileSync(path.join(__dirname, '..', '..', 'tests', 'beacon_ids.json'), 'utf8'));
const UUID = 'E2C56DB5DFFB48D2B060D0F5A71096E0';
const DASHED = 'E2C56DB5-DFFB-48D2-B060-D0F5A71096E0';
const KEY = 'key-of-the-test';
const T = 1_700_000_000_000;
const TOOL = path.join(__dirname, '..', 'bin', 'building.js');
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'awkward-'));
after(() => fs.rmSync(root, { recursive: true }));
let folders = 0;
const changed = (change) => { const data = smallBuilding(); change(data); return data; };

/** The routes and the reload of a building file, as the nodes put them together. */
async function start(t, first = smallBuilding()) {
  const folder = path.join(root, String(folders += 1));
  fs.mkdirSync(folder);
  const file = path.join(folder, 'building.json');
  fs.writeFileSync(file, typeof first === 'string' || Buffer.isBuffer(first) ? first : JSON.stringify(first));
  const logger = { log: () => {}, warn: () => {} };
  const site = new Site(startBuilding(file, path.join(folder, 'versions'), () => {}), T);
  const editor = createEditor({ file, folder: path.join(folder, 'versions'), first: site.building(), clock: () => T, logger });
  const reloader = createReloader({ source: file, read: createTextReader(file), current: () => site.building(), logger,
    before: () => [site.building().file, editor.good()], refuse: (faults) => site.bus.emit('buildingRefused', faults),
    apply: async (next) => { site.setBuilding(next, T); await editor.recordApplied(); } });
  const pictures = createPictures({ folder, referenced: editor.pictures, clock: Date.now });
  const router = createRouter({ site, editor, pictures, reload: reloader.checkNow, clock: () => T, trusted: () => true, apiKey: KEY,
    ...guards(), dashboardPath: '/dashboard/floor', buildingFile: file, sessions: createSessions({ adminUser: 'admin', adminPassword: 'word' }),
    health: () => ({ status: 'up' }), log: assert.fail });
  const server = express().use(router).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => { server.closeAllConnections(); server.close(); });
  const call = async (method, where, body, headers = {}) => {
    const sent = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const response = await fetch(`http://127.0.0.1:${server.address().port}/api/v1/${where}`,
      { method, body: sent, headers: { 'x-api-key': KEY, 'content-type': 'application/json', ...headers } });
    return { status: response.status, etag: response.headers.get('etag'), body: await response.json() };
  };
  const put = async (body) => call('PUT', 'building', body, { 'if-match': (await call('GET', 'building')).etag });
  const byHand = async (data) => {
    fs.writeFileSync(file, typeof data === 'string' || Buffer.isBuffer(data) ? data : JSON.stringify(data));
    await reloader.checkNow();
    return site.buildingFaults;
  };
  return { call, put, byHand, site, file, folder };
}

const NAMED = changed((data) => { data.building = 'Büro'; });
const TEXT = JSON.stringify(NAMED);
const utf16be = (text) => Buffer.from(text, 'utf16le').swap16();
const ENCODINGS = [
  ['UTF-8', Buffer.from(TEXT), null],
  ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${TEXT}`), null],
  ['UTF-16 with a mark', Buffer.from(`\ufeff${TEXT}`, 'utf16le'), /is UTF-16 \(little-endian\), not UTF-8: save it as UTF-8/],
  ['UTF-16 of another byte order', utf16be(`\ufeff${TEXT}`), /is UTF-16 \(big-endian\), not UTF-8/],
  ['UTF-16 without a mark', Buffer.from(TEXT, 'utf16le'), /is UTF-16 \(little-endian\) without a byte order mark, not UTF-8/],
  ['UTF-32', Buffer.concat([Buffer.from([0xff, 0xfe, 0, 0]), Buffer.alloc(40)]), /is UTF-32, not UTF-8/],
  ['Latin-1', Buffer.from(TEXT, 'latin1'), /is Latin-1 or Windows-1252, not UTF-8 \(line 1 has the byte 0xFC\): save it as UTF-8/],
];
for (const [what, bytes, fault] of ENCODINGS) {
  test(`a building in ${what} gets the same answer from disk, over HTTP and by the command`, async (t) => {
    const disk = await start(t);
    const http = await start(t);
    const faults = await disk.byHand(bytes);
    const answer = await http.put(bytes);
    const command = spawnSync(process.execPath, [TOOL, 'check', disk.file], { encoding: 'utf8' });
    if (fault === null) {
      assert.deepEqual([faults, disk.site.building().name, answer.status, http.site.building().name, command.status], [[], 'Büro', 200, 'Büro', 0]);
      return;
    }
    assert.match(faults[0], fault);
    assert.equal(answer.status, 422);
    assert.equal(`/ ${answer.body.faults[0].reason}`, faults[0]);
    assert.equal((await http.call('POST', 'building/validate', bytes)).body.faults[0].reason, answer.body.faults[0].reason);
    assert.equal(command.status, 1);
    assert.ok(command.stderr.includes(faults[0]), command.stderr);
    assert.deepEqual([disk.site.building().name, http.site.building().name], ['Small House', 'Small House']);
  });
}

test('a list in any encoding gets the same answer over HTTP and by the command', async (t) => {
  const { call, file, folder } = await start(t);
  const text = 'mac;location;level\r\nC2A628384B77;Büro;L1\r\n';
  for (const [bytes, reason] of [
    [Buffer.from(text), null], [Buffer.from(`\ufeff${text}`), null], [Buffer.from(`\ufeff${text}`, 'utf16le'), null], [utf16be(`\ufeff${text}`), null],
    [Buffer.from(text, 'latin1'), /the file is Latin-1 or Windows-1252, not UTF-8 \(line 2 has the byte 0xFC\): save it as "CSV UTF-8"/],
    [Buffer.from(text, 'utf16le'), /the file is UTF-16 \(little-endian\) without a byte order mark/],
  ]) {
    const list = path.join(folder, 'list.csv');
    fs.writeFileSync(list, bytes);
    const command = spawnSync(process.execPath, [TOOL, 'from-list', list, file, '--new', '--dry-run'], { encoding: 'utf8' });
    const answer = await call('POST', 'building/from-list?dry_run=1&how=new', bytes, { 'content-type': 'text/csv' });
    if (reason === null) {
      assert.deepEqual([answer.body.levels[0].rooms[0].name, command.status], ['Büro', 0]);
      assert.match(command.stdout, /Büro/);
    } else {
      assert.match(answer.body.error, reason);
      assert.match(command.stderr, reason);
      assert.deepEqual([answer.status, command.status], [400, 2]);
    }
  }
});

test('an encoding is named whatever the bytes are, and never takes long', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
    assert.ok(encodingOf(bytes).name.length > 0);
    assert.match(encodingFault(bytes), /^is .*: save it as UTF-8$/);
  }));
  assert.equal(encodingOf(Buffer.from('')).name, 'UTF-8');
  assert.match(encodingFault(Buffer.from('a\nb\n\xe9d', 'latin1')), /line 3 has the byte 0xE9/);
});

for (const { written, id, reason } of CASES) {
  test(`the beacon id ${JSON.stringify(written).slice(0, 45)} is ${id ? 'read' : 'refused with the reason'}`, () => {
    const read = readBeacon(written);
    if (id) assert.deepEqual(read, { beacon: id });
    else assert.ok(read.reason.includes(reason), read.reason);
  });
}

const BAD_IDS = [
  ['only dashes', ['------------'], /has no hex digit/],
  ['zeros in front', [`${UUID}-001-2`], /has a major with zeros in front: write 1, not 001/],
  ['a number that is too large', [`${UUID}-1-65536`], /has the minor 65536, at most 65535/],
  ['the same iBeacon twice in two spellings', [`${UUID}-1-2`, `${DASHED}-1-2`], /is written E2C56DB5DFFB48D2B060D0F5A71096E0-1-2/],
];
for (const [what, ids, reason] of BAD_IDS) {
  const withIds = changed((data) => { for (const id of ids) data.beacons.push({ ...data.beacons[0], id }); });
  const asTags = changed((data) => { data.staff[0].tags = [...data.staff[0].tags ?? [], ...ids]; });

  test(`beacon ids (${what}) are refused in a new file by hand, over HTTP and by the command`, async (t) => {
    for (const data of [withIds, asTags]) {
      const { put, byHand, call, site, file } = await start(t);
      const answer = await put(data);
      assert.equal(answer.status, 422);
      assert.equal(answer.body.faults.length, 1);
      assert.match(answer.body.faults[0].reason, reason);
      assert.match((await call('POST', 'building/validate', data)).body.faults[0].reason, reason);
      const faults = await byHand(data);
      assert.match(faults[0], reason);
      const command = spawnSync(process.execPath, [TOOL, 'check', file], { encoding: 'utf8' });
      assert.equal(command.status, 1);
      assert.match(command.stderr, reason);
      assert.equal(warningsOf(site.building().file).length, 0);
    }
  });

  test(`beacon ids (${what}) of an earlier version are a warning, and edits beside them are taken`, async (t) => {
    const { put, byHand, call, site, file } = await start(t, withIds);
    assert.match(site.building().warnings[0], reason);
    const health = createHealth({ site, probe: { influxdb: () => ({}), ingest: () => ({}) }, rebuild: { part: () => ({}) }, version: '1' });
    const { building } = health.report(T).parts;
    assert.deepEqual([building.status, building.warnings_count, building.warnings.length], ['up', 1, 1]);
    assert.match(building.warnings[0], reason);
    assert.equal(health.report(T, { stranger: true }).parts.building.warnings, undefined);

    const renamed = { ...withIds, building: 'Other' };
    const checked = await call('POST', 'building/validate', renamed);
    assert.deepEqual([checked.body.valid, checked.body.warnings_count], [true, 1]);
    assert.equal((await put(renamed)).status, 200);
    assert.deepEqual([await byHand({ ...withIds, building: 'By hand' }), site.building().name], [[], 'By hand']);
    assert.equal((await call('GET', 'building/versions')).body.warnings_count, 1);
    const worse = { ...withIds, beacons: [...withIds.beacons, { ...withIds.beacons[0], id: `${UUID}-007-7` }] };
    const refused = await put(worse);
    assert.deepEqual([refused.status, refused.body.faults.length], [422, 1]);
    assert.match(refused.body.faults[0].reason, /007/);
    const inUse = spawnSync(process.execPath, [TOOL, 'check', '--in-use', file], { encoding: 'utf8' });
    assert.equal(inUse.status, 0);
    assert.match(inUse.stderr, reason);
  });
}

test('the import normalises spellings, and refuses what can never match by its line', async (t) => {
  const { call } = await start(t);
  const list = ['mac,location,level', `${DASHED.toLowerCase()}-1-2,Room A,L1`, `${UUID}-1-2,Room A,L1`, `${UUID}-01-3,Room A,L1`, '------------,Room A,L1',
    `${UUID}-1-70000,Room A,L1`, `${UUID},Room A,L1`].join('\n');
  const { body } = await call('POST', 'building/import?dry_run=1', list, { 'content-type': 'text/csv' });
  assert.deepEqual(body.added, [`${UUID}-1-2`]);
  assert.deepEqual(body.refused.map(({ line, kind }) => [line, kind]), [[3, 'duplicate'], [4, 'mac_form'], [5, 'mac_form'], [6, 'mac_form'], [7, 'mac_form']]);
});

test('an id that stands in the building is found as it stands there', () => {
  const building = createBuilding(changed((data) => { data.beacons[0].id = `${UUID}-001-2`; }));
  assert.deepEqual(beaconIn(building, `${UUID.toLowerCase()}-001-2`), { beacon: `${UUID}-001-2`, reason: '' });
  assert.equal(beaconIn(building, `${DASHED}-7-7`).beacon, `${UUID}-7-7`);
  assert.match(beaconIn(building, '------------').reason, /no hex digit/);
});

for (const [what, name, reason] of [
  ['NUL', 'Lob\0by', /U\+0000 \(NUL\)/], ['a line end', 'Lobby\nNorth', /U\+000A \(a line end\)/], ['CR', 'Lob\rby', /U\+000D/], ['a tab', 'a\tb', /U\+0009/],
  ['a line separator', 'a\u2028b', /U\+2028/], ['a mark of direction', '\u202eybbol', /U\+202E \(a mark of the direction/], ['isolates', 'a\u2066b', /U\+2066/],
  ['a mark from right to left', 'a\u200fb', /U\+200F/], ['no width', 'a\u200bb', /U\+200B/], ['a soft hyphen', 'a\u00adb', /U\+00AD/], ['a filler', '\u3164', /U\+3164/],
  ['a blank of Braille', '\u2800', /U\+2800/], ['a tag', 'a\u{e0041}', /U\+E0041/], ['a joiner alone', ' \u200d ', /only spaces/], ['half a character', 'a\ud800', /half a character/], ['spaces', '  ', /only spaces/],
  ['a lost letter', 'B\ufffdro', /U\+FFFD \(a letter that was lost/],
]) {
  test(`a name with ${what} is refused where it is new, and a warning where it is in use`, async (t) => {
    const change = (data) => { data.levels[0].rooms[0].name = name; };
    assert.match(nameFault(name), reason);
    const { put, call, byHand } = await start(t);
    const data = changed(change);
    assert.match((await put(data)).body.faults[0].reason, reason);
    assert.match((await byHand(data))[0], reason);
    const list = `C2A628384B77,"${name.replace(/[\r\n]/g, '\u2029')}",L9\n`;
    if (name.trim() !== '') {
      const made = (await call('POST', 'building/from-list?dry_run=1&how=new', list, { 'content-type': 'text/csv' })).body;
      assert.deepEqual(made.levels, [], JSON.stringify(made.levels));
      assert.equal(made.refused.length, 1);
    }
    const other = await start(t, data);
    assert.equal(other.site.building().warnings.length, 1);
    assert.equal((await other.put({ ...data, building: 'Other' })).status, 200);
  });
}

test('names of people, levels and the building are looked at, too; names of all scripts are taken', () => {
  const everywhere = changed((data) => { data.building = 'a\0'; data.levels[0].name = 'b\u202d'; data.staff[0].name = 'c\n'; });
  assert.deepEqual(warningsOf(everywhere).map((fault) => fault.split(' ')[0]), ['/building', '/levels/0/name', '/staff/0/name']);
  for (const name of ['Café', 'קפה', 'مقهى', '咖啡', 'नमस्ते', 'کافه\u200cها', '👩‍⚕️ Praxis', 'O’Neill', 'A–B']) assert.equal(nameFault(name), null, name);
});

test('two rooms of a level with one name are refused where they are new, since HACS knows rooms by name', async (t) => {
  const twins = changed((data) => { data.levels[0].rooms[1].name = `  ${data.levels[0].rooms[0].name.toUpperCase()} `; });
  const { put } = await start(t);
  const answer = await put(twins);
  assert.equal(answer.status, 422);
  assert.match(answer.body.faults[0].reason, /is also the name of room "\w+" on level "L1": HACS knows rooms by name/);
  const other = await start(t, twins);
  assert.equal(other.site.building().warnings.length, 1);
  const moved = { ...twins, levels: twins.levels.map((level) => ({ ...level, rooms: [...level.rooms].reverse() })) };
  assert.equal((await other.put(moved)).status, 200, 'the same two, in another order');
  assert.deepEqual(newAwkward(changed((data) => { data.levels[1].rooms[0].name = data.levels[0].rooms[0].name; }), [smallBuilding()]), [],
    'on another level it is another room');
});

test('an earlier version can be had back with what it has; the next edit is still checked', async (t) => {
  const old = changed((data) => { data.levels[0].rooms[0].name = 'Lob\0by'; });
  const { put, call, site, file } = await start(t, old);
  assert.equal((await put(smallBuilding())).status, 200);
  assert.equal(site.building().warnings.length, 0);
  const { etag } = await call('GET', 'building');
  const { body: { versions } } = await call('GET', 'building/versions');
  const back = await call('POST', `building/versions/${versions.at(-1).version}/restore`, undefined, { 'if-match': etag });
  assert.deepEqual([back.status, back.body.in_use, site.building().warnings.length, site.buildingFaults], [200, true, 1, []]);
  assert.equal((await put(changed((data) => { data.levels[0].rooms[0].name = 'a\nb'; }))).status, 422);
  assert.equal(startBuilding(file, path.join(path.dirname(file), 'versions'), () => {}).warnings.length, 1, 'a restart goes on with it');
});

test('a file that was changed while nothing ran is refused at the start, and the last building goes on', async (t) => {
  const { file, folder, call } = await start(t);
  await call('GET', 'building/versions');
  fs.writeFileSync(file, JSON.stringify(changed((data) => { data.beacons[0].id = '------------'; })));
  const warned = [];
  assert.equal(startBuilding(file, path.join(folder, 'versions'), (text) => warned.push(text)).warnings.length, 0);
  assert.match(warned[0], /no hex digit/);
});

/** What a list makes; null: its header is refused. */
function madeOf(text) {
  try {
    return inOneGo(fromListWork(Buffer.from(text), emptyBuilding('House')));
  } catch (error) {
    assert.ok(error instanceof ImportError);
    return null;
  }
}

test('of any list each new room has a beacon: headings, totals and refused rows make none', () => {
  const cell = fc.oneof(fc.constantFrom('', 'Total', 'Sum', 'mac', 'MAC', 'location', 'Level 1', 'L1', '1', '1-lobby', 'lobby', 'Lobby', 'Main Lobby', '48', 'C2A628384B08',
    'c2:a6:28:38:4b:09', `${UUID}-1-2`, `${UUID}-01-2`, '------------', 'C2A628384B0', 'a\0b'), fc.string({ maxLength: 8 }));
  fc.assert(fc.property(fc.array(fc.tuple(cell, cell, cell), { maxLength: 12 }), fc.constantFrom(',', ';', ':', '\t'), fc.boolean(), (rows, separator, header) => {
    const text = [...(header ? [['mac', 'location', 'level']] : []), ...rows].map((row) => row.join(separator)).join('\n');
    const made = madeOf(text);
    if (made === null) return;
    for (const { name, rooms } of made.levels) {
      assert.ok(rooms.length > 0, `level ${name} of ${JSON.stringify(text)}`);
      for (const room of rooms) assert.ok(room.beacons > 0, `room ${room.name} of ${JSON.stringify(text)}`);
    }
    assert.deepEqual(warningsOf(made.file), []);
  }), { numRuns: 1000 });
});

test('what a list would make is shown as it is made, all of it', async (t) => {
  const { call } = await start(t);
  const rows = Array.from({ length: 90 }, (_, i) => `C2A6283${String(i).padStart(5, '0')},Room ${i},L7`);
  const list = ['Beacons of the tower', 'mac,location,level', ...rows, 'Total,90,beacons', 'C2A628384B0,Pantry,L8', 'mac,location,level'].join('\n');
  const { etag } = await call('GET', 'building');
  const dry = await call('POST', 'building/from-list?dry_run=1&how=new', list, { 'content-type': 'text/csv' });
  const done = await call('POST', 'building/from-list?how=new', list, { 'content-type': 'text/csv', 'if-match': etag });
  assert.equal(done.status, 200);
  assert.deepEqual(done.body.levels, dry.body.levels);
  assert.deepEqual(dry.body.levels.map(({ name, rooms }) => [name, rooms.length]), [['L7', 90]]);
  assert.deepEqual(dry.body.refused.map(({ line }) => line), [1, 2, 93, 94, 95]);
  const folder = fs.mkdtempSync(path.join(root, 'list-'));
  const [file, building] = ['list.csv', 'building.json'].map((name) => path.join(folder, name));
  fs.writeFileSync(file, list);
  fs.writeFileSync(building, JSON.stringify(smallBuilding()));
  const shown = spawnSync(process.execPath, [TOOL, 'from-list', file, building, '--new', '--yes'], { encoding: 'utf8' }).stdout;
  for (const { rooms } of loadBuilding(building).levels) for (const { name } of rooms) assert.match(shown, new RegExp(`\\b${name}\\b`));
});
