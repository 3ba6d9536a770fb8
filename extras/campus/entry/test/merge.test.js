'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const fc = require('../../../../flows/test/support/fast-check');
const { merge } = require('../lib/merge');
const { listPage } = require('../lib/lists');
const { locationsPage } = require('../lib/pages');
const { latestOf, staffOf } = require('../lib/people');
const { recordsOf } = require('../lib/record-stream');
const { roomsOf } = require('../lib/places');
const { SiteUnavailable } = require('../lib/site');
const { within } = require('../../../../flows/lib/past/views');

// Answers of several sites as one: all that any of them has, newest first, and nothing when one of them breaks off.
const PEOPLE = ['0', '1', '10', 'a.b', 'Z'];
const ROOMS = ['Lobby', 'Room {1}', 'Say "hi", \\', 'Küche 厨房'];

/** A site's answer as its own text, in chunks of any length. */
async function* chunks(text, length) {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}
const answerOf = (records, several) => JSON.stringify({ location: records.map(({ who, s, room }) =>
  ({ ...(several ? { staff_id: who } : {}), level: 'L1', location: room, timestamp: s })) });
const byPerson = (a, b) => (a.who < b.who ? 1 : a.who > b.who ? -1 : b.s - a.s);
const unique = (records) => [...new Map(records.map((one) => [`${one.who} ${one.s}`, one])).values()].sort(byPerson);
const source = (site, text, length) => ({ site, records: recordsOf(site, chunks(text, length)) });
const whole = async (sources, same) => `{"location":[${(await Array.fromAsync(merge(sources, same))).join('').slice(0, -1)}]}`;

const record = fc.record({ who: fc.constantFrom(...PEOPLE), s: fc.integer({ min: 1_700_000_000, max: 1_700_000_020 }),
  room: fc.constantFrom(...ROOMS) });
const histories = fc.array(fc.array(record, { maxLength: 30 }).map(unique), { minLength: 1, maxLength: 4 });
const length = fc.integer({ min: 1, max: 200 });
const share = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });

test('a merged history is the union, one person after the other, newest first, one a second, the first site\'s', async () => {
  await fc.assert(fc.asyncProperty(histories, length, fc.boolean(), async (sites, chunk, several) => {
    const asked = several ? sites : sites.map((records) => records.filter(({ who }) => who === '0'));
    const sources = asked.map((records, i) => source(`s${i}`, answerOf(records, several), chunk));
    let left = 0;
    const { location } = JSON.parse(await whole(sources, () => { left += 1; }));
    const all = asked.flatMap((records, i) => records.map((one) => ({ ...one, site: `s${i}` })));
    const expected = [...new Map([...all].reverse().map((one) => [`${one.who} ${one.s}`, one])).values()].sort(byPerson);
    assert.deepEqual(location, expected.map(({ who, s, room, site }) =>
      ({ ...(several ? { staff_id: who } : {}), level: 'L1', location: room, timestamp: s, site })));
    assert.equal(left, all.length - expected.length, 'what is left out is counted');
  }), { numRuns: 200 });
});

test('an answer that breaks off anywhere is no answer', async () => {
  await fc.assert(fc.asyncProperty(histories, length, share, async (sites, chunk, part) => {
    const texts = sites.map((records) => answerOf(records, true));
    const cut = texts[0].slice(0, Math.floor(texts[0].length * part));
    const sources = texts.map((text, i) => source(`s${i}`, i === 0 ? cut : text, chunk));
    await assert.rejects(whole(sources), (error) => error instanceof SiteUnavailable && error.site === 's0');
  }), { numRuns: 200 });
});

test('what is no history, or in another order, is refused with the site\'s name', async () => {
  const older = [{ who: '0', s: 1, room: 'a' }, { who: '0', s: 2, room: 'a' }];
  await assert.rejects(whole([source('north', answerOf(older, false), 99)]), /site north answers .* in another order/);
  await assert.rejects(whole([source('north', '{"error":"no"}, and more of it', 99)]), /something else than records/);
});

test('a page of locations leaves nothing out: page after page they are the union by seconds', () => {
  const times = fc.array(fc.uniqueArray(fc.integer({ min: 0, max: 40_000 }), { maxLength: 40, selector: (ms) => Math.floor(ms / 1000) })
    .map((list) => list.sort((a, b) => a - b)), { minLength: 1, maxLength: 3 });
  fc.assert(fc.property(times, fc.integer({ min: 1, max: 9 }), (sites, limit) => {
    const seen = [];
    for (let fromMs = 0, pages = 0; fromMs !== null; pages += 1) {
      assert.ok(pages < 100, 'the pages end');
      const parts = sites.map((all, i) => {
        const rest = all.filter((ts) => ts >= fromMs);
        return { site: `s${i}`, items: rest.slice(0, limit).map((ts) => ({ ts })), isWhole: rest.length <= limit };
      });
      const { items, nextMs } = locationsPage(parts, limit);
      assert.ok(items.length <= limit);
      seen.push(...items);
      fromMs = nextMs;
    }
    const firsts = new Map(sites.flatMap((all, i) => all.map((ts) => [Math.floor(ts / 1000), { ts, site: `s${i}` }])).reverse());
    assert.deepEqual(seen, [...firsts].sort(([a], [b]) => a - b).map(([, one]) => one));
  }), { numRuns: 300 });
});

// A site's list by time: what touches the window, in its order, page by page; complete up to a gap of the site's own.
const compareTexts = (a, b) => (a < b ? -1 : Number(a > b));
const SITE_PAGE = 3;
const siteWith = ({ items, gapMs }, newestFirst) => async ({ path }) => {
  const asked = new URL(path, 'http://site').searchParams;
  const [fromMs, toMs] = ['start', 'end'].map((name) => Date.parse(asked.get(name)));
  const all = items.filter((item) => within(item, { fromMs, toMs }))
    .sort((a, b) => (newestFirst ? b.enter_ms - a.enter_ms : a.enter_ms - b.enter_ms) || compareTexts(a.staff_id, b.staff_id));
  const [at, limit] = [Number(asked.get('cursor') ?? 0), Number(asked.get('limit'))];
  assert.ok(limit <= SITE_PAGE, 'as much as a site gives at once');
  const data = { items: all.slice(at, at + limit), next: at + limit < all.length ? String(at + limit) : null,
    complete_until_ms: Math.max(fromMs, Math.min(toMs, gapMs)) };
  return { status: 200, json: async () => data };
};
const FROM = Date.UTC(2026, 0, 1);
const moment = fc.integer({ min: 0, max: 12 }).map((ms) => FROM + ms);
const item = fc.record({ who: fc.constantFrom('a', 'b', 'c'), enter: moment, for: fc.integer({ min: 0, max: 5 }) })
  .map(({ who, enter, for: ms }) => ({ staff_id: who, enter_ms: enter - 3, leave_ms: enter - 3 + ms }));
const siteItems = fc.uniqueArray(item, { maxLength: 12, selector: (one) => `${one.staff_id} ${one.enter_ms}` });
const siteLists = fc.array(fc.record({ gapMs: moment, items: siteItems }), { minLength: 1, maxLength: 3 });

for (const newestFirst of [true, false]) {
  test(`pages of lists ${newestFirst ? 'newest' : 'oldest'} first are all there is, once and in order, also of one moment at two sites`, async () => {
    const window = { fromMs: FROM, toMs: FROM + 10 };
    await fc.assert(fc.asyncProperty(siteLists, fc.integer({ min: 1, max: 5 }), async (lists, limit) => {
      const points = lists.map(({ items, ...list }) => ({ ...list,
        items: newestFirst ? items.map((one) => ({ ...one, leave_ms: one.enter_ms })) : items }));
      const asking = points.map((list, i) => [`s${i}`, siteWith(list, newestFirst)]);
      const sites = { each: (work) => Promise.all(asking.map(([name, ask]) => work(ask, name))) };
      const order = { ts: ({ enter_ms: ms }) => ms, id: ({ staff_id: id }) => id, newestFirst };
      const seen = [];
      for (let after = null, pages = 0; ; pages += 1) {
        assert.ok(pages < 100, 'the pages end');
        const ask = { params: {}, window, after, limit, caller: { name: 'hacs' }, next: (last) => last };
        const page = await listPage({ ask, sites }, { path: '/list', items: 'items', order, most: SITE_PAGE });
        assert.equal(page.completeMs, Math.min(window.toMs, ...lists.map(({ gapMs }) => gapMs)), 'as far as every site is complete');
        assert.ok(page.items.length <= limit);
        seen.push(...page.items);
        if (page.next === null) break;
        after = page.next;
      }
      const expected = points.flatMap(({ items }, i) => items.filter((one) => within(one, window)).map((one) => ({ ...one, site: `s${i}` })))
        .sort((a, b) => (newestFirst ? b.enter_ms - a.enter_ms : a.enter_ms - b.enter_ms) || compareTexts(a.staff_id, b.staff_id)
          || compareTexts(a.site, b.site));
      assert.deepEqual(seen, expected);
    }), { numRuns: 300 });
  });
}

test('somebody who walked over counts in the room of the newest sighting', () => {
  const here = (staffId, ts) => ({ staff_id: staffId, since: 1, ts, state: 'present' });
  const room = (id, limit, ...people) => ({ level: 'L1', room: id, name: id, limit, count: people.length, crowded: people.length > limit, people });
  const lists = [{ site: 'north', items: [room('lobby', 1, here('0', 10), here('1', 10)), room('b', 9)] },
    { site: 'annex', items: [room('lobby', 1, here('0', 11)), room('a', 9, here('1', 10))] }];
  const who = (people) => people.map(({ staff_id: id }) => id);
  assert.deepEqual(roomsOf(lists).map(({ room: id, site, count, crowded, people }) => [id, site, count, crowded, who(people)]), [
    ['a', 'annex', 0, false, []], ['b', 'north', 0, false, []], ['lobby', 'annex', 1, false, ['0']], ['lobby', 'north', 1, false, ['1']]]);
});

test('everybody is in one place: the newest sighting, of the same second the loudest', () => {
  const at = (staffId, timestamp, rssi = -60) => ({ staff_id: staffId, level: 'L1', location: 'x', timestamp, rssi, mac: 'AA' });
  const lists = [{ site: 'north', items: [at('0', 10), at('1', 20), at('2', 5, -80)] }, { site: 'south', items: [at('0', 11), at('1', 19), at('2', 5, -50)] }];
  assert.deepEqual(latestOf(lists).map(({ staff_id: id, site }) => [id, site]), [['1', 'north'], ['0', 'south'], ['2', 'south']]);
});

test('a person of two sites is one, with the names and tags of both and the newer presence', () => {
  const person = (more) => ({ staff_id: '0', name: null, listed: false, tags: [], presence: null, level_db: null, level_sd_db: null, ...more });
  const here = (ts, state = 'present') => ({ level: 'L1', room: 'a', since: 1, ts, state });
  const lists = [
    { site: 'north', items: [person({ name: 'Ann', listed: true, tags: ['A'], presence: here(10, 'lost'), level_db: 3 })] },
    { site: 'south', items: [person({ staff_id: '00' }), person({ tags: ['A', 'B'], presence: here(20), level_db: 5 })] },
  ];
  const [ann, other] = staffOf(lists);
  assert.deepEqual(ann, { ...person({ name: 'Ann', listed: true, tags: ['A', 'B'], level_db: 5 }), presence: { ...here(20), site: 'south' } });
  assert.equal(other.presence, null);
});
