'use strict';

const assert = require('node:assert/strict');
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const fc = require('./support/fast-check');
const { createBuilding, loadBuilding } = require('../lib/building');
const { covers } = require('../lib/building/geometry');
const { importBeacons } = require('../lib/building/import/beacons');
const { layout } = require('../lib/building/import/layout');
const { middle } = require('../lib/building/import/place');
const { ImportError } = require('../lib/building/import/rows');
const { smallBuilding, BEACONS, TAG } = require('./support/building');

const DEMO = path.join(__dirname, '..', 'building', 'demo.json');
const TOOL = path.join(__dirname, '..', 'bin', 'building.js');
const take = (text, building = smallBuilding()) => importBeacons(typeof text === 'string' ? Buffer.from(text) : text, building);
const places = ({ file, added }) => file.beacons.filter(({ id }) => added.includes(id)).map(({ id, level, room }) => [id, level, room]);
const faults = (imported) => imported.faults.map(({ line, kind }) => [line, kind]);
const A = 'A00000000001';
const B = 'A00000000002';

for (const [what, text] of [
  ['a table', `mac,location,level\n${A},Room A,L1\n${B},Room C,L2\n`],
  ['lines', `${A}:Room A:L1\n${B}:Room C:L2\n`],
  ['a table with mark, CRLF, quotes, spaces', `\ufeffMAC,Location,Level\r\n"${A}" , "Room A",L1\r\n\r\n${B},"Room C","Level 2"\r\n`],
  ['a table by semicolons in another order', `level;mac address;room\nL1;a0:00:00:00:00:01;a\nlevel  2;A0-00-00-00-00-02;ROOM C`],
  ['a table without a header', `${A}\tRoom A\tL1\n${B}\tRoom C\tL2`],
  ['lines with colons in the MAC', `A0:00:00:00:00:01:Room A:L1\ra0:00:00:00:00:02: Room C :L2`],
  ['lines and rows mixed', `${A}:Room A:L1\n${B},Room C,L2`],
  ['UTF-16', Buffer.from(`\ufeffmac,location,level\n${A},Room A,L1\n${B},Room C,L2`, 'utf16le')],
]) {
  test(`a list is parsed: ${what}`, () => {
    const imported = take(text);
    assert.deepEqual(imported.faults, []);
    assert.deepEqual(places(imported), [[A, 'L1', 'a'], [B, 'L2', 'c']]);
    assert.deepEqual(imported.file.beacons.at(-1), { id: B, level: 'L2', room: 'c', x_m: 5, y_m: 5, approximate: true });
  });
}

for (const [row, kind, reason] of [
  ['A0000000001,Room A,L1', 'mac_length', 'the MAC has 11 digits, not 12'],
  ['A000000000011,Room A,L1', 'mac_length', 'the MAC has 13 digits, not 12'],
  ['A0000000000G,Room A,L1', 'mac_digit', '"G" in the MAC is no hex digit'],
  ['00:00:00:00:00:00,Room A,L1', 'mac_form', 'the MAC is an address that no device has: it stands for none'],
  ['1.23457E+11,Room A,L1', 'mac_digit', 'a spreadsheet has made a number of the MAC: format its column as text, and write it again'],
  ['A0:00:00:00:00:0O,Room A,L1', 'mac_digit', '"O" in the MAC is no hex digit'],
  ['A0-00000000-01,Room A,L1', 'mac_separators', 'the separators in the MAC stand at odd places'],
  [',Room A,L1', 'mac_missing', 'the MAC is missing'],
  [`${B},Room A,`, 'level_missing', 'the level is missing'],
  [`${B},Room A`, 'level_missing', 'the level is missing'],
  [`${B},,L1`, 'location_missing', 'the location is missing'],
  [`${B}`, 'level_missing', 'the level and the location are missing'],
  [`${B},Room A,L9`, 'level_unknown', 'there is no level "L9"; there is L1, L2'],
  [`${B},Attic,L1`, 'location_unknown', 'there is no room "Attic" on level L1; there is Room A, Room B'],
  [`${B},Room C,L1`, 'location_unknown', 'there is no room "Room C" on level L1; it is on L2'],
  [`${B},Room A,L1,x`, 'columns', '4 columns where 3 are needed: mac, location, level'],
  [`${B},"Room A,L1`, 'quotes', 'quotes do not match'],
  [`${BEACONS.b},Room A,L1`, 'registered', `${BEACONS.b} is registered in "Room B" on level L1 already`],
  [`${TAG},Room A,L1`, 'registered', `${TAG} is the tag of staff member 0`],
  [`${A},Room B,L1`, 'duplicate', `${A} is already on line 2, which counts`],
  ['A0000000000G,Attic,L1', 'mac_digit', '"G" in the MAC is no hex digit; there is no room "Attic" on level L1'],
]) {
  test(`a bad row is reported, its neighbours are imported: ${row}`, () => {
    const imported = take(`mac,location,level\n${A},Room A,L1\n${row}\nA00000000003,Room B,L1`);
    assert.deepEqual(faults(imported), [[3, kind]]);
    assert.equal(imported.faults[0].text, row);
    assert.ok(imported.faults[0].reason.startsWith(reason), imported.faults[0].reason);
    assert.equal(imported.added.length, 2);
  });
}

test('lines with too few or too many parts are reported', () => {
  const imported = take(`${A}:Room A\n${A}:Room A:L1:x\nA0:00:00:00:00:0Z:Room A:L1\n${A}\n${A}:Room A:L1`);
  assert.deepEqual(faults(imported), [[1, 'level_missing'], [2, 'columns'], [3, 'mac_digit'], [4, 'level_missing']]);
  assert.deepEqual(imported.added, [A]);
});

test('an ambiguous room name is refused', () => {
  const data = smallBuilding();
  data.levels[0].rooms[1].name = 'ROOM A';
  assert.deepEqual(take(`${A}:Room A:L1`, data).faults.map(({ reason }) => reason), ['"Room A" may be a, b']);
  assert.deepEqual(places(take(`${A}:b:L1`, data)), [[A, 'L1', 'b']]);
});

test('importing a list again changes nothing and is no fault; the given building is not changed', () => {
  const data = smallBuilding();
  const first = take(`${A}:Room A:L1\n${BEACONS.b}:Room B:L1`, data);
  assert.deepEqual([first.added, first.unchanged], [[A], [BEACONS.b]]);
  assert.deepEqual(data, smallBuilding());
  const again = take(`${A}:Room A:L1\n${BEACONS.b}:Room B:L1`, first.file);
  assert.deepEqual([again.added, again.unchanged, again.faults, again.file], [[], [A, BEACONS.b], [], first.file]);
});

test('a file that is no list of beacons is refused as a whole', () => {
  assert.throws(() => take('mac,location\nx,y'), (error) => error instanceof ImportError && /lacks the column level/.test(error.message));
  assert.throws(() => take('mac,location,level,remark\n'), /other columns/);
  assert.throws(() => take(Buffer.from([0x6d, 0xe9, 0x0a])), /not UTF-8/);
  assert.throws(() => take(`${A}:Room A:L1`, {}), /is refused/);
  assert.deepEqual(take('').added, []);
});

test('longer beacon ids are imported, incomplete ones are not', () => {
  const long = ['0123456789ABCDEF0123456789ABCDEF-1-65535', '0123456789ABCDEF0123-0123456789AB', '0123456789ABCDEF0123456789ABCDEF01234567'];
  const imported = take([...long, '0123456789ABCDEF0123-01'].map((id) => `${id}:a:L1`).join('\n'));
  assert.deepEqual([imported.added, faults(imported)], [long, [[4, 'mac_length']]]);
});

test('property: every line of any bytes is imported or reported, and the building stays valid', () => {
  const cell = fc.oneof(fc.constantFrom(A, B, 'Room A', 'a', 'L1', 'L2', '', '"', ',', ':', 'Ä'), fc.string());
  const line = fc.oneof(fc.tuple(cell, cell, cell).map((cells) => cells.join(',')), fc.tuple(cell, cell, cell).map((cells) => cells.join(':')), fc.string());
  fc.assert(fc.property(fc.array(line), (lines) => {
    const text = lines.join('\n');
    let imported;
    try {
      imported = take(text);
    } catch (error) {
      assert.ok(error instanceof ImportError);
      return;
    }
    const full = text.replace(/^\ufeff/, '').split(/\r\n|\n|\r/).filter((one) => one.trim() !== '');
    const handled = imported.added.length + imported.unchanged.length + imported.faults.length;
    assert.ok(handled === full.length || (handled === full.length - 1 && /mac|beacon/i.test(full[0])), text);
    createBuilding(imported.file);
  }), { numRuns: 500 });
});

test('the middle of a room is well inside it, also of a bent one', () => {
  const ell = [[0, 0], [10, 0], [10, 2], [2, 2], [2, 10], [0, 10]];
  const [x, y] = middle(ell);
  assert.ok(covers(ell, [x, y], 0) && Math.min(x, y) >= 0.9);
  for (const room of loadBuilding(DEMO).rooms.values()) assert.ok(covers(room.polygon, middle(room.polygon), 0), room.id);
});

test('the layout is JSON of the same content', () => {
  const demo = JSON.parse(fs.readFileSync(DEMO, 'utf8'));
  assert.deepEqual(JSON.parse(layout(demo)), demo);
  assert.ok(layout(demo).split('\n').includes(`    ${JSON.stringify(demo.beacons[0]).replaceAll(',', ', ').replaceAll(':', ': ')},`));
  fc.assert(fc.property(fc.jsonValue(), (value) => assert.deepEqual(JSON.parse(layout(value)), JSON.parse(JSON.stringify(value)))));
});

/** 130 beacons for the demo building; at six places a row of another kind of fault. */
function installersList(separator) {
  const { levels } = JSON.parse(fs.readFileSync(DEMO, 'utf8'));
  const rooms = levels.flatMap((level) => level.rooms.map(({ name }) => [name, level.id]));
  const rows = Array.from({ length: 130 }, (_, i) => [`E${String(i).padStart(11, '0')}`, ...rooms[i % rooms.length]]);
  const bad = new Map([
    [7, ([, room, level]) => ['E0000000007', room, level]],
    [21, ([mac, room, level]) => [`${mac.slice(0, -1)}G`, room, level]],
    [55, ([, room, level]) => [rows[3][0], room, level]],
    [80, ([mac, room]) => [mac, room, '']],
    [99, ([mac,, level]) => [mac, 'Broom Cupboard', level]],
    [129, ([mac, room]) => [mac, room, 'L99']],
  ]);
  return { rows: rows.map((row, i) => (bad.get(i)?.(row) ?? row).join(separator)), bad: [...bad.keys()] };
}

for (const [separator, header] of [[',', ['mac,location,level']], [':', []]]) {
  test(`the command imports 130 beacons separated by "${separator}" and reports exactly the six bad rows`, (t) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'import-'));
    t.after(() => fs.rmSync(folder, { recursive: true }));
    const [list, building, output] = ['list.csv', 'building.json', 'new.json'].map((name) => path.join(folder, name));
    fs.copyFileSync(DEMO, building);
    const { rows, bad } = installersList(separator);
    fs.writeFileSync(list, [...header, ...rows].join('\n'));
    const run = (...args) => spawnSync(process.execPath, [TOOL, ...args], { encoding: 'utf8' });
    const before = fs.readFileSync(building, 'utf8');

    const dry = run('import', list, building, '--dry-run');
    assert.equal(dry.status, 1);
    assert.match(dry.stdout, /^124 added, 0 registered already, 6 refused; nothing written/);
    assert.equal(fs.readFileSync(building, 'utf8'), before);

    const imported = run('import', list, building, '--output', output);
    assert.equal(imported.status, 1);
    const reported = [...imported.stderr.matchAll(/list\.csv:(\d+): (.*)\n {4}(.*)\n/g)]
      .map(([, line, reason, text]) => [Number(line), reason, text]);
    assert.deepEqual(reported.map(([line,, text]) => [line, text]), bad.map((i) => [i + 1 + header.length, rows[i]]));
    [/11 digits/, /"G" in the MAC/, /already on line/, /level is missing/, /no room "Broom Cupboard"/, /no level "L99"/]
      .forEach((reason, i) => assert.match(reported[i][1], reason));
    assert.equal(fs.readFileSync(building, 'utf8'), before);
    assert.equal(loadBuilding(output).beacons.size, 120 + 124);
    assert.equal(run('check', output).status, 0);

    assert.match(run('import', list, building).stdout, /^124 added.*wrote/);
    assert.equal(fs.readFileSync(building, 'utf8'), fs.readFileSync(output, 'utf8'));
    assert.match(run('import', list, building).stdout, /^0 added, 124 registered already, 6 refused; nothing to write/);
    fs.writeFileSync(list, [...header, ...rows.filter((_, i) => !bad.includes(i))].join('\n'));
    assert.equal(run('import', list, building).status, 0);
    assert.deepEqual(fs.readdirSync(folder).sort(), ['building.json', 'list.csv', 'new.json']);
  });
}

test('the command reports errors of its arguments and files', (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'import-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const bad = path.join(folder, 'bad.json');
  fs.writeFileSync(bad, '{}');
  const run = (...args) => {
    const { status, stderr, stdout } = spawnSync(process.execPath, [TOOL, ...args], { encoding: 'utf8' });
    assert.doesNotMatch(stderr, /^ {4}at /m, 'no stack');
    return [status, stderr + stdout];
  };
  for (const [args, status, message] of [
    [['--help'], 0, /mac,location,level/], [[], 2, /--help/], [['import', 'x.csv'], 2, /--help/], [['check', bad], 1, /levels/],
    [['import', 'x.csv', bad], 2, /is refused/], [['import', '/nowhere.csv', DEMO], 2, /ENOENT.*nowhere/], [['--frobnicate'], 2, /frobnicate/],
  ]) {
    const [code, text] = run(...args);
    assert.equal(code, status, args.join(' '));
    assert.match(text, message);
  }
});
