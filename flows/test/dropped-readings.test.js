'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { World, walks } = require('./support/world');

const T = 1_700_000_000_000;
const MIN = 60_000;
const END = T + 14 * MIN;
/** Node-RED stands still, and the broker keeps a few seconds of that time for it. */
const [FROM, TO, BOUND] = [T + 5 * MIN + 123, T + 6 * MIN + 30_000, 60];

const sent = () => walks(1, { people: 12, fromMs: T, toMs: END });
const STALL = { bound: BOUND, stalled: (/** @type {number} */ ms) => ms >= FROM && ms < TO };
const stalling = (more = {}) => Object.assign(new World(sent(), T), { ...STALL, ...more }).start();
const compared = (world) => world.history(T, END - 2 * MIN);
let expected;

test.before(async () => {
  const world = new World(sent(), T).start();
  await world.until(() => world.now >= END);
  expected = compared(world);
  assert.ok(expected.locations.length > 3000, `${expected.locations.length}`);
});

test('what the broker dropped of the flows\' readings is located by itself, and called open until then', async () => {
  const world = stalling();
  await world.until(() => world.now >= FROM - 1000);
  assert.ok(world.isComplete(T, FROM - 20_000), 'probes that come back say nothing else');
  await world.until(() => world.past.drops.reason() !== '');
  assert.ok(world.now < TO + 15_000 && world.dropped > 300, `${world.now - TO} ${world.dropped}`);
  assert.ok(!world.isComplete(FROM, TO));
  assert.match(world.rebuild.part().reason, /dropped messages that waited for the flows/);
  await world.until(() => world.isComplete(T, TO), 2 * MIN);
  assert.deepEqual([world.rebuild.part().status, world.rebuild.jobs().filter(({ why }) => why === 'late').length], ['up', 1]);
  await world.until(() => world.now >= END);
  assert.deepEqual(compared(world), expected);
});

const isLocating = ({ rebuild }) => rebuild.jobs().some(({ why, state }) => why === 'late' && state === 'running');
for (const [when, isTime] of Object.entries({ 'before it is over': ({ now }) => now >= TO + 12_000, 'while it is located again': isLocating })) {
  test(`Node-RED is killed ${when}: all of it is located`, async () => {
    const world = stalling();
    await world.until(() => isTime(world));
    assert.ok(!world.isComplete(FROM, TO), 'not yet');
    world.kill();
    world.pass(3000);
    world.start();
    await world.until(() => world.isComplete(T, TO), 3 * MIN);
    await world.until(() => world.now >= END);
    assert.deepEqual(compared(world), expected);
  });
}

test('what is dropped every few seconds for minutes is located in one go', async () => {
  const world = stalling({ stalled: (ms) => ms >= FROM && ms < TO + MIN && ms % 15_000 < 14_000, bound: 20 });
  await world.until(() => world.now >= TO + 2 * MIN && world.isComplete(T, TO + MIN));
  assert.ok(world.rebuild.jobs().filter(({ why }) => why === 'late').length <= 2);
  await world.until(() => world.now >= END);
  assert.deepEqual(compared(world), expected);
});
