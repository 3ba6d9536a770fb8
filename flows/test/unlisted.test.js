'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const { createBuilding } = require('../lib/building');
const { Site } = require('../lib/site');
const { createUnlisted } = require('../lib/live/unlisted');
const { smallBuilding } = require('./support/building');

const T = 1_700_000_000_000;
const DAY_MS = 86_400_000;

/** Unlisted people on a site; each `start` is a start of the flows. */
function rig(t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'unlisted-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const all = { now: T, sent: [], warnings: [], site: new Site(createBuilding(smallBuilding()), T) };
  all.site.broker.outbox.attach({ connected: () => true, send: (message) => all.sent.push(message) });
  all.start = () => createUnlisted({ file: path.join(folder, 'unlisted.json'), site: all.site, clock: () => all.now, bounds: { people: 3 },
    warn: (text) => all.warnings.push(text) });
  return all;
}

test('so many people are unlisted at most, over restarts too; who is listed or known is no new one', async (t) => {
  const all = rig(t);
  const first = all.start();
  assert.deepEqual(['x', 'y', 'z', 'w', 'x', '0', '1'].map(first.admit), [true, true, true, false, true, true, true]);
  await first.close();
  const second = all.start();
  assert.deepEqual(['w', 'z', '0'].map(second.admit), [false, true, true]);
  assert.deepEqual(second.figures.map(({ read }) => read()), [3, 1]);
  assert.deepEqual(all.warnings, []);
});

test('who was not reported for as long as locations are kept is forgotten, at the broker too', async (t) => {
  const all = rig(t);
  const first = all.start();
  for (const id of ['x', 'y', 'z']) first.admit(id);
  all.now += 20 * DAY_MS;
  first.admit('y');
  first.tick();
  await first.close();
  all.now += 11 * DAY_MS;
  const second = all.start();
  second.tick();
  assert.deepEqual(all.sent.map(({ topic, payload, retain }) => [topic, payload, retain]),
    ['x', 'z'].map((id) => [`sda/v1/staff/${id}/location`, '', true]));
  assert.deepEqual(['w', 'y', 'v', 'u'].map(second.admit), [true, true, true, false]);
});
