'use strict';

const assert = require('node:assert/strict');
const { once } = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, before, test } = require('node:test');
const { io } = require('socket.io-client');
const { BEACONS } = require('./support/building');
const { Broker, createDatabase, environment, nodeRed, until } = require('./support/stack');

// The real flows in a real Node-RED with a real Mosquitto; the database alone is played.
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'flows-'));
let broker; let client; let database; let env; let red;

before(async () => {
  broker = await Broker.create(folder);
  client = await broker.connect();
  database = await createDatabase(client);
  env = await environment(folder, { mqttPort: broker.port, influxUrl: database.url });
  red = nodeRed(env);
  await red.ready();
});
after(async () => {
  await red?.stop();
  await client?.endAsync(true);
  await broker?.program.stop();
  database?.server.closeAllConnections();
  database?.server.close();
  fs.rmSync(folder, { recursive: true });
});

const call = async (where, options) => {
  const response = await fetch(red.url + where, { redirect: 'manual', ...options });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) };
};
const health = async () => (await call('/health')).json();
const detect = (staff, room, rssi) => call(`/newbeacondetect?${new URLSearchParams({ user_address: staff, beacon_address: BEACONS[room], rssi })}`);
const historyOf = (staff) => {
  const now = Date.now() / 1000;
  return call(`/extractbeacon?staff_id=${staff}&start_time=${now - 60}&end_time=${now + 1}`);
};
const history = async (staff) => (await historyOf(staff)).json().location.map(({ location }) => location);
const seen = (topic, match = () => true) => client.seen.filter((message) => message.topic === topic && match(message));
const wholeSecond = (ms) => Math.floor(ms / 1000) * 1000;
const batch = (readings, ts = Date.now()) => JSON.stringify({ v: 1, ts, readings });
const login = async () => {
  const { headers } = await call('/login', { method: 'POST', body: new URLSearchParams({ user: 'admin', password: 'secret-word' }) });
  return headers.getSetCookie().map((cookie) => cookie.split(';')[0]).join('; ');
};

test('everything is up once the heartbeat came back from the database', async () => {
  const askedMs = Date.now();
  const report = await until('health is up', async () => {
    const now = await health();
    return now.status === 'up' && now.parts.rebuild.state === 'idle' && now;
  });
  assert.deepEqual(Object.keys(report.parts), ['broker', 'live', 'influxdb', 'ingest', 'rebuild', 'building', 'clock', 'losses', 'keys', 'audit']);
  const lag = report.parts.ingest.store_lag_ms; // the first heartbeat goes out at the start
  assert.ok(lag >= 0 && lag <= report.uptime_s * 1000 + 1000 + (Date.now() - askedMs), `${lag} ms`);
});

test('a reading given by hand comes back as history, location, presence and event', async () => {
  await until('the time before the start is located', async () => (await historyOf('41')).status === 200);
  assert.equal((await detect('41', 'b', -20)).text, 'New Beacon Detection Added');
  await until('it is history', async () => (await history('41')).length === 1, 2000);
  const location = await until('it is published', () => seen('sda/v1/locations', ({ text }) => text.includes('"41"'))[0]);
  const { ts: second, ...rest } = location.data.locations[0];
  assert.deepEqual(rest, { staff_id: '41', level: 'L1', room: 'b', beacon: BEACONS.b, rssi: -20, sure_pct: 91 });
  assert.equal(seen('sda/v1/staff/41/location')[0].data.state, 'present');
  const { ts, ...event } = seen('sda/v1/events', ({ data }) => data.staff_id === '41')[0]?.data ?? {};
  assert.deepEqual(event, { type: 'enter', staff_id: '41', level: 'L1', room: 'b', subject: '41' });
  assert.equal(second, wholeSecond(ts));
  const late = await broker.connect();
  const retained = await until('presence is retained', () => late.seen.find(({ topic }) => topic === 'sda/v1/staff/41/location'));
  assert.equal(retained.retain, true);
  await late.endAsync(true);
});

test('what is refused is kept with its reason, its neighbours go on', async () => {
  const good = { beacon: BEACONS.c, rssi: -60 };
  await client.publishAsync('sda/v1/phone/42/readings', 'no JSON', { qos: 1 });
  await client.publishAsync('sda/v1/phone/42/readings', batch([good, { ...good, rssi: 'loud' }]), { qos: 1 });
  const rejected = await until('both are rejected', () => {
    const found = seen('sda/v1/rejected', ({ data }) => data.receiver === '42');
    return found.length === 2 && found;
  });
  assert.deepEqual(rejected.map(({ data }) => data.reason), ['not_json', 'rssi_invalid']);
  assert.ok(rejected[1].data.ts > rejected[0].data.ts);
  assert.deepEqual(await until('the good one is history', async () => (await history('42'))[0] && history('42')), ['Room C']);
});

test('without login nothing comes: pages, programs, admin API', async () => {
  const page = await call('/dashboard/floor', { headers: { accept: 'text/html' } });
  assert.equal(page.status, 302);
  assert.match(page.headers.get('location'), /^\/login\?next=/);
  for (const where of ['/dashboard', '/dashboard/floor', '/dashboard/_setup', '/dashboard/_debug/datastore/view-floor', '/dashboard/_debug/statestore/view-floor',
    '/pages/resources/sda-dashboard/page.js', '/pages/plans/L1']) {
    assert.equal((await call(where)).status, 401, where);
    assert.equal((await call(where, { headers: { 'x-api-key': 'key' } })).status, 401, where);
    assert.equal((await call(where, { headers: { cookie: 'sda_session=eyJ1bnRpbCI6OTk5OTk5OTk5OTk5OTl9; sda_session.sig=x' } })).status, 401, where);
  }
  for (const where of ['/flows', '/settings', '/nodes', '/editor', '/editor/flows', '/auth/token', '/diagnostics', '/red/red.min.js']) {
    const answer = await call(where);
    assert.equal(answer.status, 404, where);
    assert.equal(answer.json().error, `there is no ${where}`);
  }
});

for (const transport of ['polling', 'websocket']) {
  test(`without login nothing comes over the socket by ${transport}`, async () => {
    const socket = io(red.url, { path: '/dashboard/socket.io', transports: [transport], reconnection: false });
    const events = [];
    socket.onAny((name) => events.push(name));
    const [error] = await once(socket, 'connect_error');
    assert.match(error.message, /login is needed/);
    assert.deepEqual(events, []);
    socket.close();
  });

  test(`with login the floor comes over the socket by ${transport}, until logout`, async () => {
    const cookie = await login();
    assert.equal((await call('/dashboard/_setup', { headers: { cookie } })).status, 200);
    const socket = io(red.url, { path: '/dashboard/socket.io', transports: [transport], reconnection: false, extraHeaders: { cookie } });
    const received = { building: [], snapshot: [] };
    for (const what of ['building', 'snapshot']) socket.on(`sda:${what}`, (data) => received[what].push(data));
    await once(socket, 'connect');
    socket.emit('sda:watch', { topic: 'floor:L1', building: null });
    const snapshot = await until('a snapshot comes', () => received.snapshot[1]);
    assert.equal(received.building.length, 1);
    assert.equal(received.building[0].name, 'Small House');
    assert.equal(snapshot.status.building, received.building[0].digest);
    assert.ok(snapshot.people.some(({ id, room, state }) => id === '41' && room === 'b' && state === 'present'));
    const gone = once(socket, 'disconnect');
    await call('/logout', { method: 'POST', headers: { cookie } });
    await gone;
    assert.equal((await call('/dashboard/_setup', { headers: { cookie } })).status, 401);
  });
}

test('Basic credentials do for programs', async () => {
  const basic = (word) => ({ headers: { authorization: `Basic ${Buffer.from(`admin:${word}`).toString('base64')}` } });
  assert.equal((await call('/dashboard/_setup', basic('secret-word'))).status, 200);
  assert.equal((await call('/dashboard/_setup', basic('wrong'))).status, 401);
});

test('the database away is reported, and recent history is answered all the same', async () => {
  database.away = true;
  const { parts } = await until('health says so', async () => {
    const now = await health();
    return now.parts.influxdb.status === 'degraded' && now;
  });
  assert.ok(parts.influxdb.reason && parts.influxdb.remedy && parts.ingest.reason);
  assert.equal((await call('/extractbeacon?staff_id=41&start_time=1&end_time=2')).status, 503);
  database.away = false;
  await until('health is up again', async () => (await health()).status === 'up');
});

test('the broker away is reported; afterwards all goes on', async () => {
  await broker.program.stop();
  await until('health says so', async () => (await health()).parts.broker.status === 'degraded');
  const answer = await detect('43', 'a', -50);
  assert.equal(answer.status, 503);
  assert.ok(answer.headers.has('retry-after'));
  await broker.start();
  await until('health is up again', async () => (await health()).status === 'up');
  assert.equal((await detect('43', 'a', -50)).status, 200);
  await until('it is history', async () => (await history('43')).length === 1);
});

test('what was published while Node-RED was down is located when it is back', async () => {
  await red.stop();
  const sent = Date.now();
  await client.publishAsync('sda/v1/phone/44/readings', batch([{ beacon: BEACONS.d, rssi: -60 }], sent), { qos: 1 });
  red = nodeRed(env);
  const statuses = new Set();
  await until('it answers', async () => {
    const { status, headers } = await call('/health');
    statuses.add(status);
    return status === 200 || (assert.ok(headers.has('retry-after')), false);
  }, 20_000);
  assert.ok([...statuses].every((status) => status === 200 || status === 503), 'nobody reads that there is nothing here');
  await red.ready();
  await until('it is history at its own time', async () => {
    const found = seen('sda/v1/locations', ({ text }) => text.includes('"44"'))[0];
    return found?.data.locations.some(({ ts }) => ts === wholeSecond(sent));
  });
});

test('the log names no secret', () => {
  for (const secret of ['secret-word', 'token', env.SDA_API_KEY]) assert.ok(!new RegExp(`\\b${secret}\\b`).test(red.output), red.output);
});
