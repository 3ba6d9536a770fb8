'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');
const fc = require('./support/fast-check');
const { createAudit, PRESENT_MS, SINGLE_MAX } = require('../lib/access/audit');
const { readAudit, sizeOfSubjects: size } = require('../lib/access');
const { compact, covers } = require('../lib/access/audit-read');
const { createSystemAnswers } = require('../lib/http/v1/answers/system');

const NOW = Date.UTC(2026, 10, 21, 12);
const DAY = 86_400_000;
const HACS = { name: 'hacs', keyId: '2f1fdaed', address: '10.0.0.5' };
const ADA = { name: 'login:ada', keyId: null, address: '10.0.0.6' };
const ALWAYS = { fromMs: 0, toMs: Date.UTC(9999, 0) };

/** An audit log in a folder of its own, with a clock that the test moves. */
function rig(t, bounds = {}) {
  const folder = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'audit-')), 'audit');
  const one = { folder, now: NOW, warned: [], bounds };
  const warn = (text) => one.warned.push(text);
  one.start = () => {
    const audit = createAudit({ folder, clock: () => one.now, warn, bounds: one.bounds });
    t.after(() => audit.close());
    one.audit = audit;
  };
  one.start();
  t.after(() => fs.rmSync(path.dirname(folder), { recursive: true, force: true }));
  one.all = async (question = {}) => {
    await one.audit.settle();
    return (await readAudit(folder, { ...ALWAYS, ...question }, null, 1e6)).entries;
  };
  const reader = { name: 'login:reader', keyId: null, address: '10.0.0.7' };
  const ask = { params: {}, window: ALWAYS, caller: reader, next: (last) => last };
  one.page = (limit, after) => createSystemAnswers({ audit: one.audit, clock: () => one.now }).listAudit({ ...ask, after, limit });
  one.pass = (ms) => {
    one.now += ms;
    one.audit.tick();
  };
  return one;
}

const anId = fc.oneof(fc.nat(30).map(String), fc.nat(30).map((n) => String(n).padStart(3, '0')), fc.nat(12).map((n) => `S-${n}`),
  fc.constantFrom('ada', 'x.1', '12345678901234567890', '9', '99', 'S-'));

test('many ids in few words cover exactly those people, in whatever order they come', () => {
  assert.deepEqual(compact(['4', '2', '3', '0', 'ada']), ['ada', '0', ['2', '4']]);
  assert.deepEqual(compact(['007', '008', '009', '010', '8']), ['8', ['007', '010']]);
  assert.deepEqual(compact(Array.from({ length: 10_000 }, (_, i) => String(i))), [['0', '9999']]);
  fc.assert(fc.property(fc.array(anId, { maxLength: 60 }), fc.array(anId, { maxLength: 30 }), (ids, others) => {
    const entries = compact(ids);
    assert.deepEqual(compact([...ids].reverse()), entries);
    assert.equal(size(entries), new Set(ids).size);
    for (const id of ids) assert.ok(covers(entries, id), id);
    for (const id of others) assert.equal(covers(entries, id), ids.includes(id), id);
  }));
  assert.ok(covers('*', 'anybody'));
  assert.equal(size('*'), null);
});

test('a look-up of the past is written at once, with who, about which people, which window and when', async (t) => {
  const { audit, all, folder, now } = rig(t);
  await audit.lookedUp(HACS, '/extractbeacon', '7', NOW - DAY, NOW);
  const file = path.join(folder, '2026-11-21.jsonl');
  assert.match(fs.readFileSync(file, 'utf8'), /"subjects":\["7"\].*\n$/, 'the file has it when it may be answered');
  assert.deepEqual(await all(), [{ ts: now, kind: 'lookup', who: 'hacs', key: '2f1fdaed', address: '10.0.0.5', route: '/extractbeacon', subjects: ['7'],
    from_ms: NOW - DAY, to_ms: NOW, count: 1 }]);
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  assert.equal(fs.statSync(folder).mode & 0o777, 0o700);
});

test('polls of the present become one line a minute: people together, how many, over which time', async (t) => {
  const one = rig(t);
  for (let round = 0; round < 6; round += 1) {
    for (let i = 0; i < 100; i += 1) one.audit.lookedUp(HACS, '/extractbeacon', String(i), one.now - 10_000, one.now);
    one.audit.lookedUp(ADA, '/extractbeacon', '*', one.now - PRESENT_MS, one.now);
    one.pass(10_000);
    if (round < 5) assert.deepEqual(await one.all(), []);
  }
  const seen = ({ who, subjects, count, from_ms: from, to_ms: to, since_ms: since }) => [who, subjects, count, from, to, since];
  assert.deepEqual((await one.all()).map(seen), [
    ['hacs', [['0', '99']], 600, NOW - 10_000, NOW + 50_000, NOW], ['login:ada', '*', 6, NOW - PRESENT_MS, NOW + 50_000, NOW]]);
  assert.deepEqual(one.audit.counters(), { lookups: 606, single: 0, lines: 2, dropped: 0, waiting_bytes: 0 });
});

test('many people who are no range are written once a day, and named after that', async (t) => {
  const one = rig(t);
  const ids = Array.from({ length: 500 }, (_, i) => String(i * 3));
  const poll = (who = ids) => {
    for (const id of who) one.audit.lookedUp(HACS, '/extractbeacon', id, one.now - 10_000, one.now);
    one.pass(60_000);
  };
  poll();
  poll();
  poll([...ids, '1000']);
  await one.audit.settle();
  const lines = fs.readFileSync(path.join(one.folder, '2026-11-21.jsonl'), 'utf8').trim().split('\n').map(JSON.parse);
  assert.deepEqual(lines.map((line) => ('set' in line ? 'set' : line.subjects_count)), ['set', 500, 500, 'set', 501]);
  one.now += DAY;
  poll();
  assert.deepEqual((await one.all()).map(({ subjects }) => size(subjects)), [500, 500, 501, 500]);
  assert.deepEqual((await one.all({ subject: '1000' })).length, 1);
  assert.equal((await one.all({ subject: '6' })).length, 4);
  assert.equal((await one.all({ subject: '7' })).length, 0);
  const page = await one.page(1, null);
  assert.equal(page.entries[0].subjects.length, 100);
  assert.equal(page.entries[0].subjects_count, 500);
});

test('who asks for the past faster than any person reads is gathered too, and nobody is left out', async (t) => {
  const one = rig(t);
  for (let i = 0; i < SINGLE_MAX + 300; i += 1) one.audit.lookedUp(HACS, '/extractbeacon', String(i), NOW - DAY, NOW);
  one.audit.lookedUp(ADA, '/extractbeacon', '3', NOW - DAY, NOW);
  assert.equal((await one.all()).length, SINGLE_MAX + 1);
  one.pass(60_000);
  const entries = await one.all();
  assert.equal(entries.length, SINGLE_MAX + 2);
  assert.deepEqual([entries.at(-1).subjects, entries.at(-1).count], [[[String(SINGLE_MAX), String(SINGLE_MAX + 299)]], 300]);
  one.audit.lookedUp(HACS, '/extractbeacon', '1', NOW - DAY, NOW);
  assert.equal((await one.all()).length, SINGLE_MAX + 3, 'in the next minute one by one again');
});

test('more people than can be written are everybody, never too few', async (t) => {
  const one = rig(t);
  for (let i = 0; i < 20_001; i += 1) one.audit.lookedUp(HACS, '/x', `id-${i}`, one.now, one.now);
  one.pass(60_000);
  assert.equal((await one.all())[0].subjects, '*');
});

test('pages go on where the one before ended, by time, by caller and by person', async (t) => {
  const one = rig(t);
  for (let i = 0; i < 25; i += 1) {
    one.audit.lookedUp(i % 2 ? HACS : ADA, '/x', String(i), 0, 1000);
    one.now += DAY / 8;
  }
  await one.audit.settle();
  const seen = [];
  let after = null;
  do {
    const { entries, next } = await one.page(4, after);
    seen.push(...entries.flatMap(({ subjects }) => subjects?.[0] ?? []));
    after = next;
  } while (after);
  assert.deepEqual(seen, Array.from({ length: 25 }, (_, i) => String(i)));
  const subjects = async (question) => (await one.all(question)).map((entry) => entry.subjects[0]);
  assert.deepEqual(await subjects({ fromMs: NOW + DAY / 8, toMs: NOW + DAY / 2 }), ['1', '2', '3']);
  assert.deepEqual(await subjects({ who: 'hacs', toMs: NOW + DAY / 2 }), ['1', '3']);
  assert.deepEqual(await subjects({ subject: '7' }), ['7']);
  for (const id of ['x', '', '2026-11-21 -1', '../../etc 1']) await assert.rejects(one.page(4, { id }), /cursor is none of ours/);
  assert.deepEqual((await one.all({ who: 'login:reader' })).map(({ kind, about }) => [kind, about]),
    [['audit_read', '1970-01-01T00:00:00.000Z to 9999-01-01T00:00:00.000Z']], 'the pages of one question are one reading');
});

test('what admins do is written, and is in no answer about people', async (t) => {
  const one = rig(t);
  one.audit.adminAction('key_added', ADA, 'hacs (2f1fdaed): history');
  one.audit.adminAction('key_revoked', null, 'hacs (2f1fdaed)');
  assert.deepEqual(await one.all(), [
    { ts: NOW, kind: 'key_added', who: 'login:ada', key: null, address: '10.0.0.6', about: 'hacs (2f1fdaed): history' },
    { ts: NOW, kind: 'key_revoked', who: null, key: null, address: null, about: 'hacs (2f1fdaed)' }]);
  assert.deepEqual(await one.all({ subject: '7' }), []);
});

test('a kill costs what was being gathered; a line it broke off costs only itself', async (t) => {
  const one = rig(t);
  one.audit.lookedUp(HACS, '/x', '1', 0, 1000);
  one.audit.lookedUp(HACS, '/x', '2', NOW, NOW);
  await one.audit.settle();
  fs.appendFileSync(path.join(one.folder, '2026-11-21.jsonl'), '{"ts":17952');
  one.start();
  one.audit.lookedUp(HACS, '/x', '3', 0, 1000);
  assert.deepEqual((await one.all()).map(({ subjects }) => subjects[0]), ['1', '3']);
});

test('an orderly stop writes what was gathered', async (t) => {
  const one = rig(t);
  one.audit.lookedUp(HACS, '/x', '2', NOW, NOW);
  await one.audit.close();
  assert.deepEqual((await one.all()).map(({ subjects }) => subjects[0]), ['2']);
});

test('a disk that takes nothing: lines wait, in bounds, what does not fit is counted, and it goes on by itself', async (t) => {
  const one = rig(t, { queueBytes: 2000 });
  fs.writeFileSync(one.folder, 'in the way');
  for (let i = 0; i < 20; i += 1) one.audit.lookedUp(HACS, '/x', String(i), 0, 1000);
  await one.audit.settle();
  one.pass(1000);
  await one.audit.settle();
  const { dropped } = one.audit.counters();
  assert.ok(dropped > 0 && dropped < 20, `${dropped}`);
  assert.equal(one.audit.part().status, 'degraded');
  assert.match(one.audit.part().reason, /cannot be written/);
  fs.rmSync(one.folder);
  one.pass(1000);
  await one.audit.settle();
  assert.equal(one.audit.part().status, 'up');
  assert.deepEqual((await one.all()).map(({ subjects }) => subjects[0]), Array.from({ length: 20 - dropped }, (_, i) => String(i)));
  assert.equal(one.warned.filter((text) => /^the audit log (cannot|can) be written/.test(text)).length, 2);
});

test('a disk that hangs holds an answer up for a while only, a poll of the present not at all; the line waits', async (t) => {
  const one = rig(t);
  let goOn = () => {};
  const real = fs.promises.open;
  t.mock.method(fs.promises, 'open', async (...args) => {
    await new Promise((resolve) => { goOn = resolve; });
    return real(...args);
  });
  assert.equal(one.audit.lookedUp(ADA, '/x', '1', NOW, NOW), undefined);
  await one.audit.lookedUp(HACS, '/x', '2', 0, 1000);
  assert.equal(one.audit.counters().lines, 0);
  goOn();
  assert.deepEqual((await one.all()).map(({ subjects }) => subjects[0]), ['2']);
});

test('a day that is large is written in less words, a full one in none, and that is counted; the next day begins anew', async (t) => {
  const one = rig(t, { largeBytes: 1000, fileBytes: 3000 });
  for (let i = 0; i < 50; i += 1) one.audit.lookedUp(HACS, '/x', String(i), 0, 1000);
  one.pass(60_000);
  const entries = await one.all();
  assert.ok(entries.length < 10);
  assert.equal(entries.reduce((sum, { count }) => sum + count, 0), 50);
  for (let i = 0; i < 40; i += 1) one.audit.adminAction('x', ADA, 'y'.repeat(100));
  assert.ok(one.audit.counters().dropped > 10);
  assert.match(one.audit.part().reason, /is full/);
  assert.match(one.warned[0], /2026-11-21 is full/);
  one.now += DAY;
  one.audit.lookedUp(HACS, '/x', '7', 0, 1000);
  assert.equal((await one.all()).at(-1).subjects[0], '7');
  assert.equal(one.audit.part().status, 'up');
});

test('ninety days are kept, and nothing else is touched', async (t) => {
  const one = rig(t);
  fs.mkdirSync(one.folder);
  for (const name of ['2026-08-22.jsonl', '2026-08-23.jsonl', '2020-01-01.jsonl', 'notes.txt']) fs.writeFileSync(path.join(one.folder, name), '');
  one.audit.tick();
  const end = Date.now() + 5000;
  while (fs.readdirSync(one.folder).length > 2 && Date.now() < end) await new Promise((resolve) => { setTimeout(resolve, 10); });
  assert.deepEqual(fs.readdirSync(one.folder).sort(), ['2026-08-23.jsonl', 'notes.txt']);
});

test('lines of an earlier version, which named people otherwise, are found by person too', async (t) => {
  const one = rig(t);
  fs.mkdirSync(one.folder);
  const line = (entry) => `${JSON.stringify(entry)}\n`;
  fs.writeFileSync(path.join(one.folder, '2026-11-20.jsonl'), line({ ts: NOW - 1, kind: 'lookup', who: 'x', whom: ['7'] })
    + line({ set: 'abc', whom: [['10', '19']] }) + line({ ts: NOW - 1, kind: 'lookup', who: 'x', whom_set: 'abc', whom_count: 10 }));
  assert.deepEqual((await one.all({ fromMs: NOW - DAY, subject: '7' })).map(({ subjects }) => subjects), [['7']]);
  assert.deepEqual((await one.all({ fromMs: NOW - DAY, subject: '12' })).map(({ subjects }) => subjects), [[['10', '19']]]);
});

test('whatever was looked up, its line is found again by its people', async (t) => {
  const lookup = fc.record({ ids: fc.uniqueArray(anId, { minLength: 1, maxLength: 40 }), past: fc.boolean(), wait: fc.nat(90_000) });
  await fc.assert(fc.asyncProperty(fc.array(lookup, { minLength: 1, maxLength: 12 }), async (lookups) => {
    const one = rig(t);
    for (const { ids, past, wait } of lookups) {
      one.audit.lookedUp(HACS, '/x', ids, past ? 0 : one.now, one.now);
      one.pass(wait);
    }
    await one.audit.close();
    const entries = await one.all();
    assert.equal(entries.reduce((sum, { count }) => sum + count, 0), lookups.length);
    const asked = new Set(lookups.flatMap(({ ids }) => ids));
    for (const id of ['ada', '0', '29', '007', 'S-3', 'nobody']) assert.equal(entries.some(({ subjects }) => covers(subjects, id)), asked.has(id), id);
  }), { numRuns: 60 });
});

test('whose question is passed on is written behind the name of the key; who asks for the key finds all of them', async (t) => {
  const { audit, all } = rig(t);
  const entry = { name: 'entry', keyId: '00c0ffee', address: '10.0.0.9' };
  await audit.lookedUp({ ...entry, onBehalfOf: 'hacs' }, '/extractbeacon', '7', NOW - DAY, NOW);
  await audit.lookedUp({ ...entry, onBehalfOf: '10.0.0.4' }, '/extractbeacon', '7', NOW - DAY, NOW);
  await audit.lookedUp({ ...entry, name: 'entry2' }, '/extractbeacon', '7', NOW - DAY, NOW);
  await audit.adminAction('rebuild_asked', { ...entry, onBehalfOf: 'ada' }, 'all');
  assert.deepEqual((await all({ who: 'entry' })).map(({ who, key }) => [who, key]),
    [['entry/hacs', '00c0ffee'], ['entry/10.0.0.4', '00c0ffee'], ['entry/ada', '00c0ffee']]);
  assert.deepEqual((await all({ who: 'entry/hacs' })).length, 1);
  for (let i = 0; i < SINGLE_MAX * 2; i += 1) await audit.lookedUp({ ...entry, onBehalfOf: `n${i}` }, '/extractbeacon', '7', NOW - DAY, NOW);
  assert.equal(audit.counters().single, SINGLE_MAX + 1, 'names are no way around the bound of a key');
});
