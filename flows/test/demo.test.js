'use strict';

const assert = require('node:assert/strict');
const path = require('node:path');
const { test } = require('node:test');
const { digestOf, isDemo, loadBuilding } = require('../lib/building');

test('the unchanged demo building is recognised', () => {
  const { file } = loadBuilding(path.join(__dirname, '..', 'building', 'demo.json'));
  assert.ok(isDemo(file), `demo.json was changed: put ${digestOf(file)} into lib/demo.js`);
  assert.ok(!isDemo({ ...file, building: 'Mine' }));
});
