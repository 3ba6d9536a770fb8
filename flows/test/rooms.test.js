'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const { ROOMS, faultsOf, importsOf, loopsOf } = require('../bin/rooms');

/** Files of a library with two rooms, by name. */
function imports(t, files) {
  const lib = fs.mkdtempSync(path.join(os.tmpdir(), 'rooms-'));
  t.after(() => fs.rmSync(lib, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(lib, name)), { recursive: true });
    fs.writeFileSync(path.join(lib, name), text);
  }
  return { lib, all: importsOf(Object.keys(files).map((name) => path.join(lib, name))) };
}

test('an arrow up, to a room that is not listed, or out of the rooms is a fault; a type in a comment is no arrow', (t) => {
  const { lib, all } = imports(t, {
    'ground/index.js': "/** @typedef {import('../roof').Roof} Roof */\nrequire('../roof'); require('./own'); require('../main');",
    'ground/own.js': '', 'roof/index.js': "const { a } = require('../ground/own'); require('../cellar');", 'cellar/index.js': '',
    'main.js': "require('./roof')",
  });
  assert.deepEqual(faultsOf(lib, all, ['ground', 'roof']), [
    'lib/ground/index.js imports from roof: ground may import no other room',
    'lib/ground/index.js imports a file beside the rooms: ground may import no other room',
    'lib/roof/index.js imports from cellar: roof may import ground',
  ]);
});

test('rooms that import each other, also through others, are a loop', (t) => {
  const { lib, all } = imports(t, { 'a/index.js': "require('../b')", 'b/index.js': "require('../c')", 'c/index.js': "require('../a')",
    'd/index.js': "require('../a')" });
  assert.deepEqual(loopsOf(lib, all), ['a ↔ b ↔ c']);
});

test('the picture in CONTRIBUTING.md has the rooms in their order, the roof first', () => {
  const picture = fs.readFileSync(path.join(__dirname, '../../CONTRIBUTING.md'), 'utf8').split('flows/lib/ ───')[1].split('```')[0];
  assert.deepEqual([...picture.matchAll(/^ │ (\w+) +\S/gm)].map(([, room]) => room), ROOMS.toReversed());
});
