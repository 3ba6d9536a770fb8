'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, test } = require('node:test');
const { createAlertList, START_MS } = require('../lib/alerts/alert-list');
const { KINDS } = require('../lib/alerts/kinds');
const { createBuilding } = require('../lib/building');
const { createTopics } = require('../lib/dashboard/topics');
const { createLocator, emptyOutcome } = require('../lib/locator');
const { Site } = require('../lib/site');
const { smallBuilding, BEACONS, TAG } = require('./support/building');

const T = 1_800_000_000_000;
const DAY = 24 * 3_600_000;
const NONE = { groups: () => [], open: () => 0, dropped: () => 0, version: () => 0 };
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'removals-'));
after(() => fs.rmSync(root, { recursive: true }));

/** A site with what the broker keeps of it, its events and its alerts; each second passes as in the flows. */
function house({ file = null, building = smallBuilding(), startMs = T } = {}) {
  const rig = { nowMs: startMs, retained: new Map(), events: [] };
  const site = new Site(createBuilding(building), startMs, { clock: () => rig.nowMs, presences: { file } });
  const send = ({ sda_id: id, topic, payload, retain }) => {
    if (retain && payload === '') rig.retained.delete(topic);
    else if (retain) rig.retained.set(topic, JSON.parse(payload));
    else if (topic.endsWith('/events')) rig.events.push(JSON.parse(payload));
    queueMicrotask(() => site.broker.outbox.acknowledge(id, rig.nowMs));
  };
  site.broker.outbox.attach({ send, connected: () => true, connection: () => rig.connection });
  site.broker.subscriber.connected = () => true;
  const list = createAlertList(KINDS, startMs - START_MS);
  const facts = () => ({ building: site.building(), gateways: site.devices.gateways, beacons: site.devices.beacons,
    refusals: site.live.refusals, takeovers: site.devices.takeovers, presences: site.live.presences(),
    published: site.live.published.recent(rig.nowMs), isGone: (id) => site.live.published.isGone(id), connected: true, watchedMs: startMs, ingest: { status: 'up' }, live: { status: 'up' },
    clock: { status: 'up' }, losses: { status: 'up' }, certificates: [] });

  return Object.assign(rig, { site,
    /** @param {number} ms @param {(nowMs: number) => any[]} [hear] batches of each second */
    async pass(ms, hear = () => []) {
      for (let passed = 0; passed < ms; passed += 1000) {
        rig.nowMs += 1000;
        site.live.locate(hear(rig.nowMs), rig.nowMs);
        site.flush(rig.nowMs);
        site.tick(rig.nowMs);
        list.evaluate(facts(), rig.nowMs);
        await null;
      }
    },
    change(edit) {
      const next = structuredClone(site.building().file);
      edit(next);
      site.setBuilding(createBuilding(next), rig.nowMs);
    },
    alerts: () => list.list().map(({ id, ended_ms: ended }) => (ended === null ? id : `(${id})`)),
    stateOf: (id) => rig.retained.get(`sda/v1/staff/${id}/location`)?.state,
    lost: (id) => rig.events.filter(({ type, staff_id: one }) => type === 'lost' && one === id).length,
  });
}

const phone = (id, room) => (nowMs) => [{ kind: 'phone', receiver: id, ts: nowMs, readings: [{ beacon: BEACONS[room], rssi: -45 }] }];
const tag = (nowMs) => [{ kind: 'gateway', receiver: 'gw-a', ts: nowMs, readings: [{ beacon: TAG, rssi: -45 }] }];
const withoutRoom = (id) => (file) => {
  for (const level of file.levels) level.rooms = level.rooms.filter((room) => room.id !== id);
  for (const key of ['beacons', 'gateways']) file[key] = file[key].filter(({ room }) => room !== id);
};
const withoutLevel = (id) => (file) => {
  file.levels = file.levels.filter((level) => level.id !== id);
  for (const key of ['beacons', 'gateways']) file[key] = file[key].filter(({ level }) => level !== id);
};

for (const [what, edit] of [['room', withoutRoom('a')], ['level', withoutLevel('L1')]]) {
  test(`a ${what} is removed while somebody is there: they are lost, with an event and an alert`, async () => {
    const whole = house();
    await whole.pass(20_000, phone('1', 'a'));
    assert.equal(whole.stateOf('1'), 'present');
    whole.change(edit);
    await whole.pass(70_000);
    assert.deepEqual([whole.stateOf('1'), whole.lost('1'), whole.alerts()], ['lost', 1, ['sda_lost:1']]);
    await whole.pass(70_000);
    assert.equal(whole.lost('1'), 1, 'once');
    await whole.pass(10_000, phone('1', 'd'));
    assert.deepEqual([whole.stateOf('1'), whole.retained.get('sda/v1/staff/1/location').room], ['present', 'd']);
  });
}

test('a room is removed, and who was there is heard elsewhere: nobody is lost', async () => {
  const whole = house();
  await whole.pass(20_000, phone('1', 'a'));
  whole.change(withoutRoom('a'));
  await whole.pass(90_000, phone('1', 'b'));
  assert.deepEqual([whole.stateOf('1'), whole.retained.get('sda/v1/staff/1/location').room, whole.lost('1'), whole.alerts()], ['present', 'b', 0, []]);
});

for (const [how, hear, id] of [['a tag', tag, '0'], ['a phone', phone('1', 'a'), '1']]) {
  test(`a person with ${how} leaves the building file while there: lost, then nothing is kept`, async () => {
    const whole = house();
    await whole.pass(20_000, hear);
    whole.change((file) => { file.staff = file.staff.filter((one) => one.id !== id); });
    await whole.pass(70_000);
    assert.deepEqual([whole.stateOf(id), whole.lost(id), whole.alerts()], ['lost', 1, [`sda_lost:${id}`]]);
    await whole.pass(16 * 60_000);
    assert.deepEqual([whole.retained.size, whole.alerts().filter((one) => !one.includes('gateway'))], [0, [`(sda_lost:${id})`]]);
    assert.deepEqual(whole.site.live.published.recent(whole.nowMs), []);
  });
}

test('a person who left the file and still carries a phone goes on; one who is back in it keeps the last location', async () => {
  const whole = house();
  await whole.pass(20_000, phone('1', 'a'));
  whole.change((file) => { file.staff = []; });
  await whole.pass(20 * 60_000, phone('1', 'a'));
  assert.equal(whole.stateOf('1'), 'present');
  whole.change((file) => { file.staff = smallBuilding().staff; });
  await whole.pass(30 * 60_000);
  assert.equal(whole.stateOf('1'), 'lost');
});

test('nothing is kept of who left the file while the flows were stopped', async () => {
  const file = path.join(root, 'published-presences.json');
  const before = house({ file });
  await before.pass(20_000, phone('1', 'a'));
  await before.site.live.published.settled();
  const building = smallBuilding();
  building.staff = building.staff.filter(({ id }) => id !== '1');
  const again = house({ file, building, startMs: T + 60_000 });
  again.retained = before.retained;
  await again.pass(50_000);
  assert.equal(again.retained.size, 1, 'who is here is known some seconds after a start');
  await again.pass(20_000);
  assert.equal(again.retained.size, 0);
});

test('a reconnect publishes what was told, also of rooms that are gone', async () => {
  const whole = house();
  await whole.pass(20_000, phone('1', 'a'));
  whole.change(withoutRoom('a'));
  await whole.pass(70_000);
  whole.retained.clear();
  whole.connection = 2;
  await whole.pass(2000);
  assert.equal(whole.stateOf('1'), 'lost');
});

test('a batch six days old loses nobody now: no alert, no event of now, nothing retained, and no page says so', async () => {
  const whole = house();
  const topics = createTopics({ site: whole.site, alerts: NONE, health: () => ({ parts: {} }) });
  await whole.pass(3000, (nowMs) => phone('1', 'a')(nowMs - 6 * DAY));
  await whole.pass(120_000);
  assert.deepEqual([whole.alerts(), whole.lost('1'), whole.events.filter(({ ts }) => ts > T - 5 * DAY), whole.retained.size], [[], 0, [], 0]);
  assert.equal(whole.site.devices.beacons.of(BEACONS.a), null, 'nor is the beacon silent now');
  const { snapshot } = topics.build('floor:L1', whole.nowMs);
  assert.deepEqual([snapshot.lost, snapshot.status.lost], [[], 0]);
  await whole.pass(20_000, phone('1', 'a'));
  await whole.pass(70_000);
  assert.deepEqual(whole.alerts(), ['sda_lost:1'], 'who was here and is not heard any more');
});

test('alerts end with the room, gateway, beacon or person that they are about', async () => {
  const building = smallBuilding();
  building.levels[0].rooms[0].limit = 1;
  const whole = house({ building });
  const status = (state) => whole.site.devices.gateways.handleMessage({ topic: 'sda/v1/gateway/gw-a/status', payload: Buffer.from(JSON.stringify({ state, ts: whole.nowMs })) },
    whole.site.building(), whole.nowMs);
  status('online');
  await whole.pass(70_000, (nowMs) => [...phone('0', 'a')(nowMs), ...phone('1', 'a')(nowMs),
    { kind: 'phone', receiver: '9', ts: nowMs, readings: [{ beacon: BEACONS.c, rssi: -60, battery_mv: 2100 }] }]);
  status('offline');
  await whole.pass(30_000, (nowMs) => [...phone('0', 'a')(nowMs), ...phone('1', 'a')(nowMs)]);
  assert.deepEqual(whole.alerts().filter((id) => !id.includes('sda_lost')).sort(), [`battery_low:${BEACONS.c}`, 'gateway_down:gw-a', 'room_crowded:a']);
  whole.change((file) => {
    withoutRoom('a')(file);
    file.beacons = file.beacons.filter(({ id }) => id !== BEACONS.c);
  });
  await whole.pass(70_000);
  assert.deepEqual(whole.alerts().filter((id) => !id.includes('sda_lost')).sort(),
    [`(battery_low:${BEACONS.c})`, '(gateway_down:gw-a)', '(room_crowded:a)']);
  assert.deepEqual(whole.events.filter(({ type }) => type === 'battery_ok' || type === 'gateway_up'), [], 'gone is not good again');
});

test('nothing stays retained of a gateway that is gone, whatever it said last and also from before our start; one that sends keeps it', async () => {
  const whole = house();
  const say = (id, state, retain = false) => {
    const topic = `sda/v1/gateway/${id}/status`;
    whole.retained.set(topic, { state });
    const payload = Buffer.from(JSON.stringify({ state, ts: whole.nowMs }));
    whole.site.devices.gateways.handleMessage({ topic, payload, retain }, whole.site.building(), whole.nowMs);
  };
  const left = () => [...whole.retained.keys()].flatMap((topic) => topic.match(/gateway\/(.*)\/status/)?.[1] ?? []).sort();
  say('old-1', 'offline', true);
  say('old-2', 'online', true);
  say('new-1', 'online');
  say('gw-a', 'offline');
  say('gw-b', 'removed');
  await whole.pass(590_000, (nowMs) => [{ kind: 'gateway', receiver: 'new-1', ts: nowMs, readings: [] }]);
  assert.deepEqual(left(), ['gw-a', 'gw-b', 'new-1', 'old-1', 'old-2']);
  await whole.pass(20_000, (nowMs) => [{ kind: 'gateway', receiver: 'new-1', ts: nowMs, readings: [] }]);
  assert.deepEqual(left(), ['gw-a', 'gw-b', 'new-1']);
  whole.change((file) => { file.gateways = []; });
  await whole.pass(2000);
  assert.deepEqual(left(), ['new-1'], 'those of a building that is no more, whose accounts are removed');
  await whole.pass(601_000);
  assert.deepEqual(left(), []);
});

test('an alert of a low battery ends when the beacon is heard and says nothing of a battery any more, and that is no good battery', async () => {
  const whole = house();
  const hear = (mv) => (nowMs) => [{ kind: 'gateway', receiver: 'gw-a', ts: nowMs, readings: [{ beacon: TAG, rssi: -50, ...mv }] }];
  await whole.pass(90_000, hear({ battery_mv: 1200 }));
  assert.deepEqual(whole.alerts(), [`battery_low:${TAG}`]);
  await whole.pass(3_600_000, hear({}));
  assert.deepEqual(whole.alerts(), [`battery_low:${TAG}`]);
  await whole.pass(90_000, hear({}));
  assert.deepEqual([whole.alerts(), whole.events.filter(({ type }) => type === 'battery_ok')], [[`(battery_low:${TAG})`], []]);
});

test('what a gateway that is not in the file said before our start says nothing now', () => {
  const { site } = house();
  const status = { topic: 'sda/v1/gateway/old-1/status', payload: Buffer.from(JSON.stringify({ state: 'offline', ts: T - DAY })) };
  site.devices.gateways.handleMessage({ ...status, retain: true }, site.building(), T);
  assert.deepEqual(site.devices.gateways.unlisted(), []);
  site.devices.gateways.handleMessage(status, site.building(), T);
  assert.deepEqual(site.devices.gateways.unlisted(), ['old-1']);
});

test('a locator of which a room was removed knows nobody in it any more', () => {
  const locator = createLocator(createBuilding(smallBuilding()));
  const outcome = emptyOutcome();
  for (let ms = T; ms < T + 20_000; ms += 1000) {
    for (const batch of phone('1', 'a')(ms)) locator.hear(batch, ms, outcome);
    locator.tick(ms, outcome);
  }
  assert.deepEqual(locator.presences().map(({ room }) => room), ['a']);
  const next = smallBuilding();
  withoutRoom('a')(next);
  locator.setBuilding(createBuilding(next), T + 20_000, outcome);
  for (let ms = T + 20_000; ms < T + 100_000; ms += 1000) locator.tick(ms, outcome);
  assert.deepEqual(locator.presences().filter(({ state }) => state !== 'lost'), []);
  assert.deepEqual(outcome.presences.filter(({ room, state, ts }) => room === 'a' && state === 'present' && ts >= T + 20_000), []);
});
