'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const fc = require('../support/fast-check');
const { createAsk } = require('../../lib/http/v1/ask');
const { createCursors, readPage } = require('../../lib/http/v1/paging');
const { parseMoment } = require('../../lib/shared/rfc3339');

const item = fc.record({ ts: fc.integer({ min: 0, max: 12 }), id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f') });
const items = fc.uniqueArray(item, { selector: ({ ts, id }) => `${ts} ${id}`, maxLength: 40 });
const order = (newestFirst) => ({ ts: ({ ts }) => ts, id: ({ id }) => id, newestFirst });

/** What the database does: the first `count` of a time, in order of time, those of one moment in an order of its own. */
const reader = (stored, newestFirst) => async (from, to, count) => [...stored.values()]
  .filter(({ ts }) => ts >= from && ts < to)
  .sort((a, b) => (newestFirst ? b.ts - a.ts : a.ts - b.ts) || (a.id < b.id ? 1 : -1)).slice(0, count);

for (const newestFirst of [false, true]) {
  test(`pages ${newestFirst ? 'newest' : 'oldest'} first: nothing twice, nothing lost, in order, whatever comes in between`, async () => {
    const limits = fc.integer({ min: 1, max: 7 });
    await fc.assert(fc.asyncProperty(items, fc.array(items, { maxLength: 6 }), limits, async (first, inserts, limit) => {
      const later = [...inserts];
      const key = ({ ts, id }) => `${ts} ${id}`;
      const stored = new Map(first.map((one) => [key(one), one]));
      const found = [];
      let after = null;
      do {
        const page = await readPage(reader(stored, newestFirst), { fromMs: 1, toMs: 12 }, after, limit, order(newestFirst));
        assert.ok(page.items.length <= limit);
        assert.ok(page.last === null || page.items.length === limit, 'a page is short only where it is the last');
        found.push(...page.items);
        after = page.last;
        for (const one of later.shift() ?? []) stored.set(key(one), one);
      } while (after);
      const keys = found.map(key);
      assert.equal(new Set(keys).size, keys.length, 'nothing twice');
      for (const one of first) if (one.ts >= 1 && one.ts < 12) assert.ok(keys.includes(key(one)), `${key(one)} was there from the beginning`);
      const sign = newestFirst ? -1 : 1;
      const sorted = [...found].sort((a, b) => sign * (a.ts - b.ts) || (a.id < b.id ? -1 : 1));
      assert.deepEqual(found, sorted);
    }), { numRuns: 400 });
  });
}

test('a page whose moment goes on beyond it is gone on with in that moment', async () => {
  const stored = new Map(['a', 'b', 'c', 'd', 'e'].map((id) => [id, { ts: 5, id }]));
  const first = await readPage(reader(stored, false), { fromMs: 0, toMs: 10 }, null, 2, order(false));
  assert.deepEqual(first.items.map(({ id }) => id), ['a', 'b']);
  assert.deepEqual(first.last, { ts: 5, id: 'b', same: 2 });
  const second = await readPage(reader(stored, false), { fromMs: 0, toMs: 10 }, first.last, 2, order(false));
  assert.deepEqual(second.items.map(({ id }) => id), ['c', 'd']);
});

const operation = { id: 'listThings', parameters: [{ name: 'start' }, { name: 'end' }] };
const HOUR_MS = 3_600_000;

test('a cursor carries the window of the first request on, and only for the same question', () => {
  const first = createAsk(operation, { thing: 'x', limit: 5 }, 100 * HOUR_MS);
  assert.deepEqual(first.window, { fromMs: 76 * HOUR_MS, toMs: 100 * HOUR_MS });
  const cursor = first.next({ ts: 5, id: 'b', same: 1 });
  const later = createAsk(operation, { thing: 'x', limit: 9, cursor }, 101 * HOUR_MS);
  assert.deepEqual(later.window, first.window);
  assert.equal(later.after.id, 'b');
  assert.equal(createAsk(operation, { thing: 'x', cursor, end: 100 * 3600 }, 0).after.ts, 5);
  for (const [params, message] of [
    [{ thing: 'y', cursor }, /another question/],
    [{ thing: 'x', cursor, start: 3600 }, /start is not that/],
    [{ thing: 'x', cursor: 'nonsense' }, /none of ours/],
    [{ thing: 'x', cursor: Buffer.from('[1]').toString('base64url') }, /none of ours/],
    [{ thing: 'x', cursor: Buffer.from('{"a":1}').toString('base64url') }, /none of ours/],
  ]) assert.throws(() => createAsk(operation, params, 0), (error) => error.status === 400 && message.test(error.message));
});

test('a cursor cannot be made to ask more than a request may', () => {
  const { next } = createAsk(operation, { thing: 'x' }, 100 * HOUR_MS);
  const [question, , ...rest] = JSON.parse(Buffer.from(next({ ts: 5, id: 'b', same: 1 }), 'base64url'));
  const wide = Buffer.from(JSON.stringify([question, -40 * 24 * HOUR_MS, ...rest])).toString('base64url');
  assert.throws(() => createAsk(operation, { thing: 'x', cursor: wide }, 0), /none of ours/);
});

test('a forged cursor is refused, whatever is changed in it; one of ours is good after a restart', () => {
  const cursors = () => createCursors('a secret that stays');
  const ask = (params) => createAsk(operation, { thing: 'x', ...params }, 100 * HOUR_MS, undefined, cursors());
  const cursor = ask({}).next({ ts: 5, id: 'b', same: 1 });
  assert.deepEqual(ask({ cursor }).after, { fromMs: 76 * HOUR_MS, toMs: 100 * HOUR_MS, ts: 5, id: 'b', same: 1 });
  const parts = JSON.parse(Buffer.from(cursor, 'base64url'));
  for (const [at, value] of [[1, 0], [2, 200 * HOUR_MS], [3, 6], [4, 'a'], [5, 9_000_000], [5, 0], [6, ''], [6, null]]) {
    const forged = Buffer.from(JSON.stringify(parts.with(at, value))).toString('base64url');
    assert.throws(() => ask({ cursor: forged }), (error) => error.status === 400 && /none of ours/.test(error.message), `${at} ${value}`);
  }
  const unsigned = Buffer.from(JSON.stringify(parts.slice(0, -1))).toString('base64url');
  assert.throws(() => ask({ cursor: unsigned }), /none of ours/);
  assert.throws(() => createAsk(operation, { thing: 'x', cursor }, 0), /none of ours/, 'of another installation');
});

test('moments: RFC 3339 with its offset, days that exist, leap seconds', () => {
  const noon = Date.UTC(2026, 0, 31, 12);
  for (const [text, ms] of [
    ['2026-01-31T12:00:00Z', noon], ['2026-01-31t12:00:00z', noon], ['2026-01-31 12:00:00Z', noon],
    ['2026-01-31T20:00:00+08:00', noon], ['2026-01-31T20:00:00 08:00', noon], ['2026-01-31T02:30:00-09:30', noon],
    ['2026-01-31T12:00:00.25Z', noon + 250], ['2026-01-31T11:59:60Z', noon], ['0001-01-01T00:00:00Z', -62135596800000],
    ['2026-02-30T00:00:00Z', null], ['2026-13-01T00:00:00Z', null], ['2026-01-31T24:00:00Z', null], ['2026-01-31', null],
    ['2026-01-31T12:00:00', null], ['now', null], ['', null], ['2026-01-31T12:00:00+24:00', null],
  ]) assert.equal(parseMoment(text), ms, text);
  fc.assert(fc.property(fc.date({ noInvalidDate: true, min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T00:00:00Z') }),
    (date) => parseMoment(date.toISOString()) === date.getTime()));
});
