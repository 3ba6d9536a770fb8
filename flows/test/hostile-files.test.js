'use strict';

const assert = require('node:assert/strict');
const { once } = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, before, test } = require('node:test');
const express = require('express');
const { loadBuilding } = require('../lib/building');
const { createEditor } = require('../lib/building/editor');
const { createPictures } = require('../lib/building/pictures');
const { createInspection } = require('../lib/building/inspection');
const { createRouter } = require('../lib/http');
const { createSessions } = require('../lib/access');
const { Site } = require('../lib/site');
const { smallBuilding } = require('./support/building');
const { guards } = require('./support/guards');
const { longestTaskMs } = require('./support/long-task');

const KEY = 'key-of-the-test';
/** Without a break nobody is kept waiting for longer: of the processor, since a busy machine would add its own time. */
const TASK_MAX_MS = 50;
/** A full garbage collection falls into some of them, a long task of ours into each. */
const ATTEMPTS_MAX = 4;
const SVG = '<svg xmlns="http://www.w3.org/2000/svg">';
const MAC = 'C2A628384B77';
const MIB = 1024 * 1024;

/** Texts that make a pattern, a parser or a check of quadratic cost slow: a start, something repeated, an end. */
const REPEATED = [
  ['', ' ', ''], ['', '\t', ''], ['', '\n', ''], ['', '\r', ''], ['', ',', ''], ['', ';', ''], ['', ':', ''], ['', '"', ''], ['', '""', '"'],
  ['', '-', ''], ['', '0', ''], ['', 'a', ''], ['', 'A:', ''], ['', '\0', ''], ['', '\u2028', ''], ['', '\ufeff', ''], ['"', ' ', ''], ['"', 'a', '"'],
  [MAC, ' ', ''], [`${MAC}:`, ' ', ':x'], [`${MAC},`, '"', ''], [`"${MAC}"`, ' ', '!'], ['C2:A6:28:38:4B:', '77:', ''], ['mac', ',', ''],
  ['mac,location,level\n', ',', ''], ['mac,location,level\n', '"\n', ''], ['', `${MAC}\n`, ''], ['', `${MAC},,\n`, ''],
  ['<!--', ' ', ''], ['', '<!-- -->', ''], ['', '<!---->', '<'], ['<?xml', ' ', ''], ['<?xml', '?', ''], ['<!DOCTYPE', ' ', ''], ['<!DOCTYPE svg [', '<!ENTITY a "b">', ']>'],
  ['', '<', ''], ['', '<svg', ''], ['', '<a>', ''], [SVG, '<g>', ''], [SVG, '</g>', ''], [SVG, '&', ''], [SVG, '&amp;', '</svg>'], [SVG, '<![CDATA[', ''],
  [`${SVG.slice(0, -1)} `, 'a="b" ', '/>'], [SVG, '<a b="', '"/>'], ['', '[', ''], ['', '{"a":', ''], ['"', '\\', ''], ['', '[],', ''], ['{', '"a":1,', '"b":2}'],
];
const repeat = (bytes, [start, middle, end]) => start + middle.repeat(Math.ceil(bytes / Buffer.byteLength(middle))) + end;

/** Buildings that are too much of something. */
function buildings() {
  const one = smallBuilding();
  const [level] = one.levels;
  const many = (count, make) => Array.from({ length: count }, (_, i) => make(i));
  const with_ = (change) => JSON.stringify({ ...one, ...change });
  const strip = (i) => [[i * 1e-4, 0], [i * 1e-4 + 5e-5, 0], [i * 1e-4 + 5e-5, 6], [i * 1e-4, 6]];
  const star = (i) => many(199, (j) => [4 + (1 + (j % 2)) * Math.cos(j / 31.7 + i), 3 + (1 + (j % 2)) * Math.sin(j / 31.7 + i)]);
  return {
    'beacons that are numbers': with_({ beacons: many(1e6, () => 0) }),
    'beacons that are one': with_({ beacons: many(60_000, () => one.beacons[0]) }),
    'tags that are equal': with_({ staff: [{ id: 's', name: 'S', tags: many(500_000, () => MAC) }] }),
    'tags that differ': with_({ staff: [{ id: 's', name: 'S', tags: many(300_000, (i) => `${MAC}${i}`) }] }),
    'tags that are lists': with_({ staff: [{ id: 's', name: 'S', tags: many(900, (i) => [[i], [[i]]]) }] }),
    'levels without end': with_({ levels: many(100_000, () => ({})) }),
    'rooms without end': with_({ levels: [{ ...level, rooms: many(40_000, (i) => ({ ...level.rooms[0], id: `r${i}` })) }] }),
    'rooms that are strips': with_({ levels: [{ ...level, rooms: many(4000, (i) => ({ id: `r${i}`, name: `R ${i}`, polygon: strip(i) })) }] }),
    'rooms that are stars': with_({ levels: [{ ...level, rooms: many(60, (i) => ({ id: `r${i}`, name: `R ${i}`, polygon: star(i) })) }] }),
    'edges that are equal': with_({ levels: [{ ...level, rooms: [{ ...level.rooms[0], open_edges: many(500_000, () => 1) }] }] }),
    'a corner that is no number': with_({ levels: [{ ...level, rooms: [{ ...level.rooms[0], polygon: many(200_000, () => ['a', 'b']) }] }] }),
    'a name without end': with_({ building: 'a'.repeat(7 * MIB) }),
    'keys without end': JSON.stringify({ ...one, ...Object.fromEntries(many(200_000, (i) => [`k${i}`, i])) }),
    'nested 5,000 deep': JSON.stringify({ ...one, extra: 0 }).replace('"extra":0', `"extra":${'['.repeat(5000)}${']'.repeat(5000)}`),
    'nested 5,000 objects': `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`,
    'nested a million deep': '['.repeat(MIB),
    '__proto__': with_({}).replace('{', '{"__proto__":{"a":1},'),
  };
}

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452000000020000000208060000000000', 'hex');
const PICTURES = {
  'segments without length': Buffer.concat([Buffer.from('ffd8', 'hex'), Buffer.from('ffe00000'.repeat(MIB), 'hex')]),
  'segments of two bytes': Buffer.concat([Buffer.from('ffd8', 'hex'), Buffer.from('ffe00002'.repeat(MIB), 'hex')]),
  'fill bytes only': Buffer.concat([Buffer.from('ffd8', 'hex'), Buffer.alloc(7 * MIB, 0xff)]),
  'a PNG that is large': Buffer.concat([PNG, Buffer.alloc(7 * MIB)]),
  'a PNG of 2^32 pixels': Buffer.concat([PNG.subarray(0, 16), Buffer.alloc(8, 0xff), PNG.subarray(24)]),
  'a picture in an SVG': Buffer.from(`${SVG}<image href="data:image/png;base64,${'A'.repeat(7 * MIB)}"/></svg>`),
  'tags of an SVG': Buffer.from(`${SVG}${'<a b="c"/>'.repeat(700_000)}</svg>`),
  'a GIF': Buffer.from('GIF89a\x01\x00\x01\x00'), 'a WebP': Buffer.from('RIFF\0\0\0\0WEBPVP8 '), 'a HEIC': Buffer.from('\0\0\0\x18ftypheic'),
};

/** Every hostile file with where it goes. @returns {[where: string, what: string, body: string|Buffer][]} */
function everything() {
  const files = [];
  for (const [i, one] of REPEATED.entries()) {
    const what = JSON.stringify(one);
    const size = i % 8 === 0 ? 7 * MIB : 200_000; // a pattern of quadratic cost takes minutes for either
    files.push(['building/pictures', what, repeat(size, one)], ['building/import?dry_run=1', what, repeat(200_000, one)],
      ['building/from-list?dry_run=1&how=new', what, repeat(200_000, one)], ['building/validate', what, repeat(size, one)]);
  }
  for (const [what, body] of Object.entries(buildings())) files.push(['building/validate', what, body], ['building', what, body]);
  for (const [what, body] of Object.entries(PICTURES)) files.push(['building/pictures', what, body]);
  return files;
}

let rig;
before(async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hostile-'));
  const file = path.join(folder, 'building.json');
  fs.writeFileSync(file, JSON.stringify(smallBuilding()));
  const logger = { log: () => {}, warn: () => {} };
  const site = new Site(loadBuilding(file), Date.now());
  const editor = createEditor({ file, folder: path.join(folder, 'versions'), first: site.building(), clock: Date.now, logger });
  const pictures = createPictures({ folder, referenced: editor.pictures, clock: Date.now });
  const logged = [];
  const router = createRouter({ site, editor, pictures, reload: async () => {}, clock: Date.now, trusted: () => true, apiKey: KEY,
    ...guards(), dashboardPath: '/dashboard/floor', buildingFile: file, sessions: createSessions({ adminUser: 'admin', adminPassword: 'word' }),
    health: () => ({ status: 'up' }), log: (text) => logged.push(text) });
  const server = express().use(router).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}/api/v1/`;
  const etag = (await fetch(`${url}building`, { headers: { 'x-api-key': KEY } })).headers.get('etag');
  const send = async (where, body) => {
    const method = where === 'building' ? 'PUT' : 'POST';
    const response = await fetch(url + where, { method, body, headers: { 'x-api-key': KEY, 'if-match': etag, 'content-type': 'application/octet-stream' } });
    return { status: response.status, text: await response.text() };
  };
  rig = { send, logged, site, close: () => { server.closeAllConnections(); server.close(); fs.rmSync(folder, { recursive: true }); } };
});
after(() => rig.close());

test('of over 200 hostile files each is answered with a reason, and none keeps the event loop', { timeout: 400_000 }, async (t) => {
  const files = everything();
  assert.ok(files.length >= 200, `${files.length} files`);
  const slow = [];
  let [worst, worstWhat] = [0, ''];
  for (const [where, what, body] of files) {
    let answer;
    let longest = Infinity;
    for (let attempt = 0; attempt < ATTEMPTS_MAX && longest >= TASK_MAX_MS; attempt += 1) {
      longest = await longestTaskMs(async () => { answer = await rig.send(where, body); });
    }
    if (longest > worst) [worst, worstWhat] = [longest, `${where} ${what}`];
    if (longest >= TASK_MAX_MS) slow.push(`${where} ${what.slice(0, 60)}: ${longest.toFixed(0)} ms`);
    assert.ok([200, 400, 413, 422].includes(answer.status), `${where} ${what.slice(0, 60)}: ${answer.status} ${answer.text.slice(0, 200)}`);
    if (answer.status !== 200) assert.ok(JSON.parse(answer.text).error.length > 10, `${where} ${what.slice(0, 60)}`);
  }
  t.diagnostic(`${files.length} files, the longest task ${worst.toFixed(1)} ms: ${worstWhat.slice(0, 80)}`);
  assert.deepEqual(slow, []);
  assert.deepEqual(rig.logged, [], 'the fault of a file is not ours');
  assert.equal(rig.site.building().name, 'Small House');
});

test('a file that takes too long is given up with its thread, and the next one is inspected', async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'thread-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'worker.js');
  fs.writeFileSync(file, `const { parentPort } = require('node:worker_threads');
    parentPort.on('message', ({ what }) => {
      if (what === 'hang') for (;;) ;
      if (what === 'memory') { const all = []; for (;;) all.push(new Array(1000).fill(what)); }
      if (what === 'end') process.exit(3);
      parentPort.postMessage({ result: what });
    });`);
  const { inspect } = createInspection({ withinMs: 3000, file });
  await assert.rejects(inspect('hang', {}), /takes longer than 3 s/);
  assert.deepEqual(await inspect('a', {}), { result: 'a', refusal: undefined });
  await assert.rejects(inspect('end', {}), /ended without an answer/);
  const both = [inspect('b', {}), inspect('c', {})];
  assert.deepEqual((await Promise.all(both)).map(({ result }) => result), ['b', 'c']);
});
