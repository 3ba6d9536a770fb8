'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const { takeDue } = require('../../lib/past/rebuild');
const { createCoverage, MARGIN_MS, RETENTION_MS, createRecord, ALIVE_MS, GIVEN_UP_MS } = require('../../lib/past/coverage');

const T = 1_700_000_000_000;
const MIN = 60_000;
const DAY = 24 * 60 * MIN;
const EVER = T - 6 * DAY;

/** Locations published and stored up to these times; the record in memory. */
function rig({ startedMs = T, record, caughtUp = true } = {}) {
  const now = { published: startedMs, stored: startedMs, away: false };
  const newestStored = async () => {
    if (now.away) throw new Error('away');
    return now.stored;
  };
  const coverage = createCoverage({ startedMs, newestPublished: () => now.published, newestStored, record, sleep: async () => {} });
  if (caughtUp) {
    coverage.locateBeforeStart(coverage.beforeStart().fromMs);
    coverage.published({ fromMs: -Infinity, toMs: startedMs, staff: null }, startedMs - 1000);
    coverage.caughtUp(startedMs - 1000);
  }
  const refused = (fromMs, toMs, who, nowMs, refuse = coverage.refuseIncomplete) => {
    try {
      refuse(fromMs, toMs, who, nowMs);
      return null;
    } catch (error) {
      return error.message;
    }
  };
  return { now, coverage, refused };
}

test('as long as heartbeats come back all is complete up to now', async () => {
  const { coverage, refused } = rig();
  for (let ms = T; ms < T + 10 * MIN; ms += 5000) {
    await coverage.tick(ms - 1000, ms);
    assert.equal(refused(EVER, ms, null, ms), null);
    assert.equal(coverage.completeUntil(EVER, ms + MIN, null, ms), ms);
    assert.equal(coverage.overdue(ms), '');
  }
});

test('a lost time that reaches up to the present is incomplete until it is located again, over a kill, too', async () => {
  let kept;
  const record = { load: () => kept ?? createRecord(null, () => {}).load(), save: async (next) => { kept = structuredClone(next); } };
  const { now, coverage, refused } = rig({ record });
  for (let s = 5; s <= 60; s += 5) {
    now.published = now.stored = T + s * 1000;
    await coverage.tick(T + s * 1000 - 300, T + s * 1000);
  }
  const lostMs = T + 30_000;
  coverage.lost(lostMs, T + 55_000);
  const [part] = coverage.takeDue(T + 60_500, () => false);
  assert.deepEqual(part, { fromMs: lostMs, toMs: T + 55_000, staff: null });
  for (let s = 65; s <= 300; s += 5) {
    now.published = now.stored = T + s * 1000;
    await coverage.tick(T + s * 1000 - 300, T + s * 1000);
    assert.equal(coverage.completeUntil(T, T + s * 1000, [], T + s * 1000), lostMs, 'while it is being located');
    assert.match(refused(T, T + s * 1000, [], T + s * 1000) ?? 'complete', /from 2023-11-14T22:13:50.000Z .*being located again/);
  }
  await coverage.settle();
  const killedMs = T + 310_000;
  const next = rig({ startedMs: killedMs, record, caughtUp: false }).coverage;
  assert.equal(next.completeUntil(T, killedMs, [], killedMs), lostMs, 'it is to be located after a kill');

  coverage.published(part, T + 301_000);
  await coverage.tick(T + 309_700, killedMs);
  assert.equal(coverage.completeUntil(T, killedMs, [], killedMs), killedMs);
});

test('after an interruption a time is complete when what was published by then is stored', async () => {
  const { now, coverage, refused } = rig();
  for (const s of [10, 20]) await coverage.tick(T + s * 1000, T + s * 1000 + 500);
  const back = T + 10 * MIN; // what was located in the last 15 s before may not have been published
  assert.match(refused(EVER, back, [], back), /since 2023-11-14T22:13:25.000Z is still on its way/);
  assert.equal(refused(EVER, T + 5000, [], back), null, 'what is before');
  assert.match(refused(EVER, T - DAY + 5001, [], back, coverage.refuseIncompleteStays), /on its way/, 'a stay may end a day later');
  assert.equal(refused(EVER, T - DAY + 5000, [], back, coverage.refuseIncompleteStays), null);
  assert.equal(coverage.settledMs(back), T + 5000);
  Object.assign(now, { published: back, stored: T + 5000 });
  await coverage.tick(back, back + 1000);
  assert.match(refused(EVER, back, [], back + 1000), /on its way/, 'heartbeats are faster than locations');
  Object.assign(now, { published: back + MIN, stored: back - 1 });
  await coverage.tick(back, back + 2000);
  assert.match(refused(EVER, back, [], back + 2000), /on its way/);
  Object.assign(now, { stored: back, away: true });
  await coverage.tick(back, back + 3000);
  assert.match(refused(EVER, back, [], back + 3000), /on its way/);
  now.away = false;
  await coverage.tick(back, back + 4000);
  assert.equal(refused(EVER, back, [], back + 4000), null);
});

test('an interruption while the one before is not over holds as well', async () => {
  const { now, coverage } = rig();
  await coverage.tick(T, T);
  now.published = T + 5 * MIN;
  await coverage.tick(T + 5 * MIN, T + 5 * MIN);
  await coverage.tick(T + 5 * MIN, T + 6 * MIN);
  Object.assign(now, { published: T + 10 * MIN, stored: T + 5 * MIN });
  await coverage.tick(T + 10 * MIN, T + 10 * MIN);
  assert.equal(coverage.settledMs(T + 10 * MIN), T);
});

test('what never arrives is shown, and then located again instead of being waited for', async () => {
  const { now, coverage, refused } = rig();
  const back = T + 5 * MIN;
  for (const s of [10, 20]) await coverage.tick(T + s * 1000, T + s * 1000 + 500);
  Object.assign(now, { published: back, stored: T });
  for (let ms = back; ms < back + GIVEN_UP_MS; ms += 5000) {
    await coverage.tick(ms, ms);
    if (ms > back + MIN) assert.match(coverage.overdue(ms), /ingest works again/);
    assert.deepEqual(coverage.takeDue(ms, () => false), []);
  }
  const end = back + GIVEN_UP_MS;
  await coverage.tick(end, end);
  const [part] = coverage.takeDue(end, () => false);
  assert.deepEqual(part, { fromMs: T + 5000, toMs: back, staff: null });
  assert.match(refused(T, T + 5001, [], end), /is being located again/);
  assert.equal(refused(back, end, [], end), null);
  coverage.published(part, end);
  await coverage.tick(end, end + 500);
  assert.match(refused(T, T + 5001, [], end + 500), /is being located again/, 'published is not stored');
  await coverage.tick(end + 5000, end + 5500);
  assert.equal(refused(T, end, null, end + 5500), null);
});

test('late readings concern who sent them: others are answered, and said up to when all is complete', async () => {
  const { coverage, refused } = rig();
  await coverage.tick(T, T);
  const old = T - 3 * DAY + 5000;
  coverage.late('7', old, T);
  assert.match(refused(EVER, T, ['7'], T), /is being located again for 7/);
  assert.match(refused(EVER, T, null, T), /for 7/);
  for (const who of [[], ['8']]) assert.equal(refused(EVER, T, who, T), null);
  assert.equal(refused(old + 10_000, T, ['7'], T), null, 'another time');
  assert.equal(coverage.completeUntil(EVER, T, null, T), old - 15_000, 'what is decided with it may change, too');
  assert.deepEqual(coverage.takeDue(T + 14_000, () => false), []);
  const [part, ...more] = coverage.takeDue(T + 15_000, () => false);
  assert.deepEqual([part, more], [{ fromMs: T - 3 * DAY, toMs: T - 3 * DAY + 10_000, staff: ['7'] }, []]);
  coverage.late('7', old, T + 20_000); // while it is being located
  assert.deepEqual(coverage.takeDue(T + 40_000, () => false), [], 'one after the other');
  coverage.published(part, T + 20_000);
  await coverage.tick(T + 25_000, T + 25_000);
  assert.match(refused(EVER, T, ['7'], T), /for 7/);
  coverage.published(coverage.takeDue(T + 40_000, () => false)[0], T + 40_000);
  await coverage.tick(T + 45_000, T + 45_000);
  assert.equal(refused(EVER, T + 45_000, null, T + 45_000), null);
});

test('what follows late readings of just now may change until they are located, and is not called complete', async () => {
  const { coverage, refused } = rig();
  await coverage.tick(T, T);
  coverage.late('7', T - 10 * MIN, T);
  const until = (who, nowMs) => coverage.completeUntil(T - 5 * MIN, T, who, nowMs);
  assert.deepEqual([until(['7'], T), until(null, T), until(['8'], T)], [T - 5 * MIN, T - 5 * MIN, T]);
  assert.equal(refused(T - 5 * MIN, T, ['7'], T), null, 'what is stored of it holds meanwhile');
  const knew = (minute, who) => coverage.knewAll(T + minute * MIN, who);
  assert.deepEqual([knew(-11, ['7']), knew(-9, ['7']), knew(1, ['7', '8']), knew(1, ['8']), knew(1, [])], [true, false, false, true, true]);
  assert.deepEqual([coverage.missedAt(T - 9 * MIN), coverage.divergedSince()], [[], Infinity], 'they are located anyway');
  const [{ part, done }] = takeDue(coverage, () => T + 20_000, () => false);
  assert.deepEqual([part.staff, until(['7'], T + 20_000)], [['7'], T - 5 * MIN]);
  done();
  await coverage.tick(T + 30_000, T + 30_000);
  assert.deepEqual([until(['7'], T + 30_000), knew(-9, ['7']), knew(1, ['7'])], [T, false, true]);
  assert.deepEqual(coverage.missedAt(T - 9 * MIN), [{ fromMs: T - 10 * MIN, toMs: T + 30_000, staff: ['7'] }]);
  assert.deepEqual(coverage.missedAt(T + MIN), []);
});

test('near times are one, those of phones apart from those of tags; they wait for quiet, but not for ever', async () => {
  const { coverage } = rig({ caughtUp: false });
  const hasTags = (id) => id === 't';
  for (const [id, s] of [['0', -300], ['1', -250], ['t', -260], ['2', -5000]]) coverage.late(id, T + s * 1000, T);
  for (let ms = T; ms < T + 5 * MIN - 1000; ms += 10_000) {
    coverage.late('2', T - 5_000_000, ms);
    await coverage.tick(ms, ms);
    const parts = coverage.takeDue(ms, hasTags);
    const found = parts.map(({ fromMs, toMs, staff }) => [(fromMs - T) / 1000, (toMs - T) / 1000, staff]);
    assert.deepEqual(found, ms === T + 20_000 ? [[-260, -250, ['t']], [-300, -240, ['0', '1']]] : []);
    parts.forEach((part) => coverage.published(part, ms));
  }
  assert.equal(coverage.takeDue(T + 5 * MIN, hasTags)[0].staff[0], '2');
});

test('late readings that nobody locates, and a start that does not get on, make health degraded', async () => {
  const { coverage } = rig();
  await coverage.tick(T, T);
  coverage.late('7', T - DAY, T);
  for (let ms = T; ms <= T + 11 * MIN; ms += 5000) await coverage.tick(ms, ms);
  assert.match(coverage.overdue(T + 11 * MIN), /late readings of 1 people/);
  const stuck = rig({ caughtUp: false }).coverage;
  assert.equal(stuck.overdue(T + 9 * MIN), '');
  assert.match(stuck.overdue(T + 11 * MIN), /without progress/);
});

/** A record that is what was saved last, as after a kill. */
const recordIn = () => {
  let kept = null;
  return {
    load: () => kept ?? { gaps: {}, requests: {}, live: null },
    save: async (value) => { kept = JSON.parse(JSON.stringify(value)); },
  };
};

test('after a kill what was stored stays located, the rest is to be located: also what was being located', async () => {
  const record = recordIn();
  const { coverage } = rig({ record });
  coverage.late('7', T - DAY, T);
  for (let ms = T; ms <= T + MIN; ms += 5000) await coverage.tick(ms, ms);
  coverage.takeDue(T + MIN, () => false);
  coverage.request(T - 2 * DAY, T - DAY);
  await coverage.settle();
  const next = rig({ record, startedMs: T + 5 * MIN, caughtUp: false });
  const { fromMs, known } = next.coverage.beforeStart();
  assert.ok(known && fromMs <= T + MIN - MARGIN_MS && fromMs > T + MIN - MARGIN_MS - 26_000, new Date(fromMs).toISOString());
  assert.match(next.refused(fromMs, fromMs + 1, [], T + 5 * MIN), /being located again/);
  assert.equal(next.refused(EVER, fromMs, ['8'], T + 5 * MIN), null);
  assert.match(next.refused(EVER, fromMs, ['7'], T + 5 * MIN), /for 7/);
  assert.deepEqual(next.coverage.takeDue(T + 6 * MIN, () => false).map(({ staff }) => staff), [['7']]);
  assert.deepEqual(next.coverage.requests().map((one) => [one.fromMs, one.toMs]), [[T - 2 * DAY, T - DAY]], 'by hand, too');
});

test('a start that is killed goes on where it was', async () => {
  const record = recordIn();
  await rig({ record }).coverage.settle();
  const first = rig({ record }).coverage;
  for (let ms = T; ms <= T + 20_000; ms += 5000) await first.tick(ms, ms);
  await first.settle();
  const second = rig({ record, startedMs: T + DAY, caughtUp: false }).coverage;
  const { fromMs } = second.beforeStart();
  second.locateBeforeStart(fromMs);
  second.published({ fromMs, toMs: T + DAY / 2, staff: null }, T + DAY);
  for (let ms = T + DAY; ms <= T + DAY + 20_000; ms += 5000) await second.tick(ms, ms);
  await second.settle();
  for (const days of [2, 3, 4]) {
    const { coverage } = rig({ record, startedMs: T + days * DAY, caughtUp: false });
    assert.equal(coverage.beforeStart().fromMs, T + DAY / 2, 'however often');
    coverage.locateBeforeStart(T + DAY / 2);
    await coverage.tick(0, T + days * DAY + 20_000);
    await coverage.settle();
  }
});

test('without a record nothing counts as located until it is known elsewhere', () => {
  const { coverage, refused } = rig({ caughtUp: false });
  assert.deepEqual(coverage.beforeStart(), { fromMs: T - RETENTION_MS, known: false });
  assert.match(refused(EVER, EVER + 1, [], T), /being located again/);
  assert.equal(coverage.settledMs(T), 0);
  coverage.locateBeforeStart(T - MIN);
  assert.equal(refused(EVER, T - MIN, [], T), null);
  assert.match(refused(EVER, T - MIN + 1, [], T), /being located again/);
});

test('what memory does not bridge is incomplete as soon as heartbeats fail', async () => {
  const { coverage, refused } = rig();
  await coverage.tick(T, T);
  assert.equal(refused(EVER, T + ALIVE_MS, [], T + ALIVE_MS), null);
  assert.match(refused(EVER, T + ALIVE_MS, [], T + ALIVE_MS + 1), /on its way/);
});

test('the record on disk: written whole, read again; what an earlier release kept is read once', async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'coverage-'));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  const warned = [];
  const record = createRecord(folder, (text) => warned.push(text));
  const earlier = path.join(folder, 'late.json');
  fs.writeFileSync(earlier, JSON.stringify({ v: 1, times: [{ fromMs: T - DAY, toMs: T - DAY + 9, staff: ['7'], gateways: false }, {}] }));
  const first = rig({ record });
  assert.equal(first.coverage.beforeStart().known, false);
  for (let ms = T; ms <= T + 10_000; ms += 5000) await first.coverage.tick(ms, ms);
  assert.match(first.refused(EVER, T, ['7'], T + 10_000), /for 7/);
  await first.coverage.settle();
  assert.ok(!fs.existsSync(earlier));
  const second = rig({ record, startedMs: T + MIN, caughtUp: false });
  assert.equal(second.coverage.beforeStart().known, true);
  assert.match(second.refused(EVER, T - DAY + 1000, ['7'], T + MIN), /for 7/);
  assert.deepEqual(warned, []);
  fs.writeFileSync(path.join(folder, 'coverage.json'), '{"v":1,"gaps":');
  assert.equal(rig({ record, caughtUp: false }).coverage.beforeStart().known, false);
  assert.match(warned[0], /coverage.json cannot be read, the newest heartbeat in InfluxDB says what is located/);
});
