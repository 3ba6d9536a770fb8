'use strict';

const assert = require('node:assert/strict');
const { mock, test } = require('node:test');
const { createExchange, BEFORE_MS, STORED_MS } = require('../../lib/coverage/exchange');

const T = 1_700_000_000_000;

test('the time in which a node was exchanged is located again once its readings are stored', (t) => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: T });
  t.after(() => mock.timers.reset());
  const lost = mock.fn();
  const exchange = createExchange({ lost, clock: Date.now });
  exchange.opened();
  mock.timers.tick(STORED_MS);
  assert.equal(lost.mock.callCount(), 0, 'the first start is no exchange');
  exchange.closed();
  mock.timers.tick(700);
  exchange.opened();
  mock.timers.tick(STORED_MS - 1);
  exchange.closed(); // another deploy follows
  mock.timers.tick(300);
  exchange.opened();
  mock.timers.tick(STORED_MS);
  const from = T + STORED_MS - BEFORE_MS;
  assert.deepEqual(lost.mock.calls.map((call) => call.arguments).at(-1), [from, T + STORED_MS + 700 + STORED_MS - 1 + 300]);
});

test('nothing is asked for after the site was closed', (t) => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: T });
  t.after(() => mock.timers.reset());
  const lost = mock.fn();
  const exchange = createExchange({ lost, clock: Date.now });
  exchange.closed();
  exchange.opened();
  exchange.stop();
  mock.timers.tick(STORED_MS * 2);
  assert.equal(lost.mock.callCount(), 0);
});
