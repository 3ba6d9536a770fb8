'use strict';

const assert = require('node:assert/strict');
const path = require('node:path');
const { test } = require('node:test');
const { digestOf, isDemo, loadBuilding } = require('../lib/building');

test('the unchanged demo building is recognised', () => {
  const { file } = loadBuilding(path.join(__dirname, '..', 'building', 'demo.json'));
  assert.ok(isDemo(digestOf(file)), `demo.json was changed: put ${digestOf(file)} into lib/building/index.js`);
  assert.ok(!isDemo(digestOf({ ...file, building: 'Mine' })));
});
