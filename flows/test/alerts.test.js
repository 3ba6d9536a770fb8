'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, test } = require('node:test');
const fc = require('./support/fast-check');
const { createAlerts } = require('../lib/alerts');
const { ALERTS_MAX, ENDED_KEPT_MS, START_MS, createAlertList } = require('../lib/alerts/alert-list');
const { createTakeovers } = require('../lib/devices/takeovers');
const { KINDS } = require('../lib/alerts/kinds');
const { createBuilding } = require('../lib/building');
const { createBeacons } = require('../lib/devices/beacons');
const { createGateways } = require('../lib/devices/gateways');
const { Refusals } = require('../lib/live/readings');
const { Site } = require('../lib/site');
const { smallBuilding, BEACONS, TAG } = require('./support/building');
const { receive } = require('./support/receive');

const T = 1_700_000_000_000;
const MIN = 60_000;
const HOUR = 60 * MIN;
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'alerts-'));
after(() => fs.rmSync(root, { recursive: true }));

/** A kind whose conditions are set by subject: active, resolved, or anything else for not known. */
function fakeKind({ raiseMs = 0, endMs = 0, name = 'fake', severity = 'warning', place = () => ({}) } = {}) {
  const state = new Map();
  const conditions = () => [...state].filter(([, value]) => value === 'active')
    .map(([subject]) => ({ subject, text: `${subject} is active`, todo: 'Repair it.', ...place(subject) }));
  const kind = { kind: name, severity, todoMany: 'Repair all.', raiseMs, endMs, conditions, isResolved: (_, { subject }) => state.get(subject) === 'resolved' };
  return { kind, state };
}

/** A building and all facts that alerts are evaluated on. */
function house(change = () => {}) {
  const data = smallBuilding();
  change(data);
  const facts = { building: createBuilding(data), gateways: createGateways(), beacons: createBeacons(), refusals: new Refusals(),
    takeovers: createTakeovers(), presences: [], connected: true, watchedMs: T, ingest: { status: 'up' }, live: { status: 'up' }, clock: { status: 'up' },
    losses: { status: 'up' }, certificates: [] };
  const list = createAlertList(KINDS, T - START_MS);
  return { facts, list,
    at: (ms) => { list.evaluate(facts, T + ms); return list.list().map(({ id, ended_ms: ended }) => (ended === null ? id : `(${id})`)); },
    hear: (kind, receiver, ms, reading) => {
      const batch = { kind, receiver, ts: T + ms, readings: [reading] };
      facts.beacons.addBatch(batch, facts.building, T + ms);
      if (kind === 'gateway') facts.gateways.addBatch(batch, facts.building, T + ms);
    },
    status: (gateway, state, ms) => facts.gateways.handleMessage({ topic: `sda/v1/gateway/${gateway}/status`,
      payload: Buffer.from(JSON.stringify({ state, ts: T + ms })) }, facts.building, T + ms) };
}

test('an alert is raised when its condition lasts, ends when that is resolved for long enough, and is raised again', () => {
  const { kind, state } = fakeKind({ raiseMs: 10, endMs: 20 });
  const list = createAlertList([kind], T - START_MS);
  const at = (ms) => { list.evaluate({}, T + ms); return list.list()[0] ?? null; };
  state.set('x', 'active');
  assert.equal(at(0), null);
  state.set('x', 'resolved');
  assert.equal(at(5), null);
  state.set('x', 'active');
  assert.equal(at(8), null, 'the count starts again');
  assert.equal(at(18).since, T + 8);
  state.set('x', 'resolved');
  assert.equal(at(30).ended_ms, null);
  state.set('x', 'active');
  at(45);
  state.set('x', 'resolved');
  assert.equal(at(50).ended_ms, null, 'the count starts again');
  assert.equal(at(70).ended_ms, T + 50);
  state.set('x', 'active');
  at(100);
  assert.deepEqual([at(110).ended_ms, at(110).raised_ms], [null, T + 110]);
});

test('an acknowledgement is kept until the alert ends; an alert that is raised again has none', () => {
  const { kind, state } = fakeKind();
  const list = createAlertList([kind], T - START_MS);
  state.set('x', 'active');
  list.evaluate({}, T);
  assert.equal(list.open(), 1);
  assert.equal(list.acknowledge('fake:y', 'ann', T), null);
  assert.deepEqual(list.acknowledge('fake:x', 'ann', T + 1).acknowledged, { by: 'ann', ts: T + 1 });
  assert.equal(list.acknowledge('fake:x', 'ben', T + 2).acknowledged.by, 'ann');
  list.evaluate({}, T + 3);
  assert.deepEqual([list.open(), list.list()[0].acknowledged.by], [0, 'ann']);
  state.set('x', 'resolved');
  list.evaluate({}, T + 4);
  assert.deepEqual(list.list(), [], 'acknowledged and ended');
  state.set('x', 'active');
  list.evaluate({}, T + 5);
  assert.equal(list.list()[0].acknowledged, null);
});

test('an ended alert that nobody acknowledged stays for a day, or until somebody does', () => {
  const { kind, state } = fakeKind();
  const list = createAlertList([kind], T - START_MS);
  for (const value of ['active', 'resolved']) {
    for (const subject of ['x', 'y']) state.set(subject, value);
    list.evaluate({}, T);
  }
  assert.equal(list.list().length, 2);
  list.acknowledge('fake:x', 'ann', T + 1);
  assert.deepEqual(list.list().map(({ subject }) => subject), ['y']);
  list.evaluate({}, T + ENDED_KEPT_MS + 1);
  assert.deepEqual(list.list(), []);
});

test('an unknown state ends no alert, and no alert ends right after a start', () => {
  const { kind, state } = fakeKind();
  const before = createAlertList([kind], T - START_MS);
  state.set('x', 'active');
  before.evaluate({}, T);
  before.acknowledge('fake:x', 'ann', T);
  const list = createAlertList([kind], T, before.list());
  state.set('x', 'resolved');
  list.evaluate({}, T + START_MS - 1);
  assert.equal(list.list()[0].acknowledged.by, 'ann');
  state.set('x', 'unknown');
  list.evaluate({}, T + HOUR);
  assert.equal(list.list().length, 1);
  state.set('x', 'resolved');
  list.evaluate({}, T + HOUR);
  assert.equal(list.list().length, 0);
});

test('there are at most ten thousand alerts, and those that did not fit are counted', () => {
  const { kind, state } = fakeKind();
  const list = createAlertList([kind], T - START_MS);
  for (let n = 0; n < ALERTS_MAX + 5; n += 1) state.set(String(n), 'active');
  for (const ms of [0, 1]) list.evaluate({}, T + ms);
  assert.deepEqual([list.list().length, list.dropped()], [ALERTS_MAX, 5]);
  state.set('0', 'resolved');
  for (const ms of [2, 3]) list.evaluate({}, T + ms);
  assert.equal(list.list().length, ALERTS_MAX);
  assert.ok(list.list().every(({ ended_ms: ended }) => ended === null), 'an ended alert makes room');
  assert.equal(list.dropped(), 6);
});

test('property: an alert is listed exactly while it is active or not acknowledged, and is acknowledged by somebody only', () => {
  const step = fc.record({ subject: fc.constantFrom('a', 'b'), what: fc.constantFrom('active', 'resolved', 'unknown', 'acknowledge') });
  fc.assert(fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
    const { kind, state } = fakeKind();
    const list = createAlertList([kind], T - START_MS);
    const model = new Map(); // subject → {active, seen}
    steps.forEach(({ subject, what }, i) => {
      const known = model.get(subject);
      if (what === 'acknowledge') {
        assert.equal(list.acknowledge(`fake:${subject}`, 'ann', T + i) !== null, known !== undefined);
        if (known?.active) known.seen = true;
        else model.delete(subject);
      } else {
        state.set(subject, what);
        if (what === 'active' && !known?.active) model.set(subject, { active: true, seen: false });
        if (what === 'resolved' && known?.active) model.set(subject, { active: false, seen: false });
        if (what === 'resolved' && known?.active && known.seen) model.delete(subject);
      }
      list.evaluate({}, T + i);
      assert.deepEqual(list.list().map((one) => [one.subject, one.ended_ms === null, one.acknowledged !== null]).sort(),
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
  assert.deepEqual(at(18_000), [], 'the broker may have been restarted: agents reconnect within 15 s');
  assert.deepEqual(at(23_000), ['gateway_down:gw-a']);
  facts.connected = false;
  assert.deepEqual(at(90_000), ['gateway_down:gw-a'], 'nothing of gw-b can arrive now');
  facts.connected = true;
  at(91_000);
  assert.deepEqual(at(111_000), ['gateway_down:gw-b', 'gateway_down:gw-a']);
  for (const ms of [115_000, 135_000]) hear('gateway', 'gw-b', ms, { beacon: TAG, rssi: -50 });
  status('gw-a', 'online', 115_000);
  at(115_000);
  assert.deepEqual(at(146_000), ['(gateway_down:gw-b)', '(gateway_down:gw-a)']);
});

test('a beacon is silent a day after its last reading, or a day after the start without any', () => {
  const { facts, at, hear, list } = house((data) => data.beacons.splice(2));
  hear('phone', '1', HOUR, { beacon: BEACONS.a, rssi: -60 });
  assert.deepEqual(at(23 * HOUR), []);
  assert.deepEqual(at(24 * HOUR), [`beacon_silent:${BEACONS.b}`]);
  assert.deepEqual(at(25 * HOUR).length, 2);
  assert.match(list.list().find(({ subject }) => subject === BEACONS.a).text, /in Room A \(Level 1\) has not been heard for a day/);
  hear('phone', '1', 26 * HOUR, { beacon: BEACONS.a, rssi: -60 });
  const gone = smallBuilding();
  gone.beacons = gone.beacons.slice(0, 1);
  facts.building = createBuilding(gone);
  assert.deepEqual(at(26 * HOUR), [`(beacon_silent:${BEACONS.a})`, `(beacon_silent:${BEACONS.b})`]);
});

test('a battery is low below 2.4 V, and resolved by a fresh one only', () => {
  const { at, hear, list } = house();
  hear('gateway', 'gw-a', 0, { beacon: TAG, rssi: -60, battery_mv: 2390 });
  assert.deepEqual(at(0), []);
  hear('gateway', 'gw-a', 30_000, { beacon: TAG, rssi: -60 }); // says nothing of the battery
  assert.deepEqual(at(MIN), [`battery_low:${TAG}`]);
  assert.match(list.list()[0].text, /tag AA00000000FF of Ann \(SDA 0\) is low: 2.39 V/);
  hear('gateway', 'gw-a', 2 * MIN, { beacon: TAG, rssi: -60, battery_mv: 2600 });
  at(2 * MIN);
  assert.deepEqual(at(10 * MIN), [`battery_low:${TAG}`]);
  hear('gateway', 'gw-a', 11 * MIN, { beacon: TAG, rssi: -60, battery_mv: 3000 });
  at(11 * MIN);
  assert.deepEqual(at(12 * MIN), [`(battery_low:${TAG})`]);
});

test('a room is crowded above its limit; lost people do not count there, and have an alert each', () => {
  const { facts, at, list } = house((data) => { data.levels[0].rooms[0].limit = 1; });
  const who = (state0, state1) => { facts.presences = [['0', state0], ['1', state1]].map(([id, state]) => ({ staff_id: id, level: 'L1', room: 'a', ts: T, state })); };
  who('present', 'stale');
  assert.deepEqual(at(0), ['room_crowded:a']);
  assert.match(list.list()[0].text, /2 people are in Room A \(Level 1\), whose limit is 1/);
  who('present', 'lost');
  at(1000);
  assert.deepEqual(at(40_000), ['sda_lost:1', '(room_crowded:a)']);
  facts.presences = [];
  assert.deepEqual(at(HOUR)[0], 'sda_lost:1', 'dropped by the locator does not mean back');
  assert.ok(at(13 * HOUR).includes('(sda_lost:1)'), 'the shift is over');
  who('lost', 'present');
  assert.deepEqual(at(13 * HOUR + 1).slice(0, 1), ['sda_lost:0']);
  who('present', 'present');
  assert.ok(at(13 * HOUR + 2).includes('(sda_lost:0)'));
});

test('ingest that is behind raises an alert with the reason and what to do', () => {
  const { facts, at, list } = house();
  facts.ingest = { status: 'degraded', reason: 'no heartbeat has arrived for 20 s', remedy: 'look at the log of telegraf' };
  at(0);
  assert.deepEqual(at(10_000), ['ingest_behind:ingest']);
  assert.match(list.list()[0].text, /not being stored: no heartbeat has arrived for 20 s\./);
  assert.match(list.list()[0].todo, /^Look at the log of telegraf\. /);
  facts.ingest = { status: 'up' };
  at(11_000);
  assert.deepEqual(at(26_000), ['(ingest_behind:ingest)']);
});

test('an overload is one alert, until what waits is stored', () => {
  const { facts, at, list } = house();
  facts.ingest = { status: 'degraded', backlog: 'overloaded', reason: 'overloaded: offered 9/s, taken 6/s, behind by 16 s', remedy: 'a larger machine' };
  at(0);
  assert.deepEqual(at(10_000), ['overloaded:ingest']);
  assert.match(list.list()[0].text, /^Overloaded: offered 9\/s, taken 6\/s, behind by 16 s\./);
  facts.ingest = { ...facts.ingest, backlog: 'catching_up' };
  at(11_000);
  assert.deepEqual(at(60_000), ['overloaded:ingest']);
  facts.ingest = { status: 'up', backlog: 'none' };
  at(61_000);
  assert.deepEqual(at(76_000), ['(overloaded:ingest)']);
});

test('an overload of the live view is an alert of its own', () => {
  const { facts, at, list } = house();
  facts.live = { status: 'degraded', overloaded: true, reason: 'overloaded: offered 9/s, taken 6/s, behind by 0.5 s', remedy: 'a larger machine' };
  at(0);
  assert.deepEqual(at(10_000), ['overloaded:live']);
  assert.equal(list.list()[0].severity, 'critical');
  facts.live = { status: 'up', overloaded: false };
  at(11_000);
  assert.deepEqual(at(30_000), ['(overloaded:live)']);
});

test('a certificate that is not renewed in time has an alert until it is renewed', () => {
  const { facts, at, list } = house();
  const DAY = 24 * HOUR;
  const certificateAlerts = (ms) => at(ms).filter((id) => id.includes('certificate'));
  const alert = () => list.list().find(({ kind }) => kind === 'certificate_ending');
  const broker = (endsMs) => { facts.certificates = [{ subject: 'broker', startsMs: null, endsMs }]; };
  broker(T + 22 * DAY);
  assert.deepEqual(certificateAlerts(0), []);
  assert.deepEqual(certificateAlerts(DAY + 1), ['certificate_ending:broker']);
  assert.match(alert().text, /ends in 20 days and was not renewed/);
  assert.equal(alert().severity, 'critical');
  broker(null);
  assert.deepEqual(certificateAlerts(2 * DAY), ['certificate_ending:broker'], 'a broker without a certificate resolves nothing');
  broker(T + 22 * DAY);
  certificateAlerts(23 * DAY);
  assert.match(alert().text, /has ended and was not renewed/);
  broker(T + 400 * DAY);
  assert.deepEqual(certificateAlerts(23 * DAY + 1), ['(certificate_ending:broker)']);
});

test('the certificate of HTTPS has an alert too; a short-lived one is late in its last quarter only', () => {
  const { facts, at, list } = house();
  const DAY = 24 * HOUR;
  const certificateAlerts = (ms) => at(ms).filter((id) => id.includes('certificate'));
  facts.certificates = [{ subject: 'https', startsMs: T, endsMs: T + 8 * DAY }];
  assert.deepEqual(certificateAlerts(6 * DAY), []);
  assert.deepEqual(certificateAlerts(6 * DAY + 1), ['certificate_ending:https']);
  assert.match(list.list()[0].text, /of HTTPS ends in 1 days/);
  facts.certificates = [];
  assert.deepEqual(certificateAlerts(7 * DAY), ['(certificate_ending:https)'], 'HTTPS was switched off');
});

test('a sender of refused messages has an alert until five minutes without one', () => {
  const { facts, at, list } = house();
  facts.refusals.add({ kind: 'phone', receiver: '7', reason: 'ts_ahead', detail: 'ts 9 is ahead', count: 1 }, T);
  facts.refusals.add({ kind: 'unknown', receiver: '../etc', reason: 'not_a_batch', detail: 'no topic', count: 1 }, T);
  assert.deepEqual(at(0), ['messages_refused:7', 'messages_refused:unknown']);
  assert.match(list.list()[0].text, /What phone 7 sends is refused: ts 9 is ahead \(ts_ahead; 1 since the start\)/);
  assert.match(list.list()[0].todo, /clock is ahead/);
  for (let ms = 0; ms < 5 * MIN; ms += 1000) assert.ok(!at(ms)[0].startsWith('('));
  assert.deepEqual(at(5 * MIN), ['(messages_refused:7)', '(messages_refused:unknown)']);
});

test('stamps out of bounds are refused, counted, and an alert that says what the clock does', async () => {
  const { site, alerts } = open(path.join(root, 'stamps.json'));
  const stamps = { ahead: T + 6 * MIN, microseconds: T * 1000, epoch: 0, seconds: T / 1000, year1970: 86_400_000 };
  for (const [id, ts] of Object.entries(stamps)) {
    receive(site, `sda/v1/phone/${id}/readings`, Buffer.from(JSON.stringify({ ts, readings: [{ beacon: BEACONS.a, rssi: -50 }] })), T);
  }
  await alerts.evaluate(T);
  assert.deepEqual(site.live.refusals.byReason(), { ts_ahead: 2, ts_too_old: 3 });
  assert.deepEqual(alerts.list().map(({ id, todo }) => [id, /clock/.test(todo)]).sort(),
    Object.keys(stamps).map((id) => [`messages_refused:${id}`, true]).sort());
  assert.deepEqual(site.live.presences(), []);
  assert.deepEqual(site.clocks.wrong(T), [], 'what is refused says nothing about now');
});

test('a receiver that measures no RSSI has an alert; one with unknown ones among others has none', () => {
  const { facts, at, list } = house();
  const unknown = (receiver, ms) => facts.refusals.add({ kind: 'phone', receiver, reason: 'rssi_unknown', detail: 'rssi 0', count: 1 }, T + ms);
  for (let ms = 0; ms <= 59_000; ms += 1000) {
    for (const receiver of ['7', '8']) unknown(receiver, ms);
    if (ms % 20_000 === 0) facts.refusals.measured('8');
    assert.deepEqual(at(ms), []);
  }
  for (const receiver of ['7', '8']) unknown(receiver, 60_000);
  assert.deepEqual(at(60_000), ['messages_refused:7']);
  assert.match(list.list()[0].text, /\(rssi_unknown; 61 since the start\)/);
  assert.match(list.list()[0].todo, /no signal strength/);
  assert.deepEqual(facts.refusals.byReason(), { rssi_unknown: 122 });
  facts.refusals.measured('7');
  for (let ms = 61_000; ms < 61_000 + 4 * MIN; ms += 1000) at(ms);
  assert.deepEqual(at(62_000 + 4 * MIN), ['(messages_refused:7)']);
});

test('the dashboard has a title for every kind, and for no other', async () => {
  const { ALERT_TITLES } = await import('../dashboard/src/lib/devices.js');
  assert.deepEqual(Object.keys(ALERT_TITLES).sort(), KINDS.map(({ kind }) => kind).sort());
});

test('refusals are counted by reason, and bounded by receiver', () => {
  const refusals = new Refusals();
  for (let n = 0; n < 1000; n += 1) refusals.add({ kind: 'phone', receiver: `r${n}`, reason: 'ts_ahead', detail: 'x', count: 2 }, T + n);
  assert.deepEqual(refusals.byReason(), { ts_ahead: 2000 });
  assert.equal(refusals.latest().length, 256);
  assert.deepEqual([refusals.latest()[0].receiver, refusals.of('r0')], ['r999', null]);
});

/** The alerts of a site, persisted in a file. */
function open(file, ingest = () => ({ status: 'up' })) {
  const parts = (nowMs) => ({ ingest: ingest(nowMs) });
  const site = new Site(createBuilding(smallBuilding()), T);
  site.broker.outbox.attach({ send: () => {}, connected: () => true });
  const warnings = [];
  return { site, warnings, alerts: createAlerts({ site, parts, file, clock: () => T + 5, warn: (text) => warnings.push(text) }) };
}

test('acknowledgements survive a restart', async () => {
  const file = path.join(root, 'alerts.json');
  const degraded = () => ({ status: 'degraded', reason: 'r', remedy: 'm' });
  const first = open(file, degraded);
  await first.alerts.evaluate(T);
  await first.alerts.evaluate(T + 10_000);
  assert.equal(first.alerts.open(), 1);
  assert.equal((await first.alerts.acknowledge('ingest_behind:ingest', 'ann')).acknowledged.by, 'ann');
  const second = open(file, degraded);
  await second.alerts.evaluate(T + 20_000);
  assert.deepEqual(second.alerts.list().map(({ id, acknowledged }) => [id, acknowledged]), [['ingest_behind:ingest', { by: 'ann', ts: T + 5 }]]);
  assert.equal(second.alerts.open(), 0);
});

test('an older file, where one alert stood for many people, is taken over', () => {
  const file = path.join(root, 'older.json');
  const many = { id: 'sda_lost:many-sdas', kind: 'sda_lost', subject: 'many-sdas', severity: 'warning', since: T, raised_ms: T + 1, ended_ms: null,
    text: '2 SDAs', todo: 'Look.', level: null, room: null, subjects: ['7', '8'], acknowledged: { by: 'ann', ts: T + 2 } };
  fs.writeFileSync(file, JSON.stringify({ v: 1, alerts: [many] }));
  assert.deepEqual(open(file).alerts.list().map(({ id, changed_ms: changed, acknowledged }) => [id, changed, acknowledged.by]),
    [['sda_lost:7', T + 1, 'ann'], ['sda_lost:8', T + 1, 'ann']]);
});

test('a file that is no list of alerts, or cannot be written, is warned of once', async () => {
  const file = path.join(root, 'bad.json');
  fs.writeFileSync(file, '{"alerts": 5}');
  const bad = open(file, () => ({ status: 'degraded' }));
  assert.match(bad.warnings[0], /cannot be read/);
  fs.rmSync(file);
  fs.mkdirSync(file);
  for (const ms of [0, 10_000, 20_000]) await bad.alerts.evaluate(T + ms);
  assert.equal(bad.warnings.length, 2);
  assert.match(bad.warnings[1], /will not survive a restart/);
});

test('a message that the flows refuse raises an alert', async () => {
  const { site, alerts } = open(path.join(root, 'refused.json'));
  receive(site, 'sda/v1/phone/9/readings', Buffer.from('no JSON'), T);
  await alerts.evaluate(T);
  assert.deepEqual(alerts.list().map(({ id }) => id), ['messages_refused:9']);
});

const lostOnes = (count, state = 'lost', from = 0) => Array.from({ length: count }, (_, i) => (
  { staff_id: String(from + i), level: 'L1', room: 'a', ts: T, state }));

test('a thousand lost people have an alert each, and are one group', () => {
  const { facts, list, at } = house();
  facts.presences = lostOnes(1000);
  assert.equal(at(0).length, 1000);
  const [group, ...others] = list.groups();
  assert.deepEqual([group.kind, group.count, group.alerts.length, group.rooms, others],
    ['sda_lost', 1000, 5, [{ level: 'L1', room: 'a', count: 1000 }], []]);
  assert.match(group.todo, /So many at once are hardly their own phones/);
  assert.equal(list.acknowledgeAll('sda_lost', 'ann', T), 1000);
  facts.presences = lostOnes(1003);
  at(1000);
  assert.deepEqual(list.groups().map(({ state, count }) => [state, count]), [['open', 3], ['acknowledged', 1000]],
    'a few more are not hidden among acknowledged ones');
  facts.presences = lostOnes(1100, 'present');
  at(2000);
  assert.deepEqual(list.groups().map(({ state, count }) => [state, count]), [['ended', 3]]);
});

test('a lost person that the locator has dropped stays lost', () => {
  const { facts, at } = house();
  facts.presences = lostOnes(50);
  at(0);
  facts.presences = lostOnes(10, 'present');
  assert.equal(at(20 * MIN).filter((id) => !id.startsWith('(')).length, 40);
});

test('groups are counted by kind and state: critical ones first, then the newest, with their places and newest alerts', () => {
  const warn = fakeKind({ name: 'warn', place: (subject) => ({ level: `L${subject.length}`, room: `room-${subject.length}` }) });
  const late = fakeKind({ name: 'late' });
  const bad = fakeKind({ name: 'bad', severity: 'critical' });
  const list = createAlertList([warn, late, bad].map(({ kind }) => kind), T - START_MS);
  for (let n = 0; n < 30; n += 1) {
    warn.state.set(String(n), 'active');
    list.evaluate({}, T + n);
  }
  bad.state.set('x', 'active');
  list.evaluate({}, T + 40);
  late.state.set('y', 'active');
  list.evaluate({}, T + 50);
  const groups = list.groups();
  assert.deepEqual(groups.map(({ kind, state, count }) => [kind, state, count]), [['bad', 'open', 1], ['late', 'open', 1], ['warn', 'open', 30]]);
  const { levels, levels_count: levelCount, rooms_count: roomCount, since, changed_ms: changed, todo, alerts } = groups[2];
  assert.deepEqual([levels, levelCount, roomCount], [[{ level: 'L2', count: 20 }, { level: 'L1', count: 10 }], 2, 2]);
  assert.deepEqual([since, changed, todo, groups[0].todo], [T, T + 29, 'Repair all.', 'Repair it.']);
  assert.deepEqual(alerts.map(({ subject }) => subject), ['29', '28', '27', '26', '25']);
  assert.equal(list.open(), 32);
});

test('all of a kind are acknowledged as far as somebody has seen them, once', () => {
  const { kind, state } = fakeKind();
  const list = createAlertList([kind], T - START_MS);
  for (const subject of ['a', 'b', 'c']) state.set(subject, 'active');
  list.evaluate({}, T);
  const seen = list.groups()[0].changed_ms;
  state.set('d', 'active').set('c', 'resolved');
  list.evaluate({}, T + 5);
  assert.equal(list.acknowledgeAll('fake', 'ann', T + 9, { state: 'open', untilMs: seen }), 2);
  assert.equal(list.acknowledgeAll('fake', 'ben', T + 9, { state: 'open', untilMs: seen }), 0);
  assert.deepEqual(list.list().map(({ subject, ended_ms: ended, acknowledged }) => [subject, ended !== null, acknowledged?.by ?? null]),
    [['d', false, null], ['a', false, 'ann'], ['b', false, 'ann'], ['c', true, null]], 'what is new or has ended since is not seen');
  assert.equal(list.acknowledgeAll('fake', 'ann', T + 9, { state: 'ended' }), 1);
  assert.deepEqual(list.list().map(({ subject }) => subject), ['d', 'a', 'b']);
});

test('a flood of one kind takes no space from others', () => {
  const flood = fakeKind({ name: 'flood' });
  const other = fakeKind({ name: 'other' });
  const list = createAlertList([flood.kind, other.kind], T - START_MS);
  for (let n = 0; n < ALERTS_MAX + 5; n += 1) flood.state.set(String(n), 'active');
  list.evaluate({}, T);
  for (const subject of ['x', 'y', 'z']) other.state.set(subject, 'active');
  for (const ms of [1, 2, 3]) list.evaluate({}, T + ms);
  assert.deepEqual(list.groups().map(({ kind, count }) => [kind, count]).sort(), [['flood', ALERTS_MAX - 3], ['other', 3]]);
  assert.equal(list.dropped(), 8, 'each is counted once');
});

test('what readers get of ten thousand alerts is as short as of ten', () => {
  const { kind, state } = fakeKind();
  const list = createAlertList([kind], T - START_MS);
  const bytes = (count) => {
    for (let n = 0; n < count; n += 1) state.set(String(n), 'active');
    list.evaluate({}, T);
    return JSON.stringify(list.groups()).length;
  };
  assert.ok(bytes(10) > 0.9 * bytes(ALERTS_MAX));
});

test('lost messages are critical, come first, push out a warning, and stay until they are acknowledged', () => {
  const { facts, list, at } = house();
  const { kind, state } = fakeKind();
  for (let i = 0; i < ALERTS_MAX; i += 1) state.set(`x${i}`, 'active');
  const full = createAlertList([kind, KINDS.find((one) => one.kind === 'messages_lost')], T - START_MS);
  full.evaluate(facts, T);
  assert.equal(full.list().length, ALERTS_MAX);
  facts.losses = { status: 'degraded', last_ms: T - 5000, reason: 'messages that were acknowledged are being lost: 7 by the broker', remedy: 'look' };
  full.evaluate(facts, T + 1000);
  assert.deepEqual([full.list().length, full.list()[0].id, full.dropped()], [ALERTS_MAX, 'messages_lost:messages', 1]);

  assert.deepEqual(at(0), ['messages_lost:messages']);
  assert.match(list.list()[0].text, /^Messages that were acknowledged are being lost: 7 by the broker\./);
  facts.losses = { status: 'up', last_ms: T };
  assert.ok(at(10 * 24 * HOUR).includes('messages_lost:messages'));
  assert.equal(list.acknowledgeAll('messages_lost', 'ann', T), 1);
  assert.equal(list.acknowledgeAll('messages_lost', 'ann', T), 0);
  assert.ok(!at(10 * 24 * HOUR + 1000).includes('messages_lost:messages'));
});
