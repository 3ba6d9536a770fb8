'use strict';

const assert = require('node:assert/strict');
const { execFileSync } = require('node:child_process');
const { test } = require('node:test');

const MIB = 2 ** 20;
/** Seven minutes of 10,000 people at one location a second, in a process of its own. */
const SCRIPT = `
const { createHistory } = require(${JSON.stringify(require.resolve('../lib/past/history'))});
const T = 1_790_000_000_000;
const ids = Array.from({ length: 10_000 }, (_, i) => String(i));
const history = createHistory(T);
global.gc();
const before = process.memoryUsage.rss();
for (let s = 0; s < 420; s += 1) {
  const now = T + s * 1000;
  ids.forEach((id, i) => history.add({ ts: now - i % 1000, staff_id: id, level: 'L' + i % 7, room: 'room-' + (i + s) % 60,
    beacon: 'C2A6' + (i + s) % 500, rssi: -60 - s % 30,
    probability: (i + s) % 101 / 100, runner_up: 'room-' + (i + s + 1) % 60, ...(s % 9 ? {} : { corrected: true }) }, now));
  history.sweep(now);
}
global.gc();
const now = T + 419_000;
const held = ids.every((id) => history.locations(id, history.completeFrom(id, now), now).ms.length >= 299);
console.log(JSON.stringify({ grown: process.memoryUsage.rss() - before, held, left_out: history.counters().left_out }));
`;

test('five minutes of 10,000 people at one location a second cost at most 150 MB', () => {
  const said = JSON.parse(execFileSync(process.execPath, ['--expose-gc', '-e', SCRIPT], { encoding: 'utf8' }));
  assert.deepEqual([said.held, said.left_out], [true, 0]);
  assert.ok(said.grown < 150 * MIB, `${Math.round(said.grown / MIB)} MiB`);
});
