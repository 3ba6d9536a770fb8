'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const { createKnownTime, FILE } = require('../lib/live/known-time');

const T = 1_700_000_000_000;

test('the newest time is kept over a restart, and a clock that is behind it is noticed', async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'known-time-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const said = [];
  const open = () => createKnownTime(folder, (text) => said.push(text));
  const first = open();
  assert.equal(first.behindMs(0), 0, 'nothing is known yet');
  await first.note(T);
  await first.note(T - 5000); // a clock that is set back a little
  const second = open();
  assert.deepEqual([T + 1, T - 60_000].map(second.behindMs), [0, 0]);
  assert.equal(second.behindMs(T - 3_600_000), 3_600_000);
  assert.equal(second.part(T).status, 'up');
  const { status, reason, remedy } = second.part(T - 3_600_000);
  assert.match(`${status} ${reason} ${remedy}`, /^degraded the clock of this machine is 3600 s behind .*2023-11-14T22:13:20.000Z .*time server.*delete/);
  await second.note(T - 3_600_000);
  assert.equal(open().behindMs(T - 3_600_000), 3_600_000, 'an old time does not replace a newer one');
  fs.writeFileSync(path.join(folder, FILE), 'nonsense');
  assert.equal(open().behindMs(T - 3_600_000), 0);
  assert.deepEqual(said, []);
});
