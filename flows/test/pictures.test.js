'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const { createPictures, PictureError } = require('../lib/building/editing/pictures');

const png = (width = 2, height = 2, tail = '') => {
  const bytes = Buffer.alloc(33 + tail.length);
  bytes.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  bytes.write(tail, 33);
  return bytes;
};
const jpeg = (height, width) => Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc0, 0, 17, 8,
  height >> 8, height & 255, width >> 8, width & 255, 3, 0, 0]);
const svg = (inside = '') => Buffer.from(`<?xml version="1.0"?>\n<!-- a plan --><svg xmlns="http://www.w3.org/2000/svg">${inside}</svg>`);

function start(t, referenced = [], bounds = {}) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'pictures-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const now = { ms: Date.now() };
  return { folder, now, ...createPictures({ folder, referenced: async () => new Set(referenced), clock: () => now.ms, bounds }) };
}

test('a picture is identified by its content, whatever its name; equal ones are one file', async (t) => {
  const { put, folder } = start(t);
  const names = [await put(png()), await put(jpeg(3, 4)), await put(svg()), await put(png())];
  assert.deepEqual(names.map((name) => /^plan-[0-9a-f]{16}\.(\w+)$/.exec(name)?.[1]), ['png', 'jpg', 'svg', 'png']);
  assert.deepEqual(fs.readdirSync(folder).sort(), [...new Set(names)].sort());
  assert.deepEqual(fs.readFileSync(path.join(folder, names[1])), jpeg(3, 4));
});

for (const [what, bytes, why] of [
  ['nothing', Buffer.alloc(0), /empty/], ['a page', Buffer.from('<html><svg></svg></html>'), /no PNG, JPEG or SVG/],
  ['a PDF', Buffer.from('%PDF-1.7'), /page of a PDF/], ['an SVG with a script', svg('<script>1</script>'), /script/],
  ['an SVG with entities', Buffer.from('<!DOCTYPE svg><svg><!ENTITY a "b"></svg>'), /entities/],
  ['a PNG that would fill the memory of a browser', png(50_000, 50_000), /50000 × 50000/], ['half a JPEG', jpeg(3, 4).subarray(0, 8), /0 × 0/],
  ['too many bytes', Buffer.concat([png(), Buffer.alloc(8 * 1024 * 1024)]), /at most 8 are taken/],
]) {
  test(`refused with its reason: ${what}`, async (t) => {
    const { put, folder } = start(t);
    await assert.rejects(put(bytes), (error) => error instanceof PictureError && why.test(error.message));
    assert.deepEqual(fs.readdirSync(folder), []);
  });
}

test('unreferenced pictures are removed when there are too many; recent ones stay for drafts', async (t) => {
  const referenced = [];
  const { put, folder, now } = start(t, referenced, { all: 3 });
  const [a, b, c] = [await put(png(1, 1)), await put(png(2, 2)), await put(png(3, 3))];
  referenced.push(a);
  await assert.rejects(start.call(null, t, referenced, { all: 0 }).put(png()), /plan pictures/);
  await assert.rejects(put(png(4, 4)), /all of them/);
  now.ms += 25 * 3_600_000;
  const d = await put(png(4, 4));
  assert.deepEqual(fs.readdirSync(folder).sort(), [a, c, d].sort(), `${b} is the oldest unreferenced one`);
});
