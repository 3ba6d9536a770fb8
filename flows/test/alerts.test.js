'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, test } = require('node:test');
const fc = require('./support/fast-check');
const { createAlerts } = require('../lib/alerts');
const { createBook, ENDED_KEPT_MS, MOST, START_MS } = require('../lib/alerts/book');
const { KINDS } = require('../lib/alerts/kinds');
const { createBuilding } = require('../lib/building');
const { createBeacons } = require('../lib/devices/beacons');
const { createGateways } = require('../lib/devices/gateways');
const { createRefusals } = require('../lib/devices/refusals');
const { createSite } = require('../lib/site');
const { smallBuilding, BEACONS, TAG } = require('./support/building');

const T = 1_700_000_000_000;
const MIN = 60_000;
const HOUR = 60 * MIN;
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'alerts-'));
after(() => fs.rmSync(root, { recursive: true }));

/** A kind that is amiss when it is told so; what is neither amiss nor well is not known. */
function played({ raiseMs = 0, endMs = 0 } = {}) {
  const state = new Map();
  const amiss = () => [...state].filter(([, value]) => value === 'amiss')
    .map(([subject]) => ({ subject, text: `${subject} is amiss`, todo: 'Mend it.' }));
  const kind = { kind: 'played', severity: 'warning', raiseMs, endMs, amiss, well: (_, { subject }) => state.get(subject) === 'well' };
  return { kind, state };
}

/** A house and all that the alerts look at. */
function house(change = () => {}) {
  const data = smallBuilding();
  change(data);
  const facts = { building: createBuilding(data), gateways: createGateways(), beacons: createBeacons(), refusals: createRefusals(),
    presences: [], connected: true, watchedMs: T, ingest: { status: 'up' }, clock: { status: 'up' },
    losses: { status: 'up' }, certificates: [] };
  const book = createBook(KINDS, T - START_MS);
  return { facts, book,
    at: (ms) => { book.look(facts, T + ms); return book.list().map(({ id, ended_ms: ended }) => (ended === null ? id : `(${id})`)); },
    hear: (kind, receiver, ms, reading) => {
      const batch = { kind, receiver, ts: T + ms, readings: [reading] };
      facts.beacons.hear(batch, facts.building, T + ms);
      if (kind === 'gateway') facts.gateways.hear(batch, facts.building, T + ms);
    },
    status: (gateway, state, ms) => facts.gateways.tell({ topic: `sda/v1/gateway/${gateway}/status`,
      payload: Buffer.from(JSON.stringify({ state, ts: T + ms })) }, facts.building, T + ms) };
}

test('an alert is raised when it lasts, ends when it is well for long enough, and is raised again', () => {
  const { kind, state } = played({ raiseMs: 10, endMs: 20 });
  const book = createBook([kind], T - START_MS);
  const at = (ms) => { book.look({}, T + ms); return book.list()[0] ?? null; };
  state.set('x', 'amiss');
  assert.equal(at(0), null);
  state.set('x', 'well');
  assert.equal(at(5), null);
  state.set('x', 'amiss');
  assert.equal(at(8), null, 'it counts from anew');
  assert.equal(at(18).since, T + 8);
  state.set('x', 'well');
  assert.equal(at(30).ended_ms, null);
  state.set('x', 'amiss');
  at(45);
  state.set('x', 'well');
  assert.equal(at(50).ended_ms, null, 'it counts from anew');
  assert.equal(at(70).ended_ms, T + 50);
  state.set('x', 'amiss');
  at(100);
  assert.deepEqual([at(110).ended_ms, at(110).raised_ms], [null, T + 110]);
});

test('who acknowledged it is kept until it ends; raised again it is new', () => {
  const { kind, state } = played();
  const book = createBook([kind], T - START_MS);
  state.set('x', 'amiss');
  book.look({}, T);
  assert.equal(book.open(), 1);
  assert.equal(book.acknowledge('played:y', 'ann', T), null);
  assert.deepEqual(book.acknowledge('played:x', 'ann', T + 1).acknowledged, { by: 'ann', ts: T + 1 });
  assert.equal(book.acknowledge('played:x', 'ben', T + 2).acknowledged.by, 'ann');
  book.look({}, T + 3);
  assert.deepEqual([book.open(), book.list()[0].acknowledged.by], [0, 'ann']);
  state.set('x', 'well');
  book.look({}, T + 4);
  assert.deepEqual(book.list(), [], 'seen and over');
  state.set('x', 'amiss');
  book.look({}, T + 5);
  assert.equal(book.list()[0].acknowledged, null);
});

test('what ended unseen stays for a day, or until somebody has seen it', () => {
  const { kind, state } = played();
  const book = createBook([kind], T - START_MS);
  for (const value of ['amiss', 'well']) {
    for (const subject of ['x', 'y']) state.set(subject, value);
    book.look({}, T);
  }
  assert.equal(book.list().length, 2);
  book.acknowledge('played:x', 'ann', T + 1);
  assert.deepEqual(book.list().map(({ subject }) => subject), ['y']);
  book.look({}, T + ENDED_KEPT_MS + 1);
  assert.deepEqual(book.list(), []);
});

test('what is not known ends nothing, nor does anything right after a start', () => {
  const { kind, state } = played();
  const before = createBook([kind], T - START_MS);
  state.set('x', 'amiss');
  before.look({}, T);
  before.acknowledge('played:x', 'ann', T);
  const book = createBook([kind], T, before.list());
  state.set('x', 'well');
  book.look({}, T + START_MS - 1);
  assert.equal(book.list()[0].acknowledged.by, 'ann');
  state.set('x', 'unknown');
  book.look({}, T + HOUR);
  assert.equal(book.list().length, 1);
  state.set('x', 'well');
  book.look({}, T + HOUR);
  assert.equal(book.list().length, 0);
});

test('there are never more than a thousand, and what did not fit is counted', () => {
  const { kind, state } = played();
  const book = createBook([kind], T - START_MS);
  for (let n = 0; n < MOST + 5; n += 1) state.set(String(n), 'amiss');
  for (const ms of [0, 1]) book.look({}, T + ms);
  assert.deepEqual([book.list().length, book.dropped()], [MOST, 5]);
  state.set('0', 'well');
  for (const ms of [2, 3]) book.look({}, T + ms);
  assert.equal(book.list().length, MOST);
  assert.ok(book.list().every(({ ended_ms: ended }) => ended === null), 'one that ended makes room');
  assert.equal(book.dropped(), 6);
});

test('whatever happens: an alert is there exactly while it is amiss or unseen, and acknowledged only by somebody', () => {
  const step = fc.record({ subject: fc.constantFrom('a', 'b'), what: fc.constantFrom('amiss', 'well', 'unknown', 'acknowledge') });
  fc.assert(fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
    const { kind, state } = played();
    const book = createBook([kind], T - START_MS);
    const model = new Map(); // subject → {active, seen}
    steps.forEach(({ subject, what }, i) => {
      const known = model.get(subject);
      if (what === 'acknowledge') {
        assert.equal(book.acknowledge(`played:${subject}`, 'ann', T + i) !== null, known !== undefined);
        if (known?.active) known.seen = true;
        else model.delete(subject);
      } else {
        state.set(subject, what);
        if (what === 'amiss' && !known?.active) model.set(subject, { active: true, seen: false });
        if (what === 'well' && known?.active) model.set(subject, { active: false, seen: false });
        if (what === 'well' && known?.active && known.seen) model.delete(subject);
      }
      book.look({}, T + i);
      assert.deepEqual(book.list().map((one) => [one.subject, one.ended_ms === null, one.acknowledged !== null]).sort(),
        [...model].map(([id, { active, seen }]) => [id, active, seen]).sort());
    });
  }));
});

test('a gateway that is offline or silent is down, but not while the broker is away', () => {
  const { facts, at, status, hear } = house();
  status('gw-a', 'online', 0);
  status('gw-b', 'online', 0);
  assert.deepEqual(at(1000), []);
  status('gw-a', 'offline', 2000);
  assert.deepEqual(at(3000), [], 'it may be a restart');
  assert.deepEqual(at(18_000), [], 'the broker may have been restarted: agents come back spread over 15 s');
  assert.deepEqual(at(23_000), ['gateway_down:gw-a']);
  facts.connected = false;
  assert.deepEqual(at(90_000), ['gateway_down:gw-a'], 'gw-b cannot be heard now');
  facts.connected = true;
  at(91_000);
  assert.deepEqual(at(111_000), ['gateway_down:gw-b', 'gateway_down:gw-a']);
  for (const ms of [115_000, 135_000]) hear('gateway', 'gw-b', ms, { beacon: TAG, rssi: -50 });
  status('gw-a', 'online', 115_000);
  at(115_000);
  assert.deepEqual(at(146_000), ['(gateway_down:gw-b)', '(gateway_down:gw-a)']);
});

test('a beacon is silent after a day, one that was never heard a day after the start', () => {
  const { facts, at, hear, book } = house((data) => data.beacons.splice(2));
  hear('phone', '1', HOUR, { beacon: BEACONS.a, rssi: -60 });
  assert.deepEqual(at(23 * HOUR), []);
  assert.deepEqual(at(24 * HOUR), [`beacon_silent:${BEACONS.b}`]);
  assert.deepEqual(at(25 * HOUR).length, 2);
  assert.match(book.list().find(({ subject }) => subject === BEACONS.a).text, /in Room A \(Level 1\) has not been heard for a day/);
  hear('phone', '1', 26 * HOUR, { beacon: BEACONS.a, rssi: -60 });
  const gone = smallBuilding();
  gone.beacons = gone.beacons.slice(0, 1);
  facts.building = createBuilding(gone);
  assert.deepEqual(at(26 * HOUR), [`(beacon_silent:${BEACONS.a})`, `(beacon_silent:${BEACONS.b})`]);
});

test('a battery is low below 2.4 V, and well only with a fresh one', () => {
  const { at, hear, book } = house();
  hear('gateway', 'gw-a', 0, { beacon: TAG, rssi: -60, battery_mv: 2390 });
  assert.deepEqual(at(0), []);
  hear('gateway', 'gw-a', 30_000, { beacon: TAG, rssi: -60 }); // says nothing of the battery
  assert.deepEqual(at(MIN), [`battery_low:${TAG}`]);
  assert.match(book.list()[0].text, /tag AA00000000FF of Ann \(SDA 0\) is low: 2.39 V/);
  hear('gateway', 'gw-a', 2 * MIN, { beacon: TAG, rssi: -60, battery_mv: 2600 });
  at(2 * MIN);
  assert.deepEqual(at(10 * MIN), [`battery_low:${TAG}`]);
  hear('gateway', 'gw-a', 11 * MIN, { beacon: TAG, rssi: -60, battery_mv: 3000 });
  at(11 * MIN);
  assert.deepEqual(at(12 * MIN), [`(battery_low:${TAG})`]);
});

test('a room is crowded above its limit; who is lost is not in it, but is an alert', () => {
  const { facts, at, book } = house((data) => { data.levels[0].rooms[0].limit = 1; });
  const who = (state0, state1) => { facts.presences = [['0', state0], ['1', state1]].map(([id, state]) => ({ staff_id: id, level: 'L1', room: 'a', ts: T, state })); };
  who('present', 'stale');
  assert.deepEqual(at(0), ['room_crowded:a']);
  assert.match(book.list()[0].text, /2 people are in Room A \(Level 1\), whose limit is 1/);
  who('present', 'lost');
  at(1000);
  assert.deepEqual(at(40_000), ['sda_lost:1', '(room_crowded:a)']);
  facts.presences = [];
  assert.deepEqual(at(HOUR)[0], 'sda_lost:1', 'forgotten by the locator is not back');
  assert.ok(at(13 * HOUR).includes('(sda_lost:1)'), 'the shift is over');
  who('lost', 'present');
  assert.deepEqual(at(13 * HOUR + 1).slice(0, 1), ['sda_lost:0']);
  who('present', 'present');
  assert.ok(at(13 * HOUR + 2).includes('(sda_lost:0)'));
});

test('ingest that is behind is told with its reason and what to do', () => {
  const { facts, at, book } = house();
  facts.ingest = { status: 'degraded', reason: 'no heartbeat has arrived for 20 s', remedy: 'look at the log of telegraf' };
  at(0);
  assert.deepEqual(at(10_000), ['ingest_behind:ingest']);
  assert.match(book.list()[0].text, /not being stored: no heartbeat has arrived for 20 s\./);
  assert.match(book.list()[0].todo, /^Look at the log of telegraf\. /);
  facts.ingest = { status: 'up' };
  at(11_000);
  assert.deepEqual(at(26_000), ['(ingest_behind:ingest)']);
});

test('a certificate that is not renewed in time is told, until it is', () => {
  const { facts, at, book } = house();
  const DAY = 24 * HOUR;
  const told = (ms) => at(ms).filter((id) => id.includes('certificate'));
  const alert = () => book.list().find(({ kind }) => kind === 'certificate_ending');
  const broker = (endsMs) => { facts.certificates = [{ subject: 'broker', startsMs: null, endsMs }]; };
  broker(T + 22 * DAY);
  assert.deepEqual(told(0), []);
  assert.deepEqual(told(DAY + 1), ['certificate_ending:broker']);
  assert.match(alert().text, /ends in 20 days and was not renewed/);
  assert.equal(alert().severity, 'critical');
  broker(null);
  assert.deepEqual(told(2 * DAY), ['certificate_ending:broker'], 'a broker that shows none ends nothing');
  broker(T + 22 * DAY);
  told(23 * DAY);
  assert.match(alert().text, /has ended and was not renewed/);
  broker(T + 400 * DAY);
  assert.deepEqual(told(23 * DAY + 1), ['(certificate_ending:broker)']);
});

test('so is that of HTTPS; one of few days counts as late in its last quarter only', () => {
  const { facts, at, book } = house();
  const DAY = 24 * HOUR;
  const told = (ms) => at(ms).filter((id) => id.includes('certificate'));
  facts.certificates = [{ subject: 'https', startsMs: T, endsMs: T + 8 * DAY }];
  assert.deepEqual(told(6 * DAY), []);
  assert.deepEqual(told(6 * DAY + 1), ['certificate_ending:https']);
  assert.match(book.list()[0].text, /of HTTPS ends in 1 days/);
  facts.certificates = [];
  assert.deepEqual(told(7 * DAY), ['(certificate_ending:https)'], 'HTTPS was switched off');
});

test('who sends what is refused is told, until five minutes without', () => {
  const { facts, at, book } = house();
  facts.refusals.add({ kind: 'phone', receiver: '7', reason: 'ts_ahead', detail: 'ts 9 is ahead', count: 1 }, T);
  facts.refusals.add({ kind: 'unknown', receiver: '../etc', reason: 'not_a_batch', detail: 'no topic', count: 1 }, T);
  assert.deepEqual(at(0), ['messages_refused:7', 'messages_refused:unknown']);
  assert.match(book.list()[0].text, /What phone 7 sends is refused: ts 9 is ahead \(ts_ahead; 1 since the start\)/);
  assert.match(book.list()[0].todo, /clock is ahead/);
  for (let ms = 0; ms < 5 * MIN; ms += 1000) assert.ok(!at(ms)[0].startsWith('('));
  assert.deepEqual(at(5 * MIN), ['(messages_refused:7)', '(messages_refused:unknown)']);
});

test('every kind has a text that names what to do', () => {
  assert.deepEqual(KINDS.map(({ kind }) => kind).sort(),
    ['battery_low', 'beacon_silent', 'certificate_ending', 'clock_behind', 'gateway_down', 'ingest_behind', 'messages_lost',
      'messages_refused', 'room_crowded', 'sda_lost']);
});

test('refusals are counted by reason, and bounded by receiver', () => {
  const refusals = createRefusals();
  for (let n = 0; n < 1000; n += 1) refusals.add({ kind: 'phone', receiver: `r${n}`, reason: 'ts_ahead', detail: 'x', count: 2 }, T + n);
  assert.deepEqual(refusals.byReason(), { ts_ahead: 2000 });
  assert.equal(refusals.latest().length, 256);
  assert.deepEqual([refusals.latest()[0].receiver, refusals.of('r0')], ['r999', null]);
});

/** The alerts of a site, kept in a file. */
function open(file, ingest = () => ({ status: 'up' })) {
  const parts = (nowMs) => ({ ingest: ingest(nowMs) });
  const site = createSite(createBuilding(smallBuilding()), T);
  site.outbox.attach({ send: () => {}, connected: () => true });
  const said = [];
  return { site, said, alerts: createAlerts({ site, parts, file, clock: () => T + 5, warn: (text) => said.push(text) }) };
}

test('what was acknowledged is so after a restart', async () => {
  const file = path.join(root, 'alerts.json');
  const degraded = () => ({ status: 'degraded', reason: 'r', remedy: 'm' });
  const first = open(file, degraded);
  await first.alerts.look(T);
  await first.alerts.look(T + 10_000);
  assert.equal(first.alerts.open(), 1);
  assert.equal((await first.alerts.acknowledge('ingest_behind:ingest', 'ann')).acknowledged.by, 'ann');
  const second = open(file, degraded);
  await second.alerts.look(T + 20_000);
  assert.deepEqual(second.alerts.list().map(({ id, acknowledged }) => [id, acknowledged]), [['ingest_behind:ingest', { by: 'ann', ts: T + 5 }]]);
  assert.equal(second.alerts.open(), 0);
});

test('a file that is no list of alerts is said so, and one that cannot be written too, once', async () => {
  const file = path.join(root, 'bad.json');
  fs.writeFileSync(file, '{"alerts": 5}');
  const bad = open(file, () => ({ status: 'degraded' }));
  assert.match(bad.said[0], /is not read/);
  fs.rmSync(file);
  fs.mkdirSync(file);
  for (const ms of [0, 10_000, 20_000]) await bad.alerts.look(T + ms);
  assert.equal(bad.said.length, 2);
  assert.match(bad.said[1], /not kept over a restart/);
});

test('what the flows refuse is an alert', async () => {
  const { site, alerts } = open(path.join(root, 'refused.json'));
  site.hear('sda/v1/phone/9/readings', Buffer.from('no JSON'), T);
  await alerts.look(T);
  assert.deepEqual(alerts.list().map(({ id }) => id), ['messages_refused:9']);
});

const lostOnes = (count, state = 'lost', from = 0) => Array.from({ length: count }, (_, i) => (
  { staff_id: String(from + i), level: 'L1', room: 'a', ts: T, state }));

test('a thousand who are lost are one alert with all of them, until they are back', () => {
  const { facts, book, at } = house();
  facts.presences = lostOnes(20);
  assert.equal(at(0).length, 20, 'a few are told one by one');
  book.acknowledgeAll('sda_lost', 'ann', T);
  facts.presences = lostOnes(1000);
  assert.equal(at(1000).length, 21);
  const many = () => book.list().find(({ subject }) => subject === 'many-sdas');
  assert.equal(many().subjects.length, 980);
  assert.match(many().text, /^980 SDAs are not heard any more: SDA 100, .* and 970 more\.$/);
  assert.equal(book.acknowledge(many().id, 'ann', T).acknowledged.by, 'ann');
  facts.presences = lostOnes(1003);
  assert.equal(at(2000).length, 24, 'a few more are not hidden in what was seen');
  facts.presences = lostOnes(1100);
  at(3000);
  assert.deepEqual([many().subjects.length, many().acknowledged], [980 + 97, null], 'many more are to be seen');
  facts.presences = lostOnes(1100, 'present');
  assert.deepEqual(at(4000).filter((id) => id.startsWith('sda_lost')), []);
  assert.equal(many().subjects.length, 1077, 'whom it was about');
});

test('of many who are lost those whom the locator has forgotten stay lost', () => {
  const { facts, book, at } = house();
  facts.presences = lostOnes(50);
  at(0);
  facts.presences = lostOnes(10, 'present');
  at(20 * MIN);
  assert.equal(book.list()[0].subjects.length, 40);
});

test('lost messages are critical, stand above everything, find room, and stay until somebody has seen them', () => {
  const { facts, book, at } = house();
  const { kind, state } = played();
  for (let i = 0; i < MOST; i += 1) state.set(`x${i}`, 'amiss');
  const full = createBook([kind, KINDS.find((one) => one.kind === 'messages_lost')], T - START_MS);
  full.look(facts, T);
  assert.equal(full.list().length, MOST);
  facts.losses = { status: 'degraded', last_ms: T - 5000, reason: 'messages that were acknowledged are being lost: 7 by the broker', remedy: 'look' };
  full.look(facts, T + 1000);
  assert.deepEqual([full.list().length, full.list()[0].id, full.dropped()], [MOST, 'messages_lost:messages', 1]);

  assert.deepEqual(at(0), ['messages_lost:messages']);
  assert.match(book.list()[0].text, /^Messages that were acknowledged are being lost: 7 by the broker\./);
  facts.losses = { status: 'up', last_ms: T };
  assert.ok(at(10 * 24 * HOUR).includes('messages_lost:messages'));
  assert.equal(book.acknowledgeAll('messages_lost', 'ann', T), 1);
  assert.equal(book.acknowledgeAll('messages_lost', 'ann', T), 0);
  assert.ok(!at(10 * 24 * HOUR + 1000).includes('messages_lost:messages'));
});
