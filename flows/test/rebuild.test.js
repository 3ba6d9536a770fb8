'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { DEFAULTS, placementKey } = require('../lib/locator');
const { house, houseFile } = require('./locator/house');
const { smallBuilding, BEACONS } = require('./support/building');
const { World, taggedWalks, walks } = require('./support/world');

const T = 1_700_000_000_000;
const MIN = 60_000;
const END = T + 14 * MIN;

/** The world at `toMs`, in which Node-RED ran all the time. */
async function undisturbed(sent, toMs = END, file = smallBuilding()) {
  const world = new World(sent, T, file).start();
  await world.until(() => world.now >= toMs);
  return world;
}

/** Calls `make` once, for all tests that compare with it. */
function once(make) {
  let made;
  return () => (made ??= make());
}
const compared = (world) => world.history(T, END - 2 * MIN);

/** @param away from, to, and whether the broker kept the messages */
async function disturbed(sent, stops, change = () => {}, checkpoints = new Map()) {
  const world = Object.assign(new World(sent, T), { checkpoints }).start();
  for (const { fromMs, toMs, session } of stops) {
    await world.until(() => world.now >= fromMs);
    world.kill();
    while (world.now < toMs) world.pass(1000);
    change(world);
    world.start({ session });
  }
  await world.idle();
  await world.until(() => world.now >= END);
  return world;
}

test('whoever receives what is located, and what is located again, has all of history', async () => {
  const world = new World(walks(5, { people: 6, fromMs: T, toMs: END }), T);
  const seen = new Map();
  const follow = () => {
    const { results } = world.site.broker;
    results.attach((batches, late) => {
      for (const { staff_id: id, ts, room } of batches.locations ?? []) seen.set(`${id} ${ts}`, room);
      if (!late) for (const kind of Object.keys(batches)) results.publish(kind, batches[kind], world.now);
    });
  };
  world.start();
  follow();
  await world.until(() => world.now >= T + 4 * MIN);
  world.kill();
  world.pass(2 * MIN);
  world.start({ session: false });
  follow();
  await world.idle();
  await world.until(() => world.now >= END);
  assert.deepEqual([...seen].sort(), [...world.locations].map(([key, { room }]) => [key, room]).sort());
});

const twelveWalk = () => walks(1, { people: 12, fromMs: T, toMs: END });
const afterTwelve = once(() => undisturbed(twelveWalk()));
for (const [name, stops] of Object.entries({
  'with the broker having kept the messages': [{ fromMs: T + 5 * MIN + 123, toMs: T + 6 * MIN + 77, session: true }],
  'with the messages of the gap lost': [{ fromMs: T + 5 * MIN + 123, toMs: T + 6 * MIN + 77, session: false }],
  'of a second': [{ fromMs: T + 5 * MIN + 123, toMs: T + 5 * MIN + 1200, session: true }],
  'of minutes, twice, the second time in the middle of the rebuild': [
    { fromMs: T + 3 * MIN + 400, toMs: T + 7 * MIN, session: false },
    { fromMs: T + 7 * MIN + 50, toMs: T + 7 * MIN + 3000, session: true }],
  'of minutes, without a checkpoint,': [{ fromMs: T + 3 * MIN + 400, toMs: T + 7 * MIN, session: false, checkpoints: null }],
})) {
  test(`after a kill ${name} history is that of an undisturbed run`, async () => {
    const [expected, world] = [await afterTwelve(), await disturbed(twelveWalk(), stops, () => {}, stops[0].checkpoints)];
    const { locations, stays } = compared(expected);
    assert.ok(locations.length > 3000 && stays.length > 100, `${locations.length} ${stays.length}`);
    assert.deepEqual(compared(world), { locations, stays });
    assert.deepEqual(world.site.live.presences().map(({ staff_id: id, room, since }) => [id, room, since]).sort(),
      expected.site.live.presences().map(({ staff_id: id, room, since }) => [id, room, since]).sort());
  });
}

const sixWalk = () => walks(1, { people: 6, fromMs: T, toMs: T + 8 * MIN });
const afterSix = once(() => undisturbed(sixWalk(), T + 9 * MIN));
for (const [name, stop] of Object.entries({
  'with the broker having kept the messages': { session: true },
  'with the messages of the gap lost': { session: false },
  'and of a broker, after which receivers send again what is minutes old': { session: true, again: true },
})) {
  test(`after a kill ${name} events are those of an undisturbed run`, async () => {
    const [sent, expected] = [sixWalk(), await afterSix()];
    const [fromMs, backMs] = [T + 5 * MIN + 123, T + 6 * MIN + 77];
    const world = new World(sent, T).start();
    await world.until(() => world.now >= fromMs);
    world.kill();
    while (world.now < backMs) world.pass(1000);
    if (stop.again) world.queue.unshift(...sent.filter(({ ms }) => ms > T + 4 * MIN && ms < fromMs));
    world.start(stop);
    await world.until(() => world.now >= T + 9 * MIN);
    const events = expected.eventsOf(T, T + 9 * MIN);
    assert.ok(events.length > 100, `${events.length}`);
    assert.deepEqual(world.eventsOf(T, T + 9 * MIN), events);
    assert.ok(expected.eventsOf(world.startedMs, T + 9 * MIN).length > 20, 'some of them after it');
  });
}

test('whatever is not said to be missing after a start is as it stays', async () => {
  const world = new World(walks(3, { people: 6, fromMs: T, toMs: END }), T).start();
  await world.until(() => world.now >= T + 4 * MIN);
  world.kill();
  world.pass(2 * MIN);
  world.start();
  const looks = [];
  await world.until(() => {
    const untilMs = world.coverage.completeUntil(T - MIN, world.startedMs, [], world.now);
    if (looks.at(-1)?.untilMs !== untilMs) looks.push({ untilMs, seen: world.history(T, untilMs).locations });
    return untilMs === world.startedMs;
  });
  assert.ok(looks.length > 1 && looks[0].untilMs < T + 4 * MIN - 80_000, `${looks.map(({ untilMs }) => untilMs - T)}`);
  assert.equal(looks.at(-1).untilMs, world.startedMs);
  await world.until(() => world.now >= END);
  for (const { untilMs, seen } of looks) assert.deepEqual(world.history(T, untilMs).locations, seen);
});

/** @param session undefined: Node-RED runs all the time; else it is killed, and whether the broker keeps messages meanwhile */
async function withGatewayOut(session) {
  const out = ({ receiver, ms }) => receiver === 'gw-G-b' && ms > T + 4 * MIN && ms < T + 9 * MIN;
  const sent = taggedWalks(3, { fromMs: T, toMs: END, tags: ['C0FFEE000001', 'C0FFEE000002'] }).filter((one) => !out(one));
  const world = new World(sent, T, houseFile()).start();
  for (const id of house().gateways.keys()) world.gateway(id, true);
  await world.until(() => world.now >= T + 4 * MIN);
  world.gateway('gw-G-b', false);
  await world.until(() => world.now >= T + 5 * MIN + 321);
  if (session !== undefined) {
    world.kill();
    while (world.now < T + 6 * MIN) world.pass(1000);
    world.start({ session });
  }
  await world.until(() => world.now >= T + 9 * MIN);
  world.gateway('gw-G-b', true);
  await world.until(() => world.now >= END);
  return compared(world);
}
const withoutKill = once(() => withGatewayOut());

for (const session of [true, false]) {
  test(`tags among gateways, one of which is out for a while: after a kill ${session ? '' : 'and messages lost '}history is the same`, async () => {
    const expected = await withoutKill();
    assert.ok(expected.locations.length > 1400 && expected.stays.length > 20, `${expected.locations.length} ${expected.stays.length}`);
    assert.deepEqual(await withGatewayOut(session), expected);
  });
}

test('ingest is minutes behind at a kill, and receivers send again what is stored: all of the time before is located', async () => {
  const [behindMs, killMs, throughMs] = [T + 4 * MIN, T + 5 * MIN, T + 8 * MIN];
  const sent = walks(1, { people: 6, fromMs: T, toMs: END });
  const expected = await undisturbed(sent);
  const late = sent.map((one) => (one.ms >= behindMs && one.ms < throughMs ? { ...one, storedMs: throughMs } : one));
  const again = sent.filter(({ ms }) => ms >= behindMs - MIN && ms < behindMs)
    .map((one) => ({ ...one, unstored: true, atMs: killMs + 5000 + (one.ms - behindMs + MIN) / 20 }));
  const world = new World([...late, ...again].sort((a, b) => a.atMs - b.atMs), T).start();
  await world.until(() => world.now >= killMs);
  world.kill();
  while (world.now < killMs + 5000) world.pass(500);
  world.start({ session: true });
  await world.until(() => world.now >= END);
  await world.idle();
  assert.deepEqual(compared(world), compared(expected));
});

test('ingest is behind at a kill, and receivers are silent for long after it: all of the time before is located', async () => {
  const [behindMs, killMs, throughMs] = [T + 4 * MIN, T + 5 * MIN, T + 5 * MIN + 12_000];
  const sent = walks(1, { people: 6, fromMs: T, toMs: END }).filter(({ ms }) => ms < killMs || ms > throughMs + 1000);
  const expected = await undisturbed(sent);
  const world = new World(sent.map((one) => (one.ms >= behindMs && one.ms < killMs ? { ...one, storedMs: throughMs } : one)), T).start();
  await world.until(() => world.now >= killMs);
  world.kill();
  world.pass(3000);
  world.start({ session: true });
  await world.until(() => world.now >= throughMs - 500);
  assert.ok(!world.isComplete(T, killMs));
  await world.until(() => world.isComplete(T, killMs), 10_000);
  await world.until(() => world.now >= END);
  assert.deepEqual(compared(world), compared(expected));
});

test('a start in an empty building does not wait for anybody to speak', async () => {
  const world = await undisturbed(walks(1, { people: 2, fromMs: T, toMs: T + 3 * MIN }), T + 8 * MIN);
  world.kill();
  world.start();
  await world.until(() => world.isComplete(T, world.startedMs), 5000);
});

test('a start whose question to the database is never answered makes health degraded', async () => {
  const world = new World(walks(1, { people: 2, fromMs: T, toMs: T + 6 * MIN }), T).start();
  await world.until(() => world.now >= T + 3 * MIN);
  world.kill();
  const store = world.store();
  world.store = () => ({ ...store, readings: () => new Promise(() => {}) });
  world.start();
  await world.until(() => world.now >= world.startedMs + 9 * MIN);
  assert.equal(world.rebuild.part().status, 'up');
  await world.until(() => world.now >= world.startedMs + 11 * MIN);
  assert.equal(world.rebuild.part().status, 'degraded');
});

test('who vanished meanwhile is lost, and the stay has its end', async () => {
  const sent = walks(2, { people: 4, fromMs: T, toMs: END, leaves: { 0: T + 5 * MIN + 20_000, 1: T + 4 * MIN + 50_000 } });
  const world = await disturbed(sent, [{ fromMs: T + 5 * MIN, toMs: T + 8 * MIN, session: false }]);
  for (const id of ['0', '1']) assert.equal(world.retained.get(`sda/v1/staff/${id}/location`).state, 'lost');
  assert.equal(world.retained.get('sda/v1/staff/2/location').state, 'present');
  assert.deepEqual(compared(world), compared(await undisturbed(sent)));
});

test('who sat in one room since long before keeps the beginning of the stay', async () => {
  const sent = walks(3, { people: 3, fromMs: T, toMs: T + 26 * MIN });
  for (const one of sent.filter(({ receiver }) => receiver === '0')) { // sits in one room for long, then in another one
    const { ts, readings } = JSON.parse(one.payload);
    readings.forEach((reading, i) => { reading.rssi = i === (one.ms < T + 23 * MIN ? 0 : 1) ? -50 : -85; });
    one.payload = Buffer.from(JSON.stringify({ ts, readings }));
  }
  const stay = (world) => [...world.stays.values()].filter(({ staff_id: id, duration_s: seconds }) => id === '0' && seconds > 0);
  const world = new World(sent, T).start();
  await world.until(() => world.now >= T + 20 * MIN);
  world.kill();
  while (world.now < T + 21 * MIN) world.pass(1000);
  world.start();
  await world.until(() => world.now >= T + 25 * MIN);
  const expected = await undisturbed(sent, T + 25 * MIN);
  assert.equal(stay(expected).length, 1);
  const [[was], [is]] = [stay(expected), stay(world)];
  assert.deepEqual([stay(world).length, is.room, is.leave_ms], [1, was.room, was.leave_ms]);
  assert.ok(Math.abs(is.enter_ms - was.enter_ms) < 1000); // a location may carry the beginning of its second
});

test('without InfluxDB the present goes on, and the past follows when it is back', async () => {
  const sent = walks(4, { people: 6, fromMs: T, toMs: END });
  let world;
  const checked = [];
  world = await disturbed(sent, [{ fromMs: T + 4 * MIN, toMs: T + 5 * MIN, session: false }], (one) => {
    world = one;
    one.away = () => {
      const allPublished = one.now > T + 5 * MIN + 3000 + DEFAULTS.arriveMs;
      if (one.now < T + 6 * MIN && allPublished) checked.push([one.site.live.presences().length, one.rebuild.part().status]);
      return one.now < T + 6 * MIN;
    };
    one.breakOff = 3;
  });
  assert.deepEqual([...new Set(checked.map(String))], ['6,degraded']);
  assert.deepEqual(compared(world), compared(await undisturbed(sent)));
  assert.equal(world.rebuild.part().status, 'up');
});

test('by hand: all of it from nothing, and again without anything doubling', async () => {
  const sent = walks(5, { people: 10, fromMs: T, toMs: END });
  const world = await undisturbed(sent, END + 2 * MIN);
  const expected = compared(world);
  world.locations.clear();
  world.stays.clear();
  for (let i = 0; i < 2; i += 1) {
    world.rebuild.request(T, END);
    await world.until(() => world.rebuild.jobs().at(-1).state === 'done');
    assert.deepEqual(compared(world), expected);
  }
});

test('by hand up to the present, again and again: what the present has decided since stays', async () => {
  const sent = walks(11, { people: 10, fromMs: T, toMs: END, contrastDb: 12 }); // rooms are doubted for some readings
  const world = new World(sent, T).start();
  for (let ms = T + 3 * MIN; ms < T + 9 * MIN; ms += 7777) {
    await world.until(() => world.now >= ms);
    world.rebuild.request(world.now - 25_000, world.now); // does not mend what the one before did
    await world.until(() => world.rebuild.jobs().at(-1).state === 'done');
  }
  await world.until(() => world.now >= END);
  assert.deepEqual(compared(world), compared(await undisturbed(sent)));
});

test('by hand over a part: what lies around stays, what was decided otherwise is replaced', async () => {
  const sent = walks(6, { people: 10, fromMs: T, toMs: END });
  const world = await undisturbed(sent, END + MIN);
  const expected = compared(world);
  for (const [key, stay] of world.stays) { // as a locator that erred would have found: everything cut in two
    if (stay.enter_ms < T + 6 * MIN || stay.leave_ms > T + 8 * MIN || stay.duration_s < 4) continue;
    const middle = stay.enter_ms + 2000;
    world.stays.set(key, { ...stay, leave_ms: middle, duration_s: 2, room: 'b' });
    world.stays.set(`${stay.staff_id} ${middle}`, { ...stay, ts: middle, enter_ms: middle, duration_s: (stay.leave_ms - middle) / 1000 });
  }
  assert.notDeepEqual(compared(world), expected);
  world.rebuild.request(T + 5 * MIN, T + 9 * MIN);
  await world.until(() => world.rebuild.jobs().at(-1).state === 'done');
  assert.deepEqual(compared(world), expected);
});

test('kills that come faster than a start has read what lies before the gap: it gets on nevertheless, and all is located', async () => {
  const sent = walks(28, { people: 3, fromMs: T, toMs: T + 40 * MIN });
  const world = new World(sent, T).start();
  await world.until(() => world.now >= T + 20 * MIN);
  world.kill();
  world.pass(8 * MIN);
  world.readMsAMinute = 1000;
  const completeMs = [];
  for (let kills = 0; kills < 12; kills += 1) {
    world.start({ session: true });
    await world.until(() => world.now >= world.startedMs + 12_000);
    completeMs.push(world.coverage.completeUntil(T, T + 28 * MIN, [], world.now) - T);
    world.kill();
  }
  assert.ok(completeMs.at(-1) > 25 * MIN, `${completeMs}`);
  world.start();
  await world.idle();
  await world.until(() => world.now >= T + 40 * MIN);
  const [expected, found] = [await undisturbed(sent, T + 40 * MIN), world].map((one) => one.history(T, T + 38 * MIN));
  assert.deepEqual(found, expected);
});

test('a backlog that ingest stores a minute after it came is located when it is stored, and so is a time by hand', async () => {
  const sent = walks(14, { people: 4, fromMs: T, toMs: END });
  const late = (one) => one.receiver === '3' && one.ms > T + 2 * MIN && one.ms < T + 3 * MIN;
  const world = new World(sent.map((one) => (late(one) ? { ...one, atMs: T + 5 * MIN, storedMs: T + 6 * MIN } : one))
    .sort((a, b) => a.atMs - b.atMs), T).start();
  await world.until(() => world.now >= T + 5 * MIN + 1000);
  world.rebuild.request(T + MIN, T + 4 * MIN);
  await world.until(() => world.now >= T + 6 * MIN - 1000);
  assert.ok(!world.isComplete(T, T + 4 * MIN, ['3']));
  assert.deepEqual(world.rebuild.jobs().map(({ state }) => state), ['done', 'running', 'waiting']);
  await world.until(() => world.rebuild.part().state === 'idle');
  const [found, expected] = [world, await undisturbed(sent)].map((one) => one.history(T, T + 5 * MIN).locations);
  assert.deepEqual(found, expected);
});

test('what a killed broker forgot comes again some seconds later, beside newer: what follows it is located once more, too', async () => {
  const sent = walks(31, { people: 10, fromMs: T, toMs: T + 8 * MIN, contrastDb: 12 }); // rooms are doubted for some readings
  const forgotten = ({ ms }) => ms >= T + 5 * MIN - 1500 && ms < T + 5 * MIN;
  const world = new World(sent.map((one) => (forgotten(one) ? { ...one, atMs: T + 5 * MIN + 6000 } : one))
    .sort((a, b) => a.atMs - b.atMs), T).start();
  await world.until(() => world.now >= T + 8 * MIN);
  const [found, expected] = [world, await undisturbed(sent, T + 8 * MIN)].map((one) => one.history(T, T + 7 * MIN).locations);
  assert.deepEqual(found, expected);
});

test('after a break gateways come back one after the other: what that disorders is located once more, and called open until then', async () => {
  const tags = ['C0FFEE000001', 'C0FFEE000002'];
  const sent = taggedWalks(3, { fromMs: T, toMs: T + 9 * MIN, tags });
  const brokeMs = T + 5 * MIN;
  const gateways = [...house().gateways.keys()];
  const lagMs = ({ ms, receiver }) => (ms > brokeMs && ms < brokeMs + 10_000 ? 600 * (gateways.indexOf(receiver) % 4) : 0);
  const run = async (disordered) => {
    const world = new World((disordered ? sent.map((one) => ({ ...one, atMs: one.atMs + lagMs(one) })) : sent)
      .sort((a, b) => a.atMs - b.atMs), T, houseFile()).start();
    for (const id of gateways) world.gateway(id, true);
    await world.until(() => world.now >= brokeMs + 500);
    if (disordered) world.connection = {};
    await world.until(() => world.now >= brokeMs + MIN);
    if (disordered) assert.ok(world.coverage.completeUntil(T, world.now, null, world.now) <= brokeMs);
    await world.until(() => world.now >= T + 9 * MIN);
    assert.ok(world.isComplete(T, T + 8 * MIN, null));
    return world.history(T, T + 8 * MIN).locations;
  };
  assert.deepEqual(await run(true), await run(false));
});

/** One who is in one room for longer than the warm-up, moves on in the middle of `walks`, and stays there. */
function sits(receiver, fromMs, movesMs, toMs) {
  const sent = [];
  for (let ms = fromMs; ms < toMs; ms += 2000) {
    const readings = ['a', 'b'].map((room) => ({ beacon: BEACONS[room], rssi: (room === 'a') === (ms < movesMs) ? -50 : -85 }));
    sent.push({ ms, atMs: ms, kind: 'phone', receiver, payload: Buffer.from(JSON.stringify({ ts: ms, readings })) });
  }
  return sent;
}

test('by hand over any part: it has no edges, so that nothing that is right changes, however it is cut', async () => {
  const sent = [...walks(21, { people: 8, fromMs: T, toMs: END, contrastDb: 12 }), ...sits('sits', T - 20 * MIN, T + 6 * MIN, END)]
    .sort((a, b) => a.ms - b.ms);
  const world = new World(sent, T - 20 * MIN).start();
  await world.until(() => world.now >= END + 2 * MIN); // all are lost, and their stays have ended
  const expected = world.history(T - 20 * MIN, END);
  assert.equal(expected.stays.filter((line) => line.startsWith('sits')).length, 2);
  for (const [fromMs, toMs] of [[4.31, 4.32], [5, 5.7], [3.1234, 9.4321], [6.5, 12]]) {
    world.rebuild.request(T + fromMs * MIN, T + toMs * MIN);
    await world.until(() => world.rebuild.jobs().at(-1).state === 'done');
    assert.deepEqual(world.history(T - 20 * MIN, END), expected, `${fromMs} to ${toMs} min`);
  }
});

test('by hand, killed in the middle of it: it is done after the start; what is stored holds meanwhile', async () => {
  const sent = walks(22, { people: 5, fromMs: T, toMs: END });
  const world = await undisturbed(sent, END + 2 * MIN);
  const expected = compared(world);
  for (const [key, { ts }] of world.locations) if (ts > T + 4 * MIN && ts < T + 6 * MIN) world.locations.delete(key);
  world.away = () => true;
  world.rebuild.request(T + 3 * MIN, T + 7 * MIN);
  assert.ok(world.isComplete(T, END, null));
  world.pass(1000);
  await world.until(() => Object.keys(world.kept.requests).length > 0, MIN);
  world.kill();
  world.away = () => false;
  world.start();
  await world.until(() => world.rebuild.jobs().some(({ why, state }) => why === 'request' && state === 'done'));
  assert.deepEqual(compared(world), expected);
  await world.until(() => Object.keys(world.kept.requests).length === 0, MIN);
});

test('a time that the record says is not located, of long before a start, is located after it', async () => {
  const sent = walks(23, { people: 5, fromMs: T, toMs: END });
  const world = await undisturbed(sent, END + 2 * MIN);
  const expected = compared(world);
  for (const [key, { ts }] of world.locations) if (ts > T + 4 * MIN && ts < T + 6 * MIN) world.locations.delete(key);
  world.kill();
  world.kept.gaps[''].unshift([T + 4 * MIN, T + 6 * MIN, 'being located']);
  world.start();
  assert.ok(!world.isComplete(T, T + 5 * MIN));
  await world.until(() => world.isComplete(T, END, null), 5 * MIN);
  assert.deepEqual(compared(world), expected);
});

test('a stop of the flows while readings come late: whoever has not been located is on disk', async () => {
  const world = new World(delayed(walks(24, { people: 3, fromMs: T, toMs: END }), '1', T + 6 * MIN), T).start();
  await world.until(() => world.site?.live.counters().late > 3);
  await world.until(() => keptLate(world) !== undefined, 1000);
  world.kill();
  world.start();
  await world.idle();
  await world.until(() => world.isComplete(T, T + 5 * MIN, null), 2 * MIN);
  await world.until(() => world.now >= END);
  assert.deepEqual(compared(world).locations.filter((line) => line.startsWith('1 ')).length,
    compared(await undisturbed(walks(24, { people: 3, fromMs: T, toMs: END }))).locations.filter((line) => line.startsWith('1 ')).length);
});

test('days without a reading take no time, and nobody is anywhere', async () => {
  const DAY = 24 * 60 * MIN;
  const sent = [...walks(7, { people: 2, fromMs: T, toMs: T + 2 * MIN }),
    ...walks(8, { people: 2, fromMs: T + 3 * DAY, toMs: T + 3 * DAY + 2 * MIN })];
  const world = new World(sent, T).start();
  await world.until(() => world.now >= T + MIN);
  world.kill();
  world.now = T + 3 * DAY + MIN;
  while (world.sent[world.delivered]?.ms <= world.now) world.delivered += 1;
  world.start();
  await world.idle();
  assert.ok(world.now < T + 3 * DAY + 2 * MIN);
  const stays = [...world.stays.values()].filter(({ enter_ms: enter }) => enter < T + DAY);
  assert.ok(stays.length > 0 && stays.every(({ leave_ms: leave }) => leave < T + 2 * MIN));
});

/** Beacon B has gone to room C, and room A is called otherwise. */
function altered() {
  const file = smallBuilding();
  file.levels[0].rooms[0].name = 'Room with another name';
  Object.assign(file.beacons[1], { level: 'L2', room: 'c', x_m: 6 });
  return file;
}

test('a reload in the middle of a rebuild counts for the readings from then on, and only for those', async () => {
  const sent = walks(12, { people: 8, fromMs: T, toMs: END });
  const world = new World(sent, T).start();
  await world.until(() => world.now >= T + 3 * MIN);
  world.kill();
  while (world.now < T + 6 * MIN) world.pass(1000);
  world.start();
  await world.until(() => world.rebuild.jobs()[0]?.readings > 0);
  assert.equal(world.rebuild.part().state, 'running');
  const reloadMs = world.now;
  world.keep(altered());
  await world.idle();
  await world.until(() => world.now >= END);

  const expected = new World(sent, T).start();
  await expected.until(() => expected.now >= reloadMs);
  expected.keep(altered());
  await expected.until(() => expected.now >= END);
  assert.deepEqual(compared(world), compared(expected));
});

test('by hand over a reload, and after a kill behind it: each reading is located with the building of its time', async () => {
  const sent = walks(13, { people: 8, fromMs: T, toMs: END });
  const world = new World(sent, T).start();
  await world.until(() => world.now >= T + 6 * MIN);
  world.keep(altered());
  await world.until(() => world.now >= END + 2 * MIN);
  const expected = compared(world);
  world.locations.clear();
  world.stays.clear();
  world.rebuild.request(T, END);
  await world.until(() => world.rebuild.jobs().at(-1).state === 'done');
  assert.deepEqual(compared(world), expected);
  world.kill();
  world.start();
  await world.idle();
  world.rebuild.request(T, END);
  await world.until(() => world.rebuild.jobs().at(-1).state === 'done');
  assert.deepEqual(compared(world), expected);
});

test('by hand, after a kill and late: each reading is corrected by the learned offsets that were in use at its time', async () => {
  const place = (key) => placementKey(smallBuilding().beacons.find(({ id }) => id === BEACONS[key]));
  const offsets = (a, c) => [['a', a], ['c', c]].map(([key, db]) => ({ kind: 'beacon', id: BEACONS[key], place: place(key), offset_db: db }));
  const play = async (sent, isCorrected, kill = false) => {
    const world = new World(sent, T).start();
    for (const [minute, a, c] of [[2, 18, -18], [7, -15, 15]]) {
      await world.until(() => world.now >= T + minute * MIN);
      if (isCorrected) world.correct(offsets(a, c));
    }
    if (kill) {
      await world.until(() => world.now >= T + 9 * MIN);
      world.kill();
      world.pass(MIN);
      world.start({ session: false });
      await world.idle();
    }
    await world.until(() => world.now >= END + 2 * MIN);
    return world;
  };
  const sent = walks(14, { people: 6, fromMs: T, toMs: END });
  const world = await play(sent, true);
  const expected = compared(world);
  const early = world.history(T, T + 5 * MIN);
  const plain = compared(await play(sent, false));
  assert.ok(plain.locations.filter((line) => !expected.locations.includes(line)).length > 100, 'offsets matter here');
  world.locations.clear();
  world.stays.clear();
  world.rebuild.request(T, END);
  await world.until(() => world.rebuild.jobs().at(-1).state === 'done');
  assert.deepEqual(compared(world), expected, 'by hand');
  assert.deepEqual(compared(await play(sent, true, true)), expected, 'after a kill');
  const late = await play(delayed(sent, '3', T + 10 * MIN), true);
  await late.until(() => late.isComplete(T, T + 9 * MIN, null), MIN);
  assert.deepEqual(late.history(T, T + 5 * MIN), early, 'late, from before and after the first of them');
});

/** The earliest time on disk that is late for somebody. */
function keptLate({ kept }) {
  return Object.entries(kept.gaps).filter(([id]) => id !== '').flatMap(([, rows]) => rows.map(([fromMs]) => fromMs)).sort()[0];
}

/** The same messages, but those of some minutes from one receiver come when it is connected again, old ones beside new ones. */
function delayed(sent, receiver, backMs) {
  const late = (one) => one.receiver === receiver && one.ms > T + 2 * MIN && one.ms < T + 4 * MIN;
  return sent.map((one) => (late(one) ? { ...one, atMs: backMs + (one.ms - T) / 100 } : one)).sort((a, b) => a.atMs - b.atMs);
}

for (const [kind, receiver, sent, file, checkpoints = new Map()] of [
  ['phone', '3', walks(3, { people: 5, fromMs: T, toMs: END }), smallBuilding()],
  ['gateway that is one of several', 'gw-U-b', taggedWalks(7, { fromMs: T, toMs: END, tags: ['C0FFEE000001', 'C0FFEE000002'] }), houseFile()],
  ['phone, without a checkpoint,', '3', walks(3, { people: 5, fromMs: T, toMs: END }), smallBuilding(), null],
]) {
  test(`the backlog of a ${kind} is located at its own time, for those it concerns, and moves nobody`, async () => {
    const world = Object.assign(new World(delayed(sent, receiver, T + 10 * MIN), T, file), { checkpoints }).start();
    await world.until(() => world.now >= T + 10 * MIN - 100);
    await world.until(() => world.site.live.counters().late > 40);
    const where = ({ site }) => site.live.presences().map(({ staff_id: id, room }) => `${id} ${room}`);
    assert.deepEqual(where(world), where(await undisturbed(sent, world.now, file)));
    assert.ok(keptLate(world) < T + 3 * MIN, 'a kill would not lose it');
    assert.ok(world.isComplete(T, T + 9 * MIN), 'everybody else has it all');
    assert.ok(!world.isComplete(T, T + 9 * MIN, null));
    await world.until(() => world.rebuild.jobs().at(-1).why === 'late' && world.rebuild.jobs().at(-1).state === 'done');
    await world.until(() => world.isComplete(T, T + 9 * MIN, null), MIN);
    const outside = ({ locations }) => locations.filter((line) => Number(line.split(' ')[1]) > T + 7 * MIN);
    assert.deepEqual(outside(world.history(T, T + 9 * MIN)), outside((await undisturbed(sent, world.now, file)).history(T, T + 9 * MIN)));
    await world.until(() => world.now >= END);
    assert.deepEqual(overlapping(world), []);
    assert.deepEqual(compared(world), compared(await undisturbed(sent, END, file)), 'also right before and after it');
  });
}

test('who sat in one room all the time but for what a backlog adds: stays are cut there, and none overlap', async () => {
  const to = (room, one) => ({ ...one, payload: Buffer.from(JSON.stringify({ ts: one.ms,
    readings: [{ beacon: BEACONS[room], rssi: -50 }, { beacon: BEACONS[room === 'a' ? 'b' : 'a'], rssi: -80 }] })) });
  const away = ({ ms }) => ms > T + 4 * MIN && ms < T + 4 * MIN + 50_000; // short enough not to be lost
  const sent = walks(9, { people: 1, fromMs: T, toMs: END }).map((one) => to(away(one) && one.ms < T + 4 * MIN + 40_000 ? 'b' : 'a', one))
    .map((one) => (away(one) ? { ...one, atMs: T + 6 * MIN + (one.ms - T) / 100 } : one)).sort((a, b) => a.atMs - b.atMs);
  const world = new World(sent, T).start();
  await world.until(() => world.now >= T + 6 * MIN - 100);
  assert.equal(world.site.live.presences()[0].since < T + 4000, true);
  await world.until(() => world.rebuild.jobs().at(-1).why === 'late' && world.rebuild.jobs().at(-1).state === 'done');
  assert.equal(world.site.live.presences()[0].room, 'a');
  assert.ok(world.site.live.presences()[0].since > T + 4 * MIN + 30_000);
  assert.deepEqual(world.retained.get('sda/v1/staff/0/location').since, world.site.live.presences()[0].since);
  await world.until(() => world.now >= END + 2 * MIN); // lost, so that the last stay is published
  assert.deepEqual(overlapping(world), []);
  const punctual = sent.map((one) => ({ ...one, atMs: one.ms })).sort((a, b) => a.ms - b.ms);
  assert.deepEqual(world.history(T, END).stays, (await undisturbed(punctual, END + 2 * MIN)).history(T, END).stays);
});

/** Pairs of stays of which the second begins before the first ends. */
function overlapping({ stays }) {
  const lasting = [...stays.values()].filter(({ duration_s: seconds }) => seconds > 0)
    .sort((a, b) => (a.staff_id < b.staff_id ? -1 : a.staff_id > b.staff_id ? 1 : a.enter_ms - b.enter_ms));
  return lasting.flatMap((stay, i) => {
    const before = lasting[i - 1];
    return before?.staff_id === stay.staff_id && before.leave_ms > stay.enter_ms ? [[before, stay]] : [];
  });
}

test('what a receiver sends again is known, and located only once', async () => {
  const sent = walks(9, { people: 5, fromMs: T, toMs: END });
  const again = sent.filter(({ receiver, ms }) => receiver === '3' && ms > T + 2 * MIN && ms < T + 8 * MIN)
    .map((one) => ({ ...one, atMs: T + 10 * MIN }));
  const world = new World([...sent, ...again].sort((a, b) => a.atMs - b.atMs), T).start();
  await world.until(() => world.now >= T + 12 * MIN);
  assert.equal(world.site.live.counters().late_known, again.length);
  assert.equal(world.site.live.counters().late, 0);
  assert.deepEqual(world.rebuild.jobs().map(({ why }) => why), ['start']);
});

test('a fault of ours is shown, tried again and given up for that time only', async () => {
  const world = await undisturbed(walks(10, { people: 2, fromMs: T, toMs: END }), T + 2 * MIN);
  const { live } = world.site;
  live.newLocator = () => { throw new TypeError('ours'); };
  world.rebuild.request(T, T + MIN);
  await world.until(() => world.rebuild.part().status === 'degraded');
  assert.match(world.rebuild.part().reason, /ours/);
  await world.until(() => world.rebuild.jobs().at(-1).state === 'failed');
  delete live.newLocator;
  world.rebuild.request(T, T + MIN);
  await world.until(() => world.rebuild.jobs().at(-1).state === 'done');
  assert.equal(world.rebuild.part().status, 'up');
});

for (const [when, awayMs, backMs] of [['while Node-RED is away', T + 8 * MIN, 20_000], ['while the past is located again', T + 8 * MIN, 60_300]]) {
  test(`the backlog of a phone nobody knew, which comes ${when}, is located too`, async () => {
    const known = walks(14, { people: 4, fromMs: T, toMs: END });
    const strange = walks(15, { people: 1, fromMs: T + 4 * MIN, toMs: T + 6 * MIN }).map((one) => ({ ...one, receiver: 'new' }));
    const late = strange.map((one) => ({ ...one, atMs: awayMs + backMs + (one.ms - T) / 1000 }));
    const world = new World([...known, ...late].sort((a, b) => a.atMs - b.atMs), T).start();
    await world.until(() => world.now >= awayMs);
    world.kill();
    while (world.now < awayMs + MIN) world.pass(1000);
    world.start();
    await world.idle();
    assert.deepEqual(world.rebuild.jobs().map(({ why, state }) => `${why} ${state}`), ['start done']);
    await world.until(() => keptLate(world) < T + 5 * MIN, 1000); // a kill would not lose it
    await world.until(() => world.rebuild.jobs().at(-1).why === 'late' && world.rebuild.jobs().at(-1).state === 'done');
    await world.until(() => world.now >= END);
    assert.deepEqual(compared(world), compared(await undisturbed([...known, ...strange].sort((a, b) => a.ms - b.ms))));
  });
}

test('late readings that a fault of ours keeps from being located are not given up: it is shown, and they are located later', async () => {
  const backlog = ({ receiver, ms }) => receiver === '3' && ms > T + 2 * MIN && ms < T + 3 * MIN;
  const sent = walks(14, { people: 4, fromMs: T, toMs: END })
    .map((one) => (backlog(one) ? { ...one, atMs: T + 5 * MIN + (one.ms - T) / 1000 } : one)).sort((a, b) => a.atMs - b.atMs);
  const lateJob = ({ rebuild }, wanted) => rebuild.jobs().at(-1).why === 'late' && rebuild.jobs().at(-1).state === wanted;
  const faultless = await undisturbed(sent);
  const world = await undisturbed(sent, T + 4 * MIN);
  const { live } = world.site;
  live.newLocator = () => { throw new TypeError('ours'); };
  await world.until(() => lateJob(world, 'failed'));
  assert.match(world.rebuild.part().reason, /ours/);
  assert.throws(() => world.coverage.refuseIncomplete(T + 2 * MIN, T + 3 * MIN, ['3'], world.now), /being located again for 3/);
  delete live.newLocator;
  await world.until(() => lateJob(world, 'done'));
  assert.equal(world.rebuild.part().status, 'up');
  await world.until(() => world.now >= END);
  assert.deepEqual(compared(world), compared(faultless));
});

test('a backlog that comes while the past is located again, and a kill before that is through: it is located', async () => {
  const known = walks(25, { people: 4, fromMs: T, toMs: END });
  const strange = walks(26, { people: 1, fromMs: T + 4 * MIN, toMs: T + 6 * MIN }).map((one) => ({ ...one, receiver: 'new' }));
  const late = strange.map((one) => ({ ...one, atMs: T + 9 * MIN + 300 + (one.ms - T) / 1000 }));
  const world = new World([...known, ...late].sort((a, b) => a.atMs - b.atMs), T).start();
  await world.until(() => world.now >= T + 8 * MIN);
  world.kill();
  while (world.now < T + 9 * MIN) world.pass(1000);
  world.start();
  await world.until(() => world.now >= T + 9 * MIN + 1500);
  assert.equal(world.rebuild.part().state, 'running');
  world.kill();
  world.start();
  await world.until(() => world.now >= END);
  assert.deepEqual(compared(world), compared(await undisturbed([...known, ...strange].sort((a, b) => a.ms - b.ms))));
});

test('a kill in the middle of locating the past: what was found there, and is little, is published after the next start', async () => {
  const sent = walks(27, { people: 1, fromMs: T, toMs: END });
  const world = new World(sent, T).start();
  await world.until(() => world.now >= T + 3 * MIN);
  world.kill();
  while (world.now < T + 9 * MIN) world.pass(1000);
  let isFirst = true;
  world.away = () => isFirst && (world.rebuild?.jobs()[0]?.at_ms ?? 0) > T + 7 * MIN; // InfluxDB goes away there
  world.start();
  await world.until(() => world.rebuild.part().status === 'degraded', MIN);
  world.pass(20_000);
  world.kill();
  isFirst = false;
  world.start();
  await world.until(() => world.now >= END);
  assert.deepEqual(compared(world), compared(await undisturbed(sent)));
});

for (const [which, endsMs] of [['does not hold up a recovery', END], ['does not either when nothing comes after it', T + 4 * MIN]]) {
  test(`a batch that never gets into InfluxDB ${which}`, async () => {
    const sent = walks(16, { people: 3, fromMs: T, toMs: endsMs });
    const world = new World(sent, T).start();
    await world.until(() => world.now >= T + 3 * MIN);
    world.kill();
    while (world.now < T + 4 * MIN) world.pass(1000);
    sent.findLast(({ atMs }) => atMs <= world.now).unstored = true; // the broker gave it to the flows alone
    world.start();
    await world.until(() => world.rebuild.part().state === 'idle', MIN);
    assert.ok(world.isComplete(T, endsMs));
  });
}

test('a start while Telegraf is away and nobody speaks: said in health, then all of it is located', async () => {
  const world = new World(walks(16, { people: 3, fromMs: T, toMs: T + 4 * MIN }), T).start();
  await world.until(() => world.now >= T + 3 * MIN);
  world.kill();
  while (world.now < T + 4 * MIN) world.pass(1000);
  world.ingestIsUp = () => false;
  world.start();
  await world.until(() => world.rebuild.part().status === 'degraded', MIN);
  assert.match(world.rebuild.part().reason, /InfluxDB does not have what arrived/);
  await world.until(() => world.now >= T + 35 * MIN);
  assert.equal(world.rebuild.part().state, 'running', 'what Telegraf still has is waited for');
  world.ingestIsUp = () => true;
  await world.until(() => world.rebuild.part().state === 'idle', 10_000);
  assert.equal(world.rebuild.part().status, 'up');
});

test('one late batch and a restart: history of all others is there, the batch is located, and only its receiver is read', async () => {
  const DAY = 24 * 60 * MIN;
  const sent = walks(17, { people: 5, fromMs: T, toMs: END });
  const readings = [{ beacon: BEACONS.c, rssi: -50 }];
  const old = [0, 1, 2, 3, 4].map((s) => ({ ms: T - 5 * DAY + s * 1000, atMs: T + 4 * MIN, kind: 'phone', receiver: '3' }))
    .map((one) => ({ ...one, payload: Buffer.from(JSON.stringify({ ts: one.ms, readings })) }));
  const others = walks(18, { people: 3, fromMs: T - 5 * DAY, toMs: T - 5 * DAY + MIN }).map((one) => ({ ...one, atMs: T }));
  const world = new World([...others.filter(({ receiver }) => receiver !== '3'), ...sent, ...old].sort((a, b) => a.atMs - b.atMs), T);
  world.delivered = others.length; // these were stored long ago
  world.start();
  await world.until(() => world.site.live.counters().late === old.length);
  await world.until(() => world.now >= T + 4 * MIN + 6000);
  world.kill();
  while (world.now < T + 5 * MIN) world.pass(1000);
  world.start();
  await world.until(() => world.rebuild.jobs().length > 0);
  assert.ok(world.isComplete(T - 6 * DAY, T + 2 * MIN), 'everybody else has it all');
  assert.ok(!world.isComplete(T - 6 * DAY, T + 2 * MIN, ['3']));
  await world.until(() => world.rebuild.jobs().at(-1).why === 'late' && world.rebuild.jobs().at(-1).state === 'done');
  assert.equal(world.rebuild.jobs().at(-1).readings, old.length);
  assert.equal(world.history(T - 6 * DAY, T - 4 * DAY).locations.length, old.length);
  await world.until(() => keptLate(world) === undefined, MIN);
  await world.until(() => world.now >= END);
  assert.deepEqual(compared(world), compared(await undisturbed(sent)));
});

test('after a start with a broker that keeps no order the last seconds are located once more, and once', async () => {
  for (const keepsOrder of [true, false]) {
    const world = Object.assign(new World(walks(5, { people: 2, fromMs: T, toMs: T + 6 * MIN }), T), { keepsOrder }).start();
    const firstMs = world.coverage.repeats.firstMs(T - MIN, T + MIN, null);
    assert.equal(firstMs, keepsOrder ? Infinity : world.startedMs - 15_000);
    await world.until(() => world.now >= T + 5 * MIN);
    await world.idle();
    assert.equal(world.coverage.repeats.count(), 0);
  }
});

/**
 * A broker delivers the locations of the first minutes once more, in their old form, after they were corrected.
 * @param {object[]} all readings in time @param {object[]} sent the same as they come @param {(world: World) => boolean} isCorrected
 * @param {number} [most] of the messages, the newest
 * @param {(message: object, world: World) => boolean} [isLast] the message before which they end; without it they end after four minutes
 */
async function deliverAgain(all, sent, isCorrected, most = Infinity, isLast = () => false) {
  const right = compared(await undisturbed(all, END, houseFile()));
  for (const keepsOrder of [true, false]) {
    const world = Object.assign(new World(sent, T, houseFile()), { keepsOrder }).start();
    const [earlier, take] = [[], world.take.bind(world)];
    let isOver = false;
    world.take = (message) => {
      isOver ||= isLast(message, world);
      if (!isOver) earlier.push(message);
      take(message);
    };
    await world.until(() => isOver || world.now >= T + 4 * MIN);
    delete world.take;
    await world.until(() => isCorrected(world));
    earlier.filter(({ topic }) => topic === 'sda/v1/locations').slice(-most).forEach(take);
    await world.until(() => world.now >= END);
    if (keepsOrder) assert.notDeepEqual(compared(world), right, 'the correction is overwritten');
    else assert.deepEqual(compared(world), right);
  }
}

test('a broker that keeps no order delivers what was corrected again, in its old form: in the end what is right is stored', async () => {
  const all = taggedWalks(7, { fromMs: T, toMs: END, tags: ['C0FFEE000001', 'C0FFEE000002'] });
  const isLate = ({ ms, receiver }) => receiver === 'gw-U-b' && ms > T + 3 * MIN && ms < T + 4 * MIN;
  const sent = all.map((one) => (isLate(one) ? { ...one, atMs: T + 4 * MIN + 1000 } : one)).sort((a, b) => a.atMs - b.atMs);
  const isJobDone = ({ rebuild }) => rebuild.jobs().at(-1).why === 'late' && rebuild.jobs().at(-1).state === 'done';
  await deliverAgain(all, sent, (world) => world.now > T + 4 * MIN + 2000 && isJobDone(world));
});

test('the same of what the live view corrected some seconds later', async () => {
  const all = taggedWalks(7, { fromMs: T, toMs: END, tags: ['C0FFEE000001', 'C0FFEE000002'] });
  let correctedMs = Infinity;
  const isCorrection = ({ topic, payload }, { now }) => {
    const is = topic === 'sda/v1/locations' && now > T + 3 * MIN && String(payload).includes('"corrected":true');
    if (is) correctedMs = now;
    return is;
  };
  await deliverAgain(all, all, (world) => world.now >= correctedMs + 20_000, 60, isCorrection);
});
