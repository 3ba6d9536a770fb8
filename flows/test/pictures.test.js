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
const frame = (height, width, marker = 0xc0) => [0xff, marker, 0, 17, 8, height >> 8, height & 255, width >> 8, width & 255, 3, 0, 0];
const SVG = '<svg xmlns="http://www.w3.org/2000/svg">';
const ILLUSTRATOR = '<?xml version="1.0" encoding="utf-8"?>\n<!-- Generator: Adobe Illustrator 28.0.0 -->\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" '
  + '"http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd" [\n\t<!ENTITY ns_extend "http://ns.adobe.com/Extensibility/1.0/">\n]>\n'
  + '<svg xmlns:x="&ns_extend;" xmlns="http://www.w3.org/2000/svg"></svg>';
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

for (const [what, bytes, type] of [
  ['a JPEG with fill bytes between its segments', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xff, 0xff, ...frame(3, 4)]), 'jpg'],
  ['a JPEG with fill bytes at its start', Buffer.from([0xff, 0xd8, 0xff, 0xff, 0xff, 0xe0, 0, 4, 0, 0, ...frame(3, 4)]), 'jpg'],
  ['a progressive JPEG', Buffer.from([0xff, 0xd8, 0xff, 0xe1, 0, 4, 0, 0, ...frame(3, 4, 0xc2)]), 'jpg'],
  ['a JPEG with a marker without length', Buffer.from([0xff, 0xd8, 0xff, 0x01, ...frame(3, 4)]), 'jpg'],
  ['an SVG behind 10,000 comments', Buffer.from('<!-- -->'.repeat(10_000) + SVG + '</svg>'), 'svg'],
  ['an SVG with a document type', Buffer.from('<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">' + SVG + '</svg>'), 'svg'],
  ['an SVG with a byte order mark', Buffer.from('\ufeff' + SVG + '</svg>'), 'svg'],
  ['an SVG in UTF-16', Buffer.from('\ufeff<?xml version="1.0" encoding="UTF-16"?>' + SVG + '<text>Büro</text></svg>', 'utf16le'), 'svg'],
  ['an SVG that says it is Latin-1', Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?>' + SVG + '<text>Büro</text></svg>', 'latin1'), 'svg'],
  ['an SVG with a picture of a megabyte in it', Buffer.from(SVG + '<image href="data:image/png;base64,' + 'A'.repeat(1e6) + '"/></svg>'), 'svg'],
  ['an SVG with a prefix', Buffer.from('<s:svg xmlns:s="http://www.w3.org/2000/svg"></s:svg>'), 'svg'],
]) {
  test(`taken: ${what}`, async (t) => {
    const { put } = start(t);
    assert.match(await put(bytes), new RegExp(`^plan-[0-9a-f]{16}\\.${type}$`));
  });
}

for (const [what, bytes, why] of [
  ['an SVG of Illustrator', Buffer.from(ILLUSTRATOR), /defines entities, as Illustrator does.*"Preserve Illustrator Editing Capabilities"/],
  ['26 comments and no SVG', Buffer.from('<!-- -->'.repeat(26)), /no PNG, JPEG or SVG/], ['an SVG that is cut off', Buffer.from(SVG + '<g>'), /damaged \(Unclosed root tag\)/],
  ['a script with a prefix', Buffer.from('<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:script/></s:svg>'), /script/],
  ['a script in UTF-16', Buffer.from('\ufeff' + SVG + '<script/></svg>', 'utf16le'), /script/], ['a style sheet', Buffer.from('<?xml-stylesheet href="x"?>' + SVG + '</svg>'), /style sheet/],
  ['an SVG in Latin-1 that does not say so', Buffer.from(SVG + '<text>Büro</text></svg>', 'latin1'), /the SVG is Latin-1 or Windows-1252, not UTF-8/],
  ['a GIF', Buffer.from('GIF89a'), /but a GIF: save it as PNG or JPEG/], ['a WebP picture', Buffer.from('RIFF\0\0\0\0WEBPVP8 '), /but a WebP picture/],
  ['a picture of an iPhone', Buffer.from('\0\0\0\x18ftypheic'), /HEIC/], ['a packed SVG', Buffer.from('1f8b0800', 'hex'), /SVGZ\?\): unpack it/],
  ['nothing', Buffer.alloc(0), /empty/], ['a page', Buffer.from('<html><svg></svg></html>'), /no PNG, JPEG or SVG/],
  ['a PDF', Buffer.from('%PDF-1.7'), /page of a PDF/], ['an SVG with a script', svg('<script>1</script>'), /script/],
  ['an SVG with entities', Buffer.from('<!DOCTYPE svg><svg><!ENTITY a "b"></svg>'), /entities/],
  ['an SVG without its namespace', Buffer.from('<svg width="1"></svg>'), /does not say xmlns=/], ['an SVG with two roots', svg('</svg><svg>'), /two roots/],
  ['an SVG with a forgotten prefix', svg('<use xlink:href="#a"/>'), /without xmlns:xlink/],
  ['an SVG with an entity of HTML', svg('<text>&nbsp;</text>'), /damaged \(Invalid character entity\)/],
  ['an SVG that begins with a blank line', Buffer.concat([Buffer.from('\n<?xml version="1.0"?>'), svg('')]), /blanks before/],
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
