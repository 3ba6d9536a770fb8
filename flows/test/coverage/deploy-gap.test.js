'use strict';

const assert = require('node:assert/strict');
const { mock, test } = require('node:test');
const { EventBus } = require('../../lib/events');
const { createDeployGap, BEFORE_DEPLOY_MS, STORED_MS } = require('../../lib/past/lost-readings');

const T = 1_700_000_000_000;

test('the time in which a node was exchanged is located again once its readings are stored', (t) => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: T });
  t.after(() => mock.timers.reset());
  const [lost, bus] = [mock.fn(), new EventBus()];
  createDeployGap({ lost, bus, clock: Date.now });
  bus.emit('nodeOpened');
  mock.timers.tick(STORED_MS);
  assert.equal(lost.mock.callCount(), 0, 'the first start is no gap');
  bus.emit('nodeClosed');
  mock.timers.tick(700);
  bus.emit('nodeOpened');
  mock.timers.tick(STORED_MS - 1);
  bus.emit('nodeClosed'); // another deploy follows
  mock.timers.tick(300);
  bus.emit('nodeOpened');
  mock.timers.tick(STORED_MS);
  const from = T + STORED_MS - BEFORE_DEPLOY_MS;
  assert.deepEqual(lost.mock.calls.map((call) => call.arguments).at(-1), [from, T + STORED_MS + 700 + STORED_MS - 1 + 300]);
});

test('nothing is asked for after the site was closed', (t) => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: T });
  t.after(() => mock.timers.reset());
  const [lost, bus] = [mock.fn(), new EventBus()];
  const deployGap = createDeployGap({ lost, bus, clock: Date.now });
  bus.emit('nodeClosed');
  bus.emit('nodeOpened');
  deployGap.stop();
  mock.timers.tick(STORED_MS * 2);
  assert.equal(lost.mock.callCount(), 0);
});
