'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const fc = require('./support/fast-check');
const { createBuilding } = require('../lib/building');
const { Site } = require('../lib/site');
const {
  contacts, createRoomRanking, createStaffRanking, createPatrols, occupancy, visits,
  allStays, within,
} = require('../lib/past/views');
const { Crowding, REARM_MS } = require('../lib/live/presence');
const { smallBuilding, BEACONS } = require('./support/building');
const { receive } = require('./support/receive');

const building = createBuilding(smallBuilding());
const LEVEL = { a: 'L1', b: 'L1', c: 'L2', d: 'L2' };
const stay = (staff, room, enter, leave, open = false) => ({
  staff_id: staff, level: LEVEL[room], room, enter_ms: enter, leave_ms: leave, open });
const presence = (staff, room, since, ts, state = 'present') => ({ staff_id: staff, level: LEVEL[room] ?? 'L1', room, since, ts, state });

// Times are small whole numbers, so that an oracle may look at each of them.
const END = 24;
/** One person's day: room after room, with gaps, never in two at once. */
const part = fc.record({ room: fc.constantFrom('a', 'b', 'c', 'd'), gap: fc.nat(2), length: fc.integer({ min: 1, max: 5 }) });
const day = fc.array(part, { maxLength: 6 });
const days = fc.array(day, { minLength: 1, maxLength: 4 }).map((people) => people.flatMap((parts, person) => {
  let at = 0;
  return parts.map(({ room, gap, length }) => {
    const enter = at + gap;
    at = enter + length;
    return stay(String(person), room, enter, at);
  });
}));
const windows = fc.tuple(fc.nat(END), fc.nat(END)).map(([a, b]) => ({ fromMs: Math.min(a, b), toMs: Math.max(a, b) }));
const instants = ({ fromMs, toMs }) => Array.from({ length: toMs - fromMs }, (_, i) => fromMs + i);
/** Where somebody was in the millisecond that begins at t. */
const at = (stays, staff, t) => stays.find((one) => one.staff_id === staff && one.enter_ms <= t && t < one.leave_ms)?.room;
const people = (stays) => [...new Set(stays.map(({ staff_id: id }) => id))].sort();
const sum = (numbers) => numbers.reduce((total, one) => total + one, 0);

test('contacts: time together is what an observer of each millisecond counts', () => {
  fc.assert(fc.property(days, windows, fc.nat(6), (stays, window, least) => {
    const expected = people(stays).filter((other) => other !== '0').map((other) => ({
      other, together: instants(window).filter((t) => at(stays, '0', t) && at(stays, '0', t) === at(stays, other, t)).length }))
      .filter(({ together }) => together > 0 && together >= least)
      .sort((a, b) => b.together - a.together || (a.other < b.other ? -1 : 1));
    const found = contacts(stays, '0', window, least);
    assert.deepEqual(found.map(({ staff_id: other, total_s: total }) => ({ other, together: Math.round(total * 1000) })), expected);
    for (const { meetings, total_s: total, longest_s: longest, staff_id: other } of found) {
      assert.ok(Math.abs(sum(meetings.map((one) => one.duration_s)) - total) < 1e-9);
      assert.equal(longest, Math.max(...meetings.map((one) => one.duration_s)));
      for (const { room, start_ms: start, end_ms: end } of meetings) {
        for (let t = start; t < end; t += 1) assert.ok(at(stays, '0', t) === room && at(stays, other, t) === room);
        const before = at(stays, '0', start - 1) === room && at(stays, other, start - 1) === room;
        assert.ok(start === window.fromMs || !before, 'a meeting is unbroken');
      }
    }
  }), { numRuns: 500 });
});

test('contacts are mutual, and a shorter least time never takes one away', () => {
  fc.assert(fc.property(days, windows, fc.nat(6), (stays, window, least) => {
    for (const one of people(stays)) {
      for (const { staff_id: other, total_s: total } of contacts(stays, one, window, least)) {
        assert.equal(contacts(stays, other, window, 0).find(({ staff_id: id }) => id === one).total_s, total);
      }
    }
  }));
});

test('contacts: several meetings are summed, who just passed in the door is none, doubled stays count once', () => {
  const stays = [stay('0', 'a', 0, 60_000), stay('0', 'a', 30_000, 90_000), stay('0', 'b', 90_000, 200_000),
    stay('1', 'a', 10_000, 20_000), stay('1', 'b', 100_000, 130_000), stay('2', 'a', 90_000, 95_000), stay('3', 'a', 0, 90_000)];
  const found = contacts(stays, '0', { fromMs: 0, toMs: 1e9 }, 0);
  assert.deepEqual(found.map(({ staff_id: id, total_s: total, longest_s: longest, meetings }) => [id, total, longest, meetings.length]),
    [['3', 90, 90, 1], ['1', 40, 30, 2]]);
  assert.deepEqual(contacts(stays, '0', { fromMs: 0, toMs: 1e9 }, 40_000).length, 2);
  assert.deepEqual(contacts(stays, '0', { fromMs: 0, toMs: 1e9 }, 40_001).length, 1);
  assert.deepEqual(found[1].meetings[0], { level: 'L1', room: 'a', start_ms: 10_000, end_ms: 20_000, duration_s: 10 });
  assert.deepEqual(contacts(stays, 'nobody', { fromMs: 0, toMs: 1e9 }, 0), []);
});

test('contacts of one among ten thousand come in a moment', () => {
  const round = (i) => Math.floor(i / 10_000) * 100;
  const stays = Array.from({ length: 200_000 },
    (_, i) => stay(String(i % 10_000), 'abcd'[(i * 7) % 4], round(i) + (i % 97), round(i) + 98));
  const before = process.threadCpuUsage(); // this machine may be busy with others
  assert.ok(contacts(stays, '0', { fromMs: 0, toMs: 1e9 }, 0).length > 1000);
  assert.ok(process.threadCpuUsage(before).user < 2_000_000);
});

/** The top of a ranking, with every stay in it. */
function top(ranking, stays, by, count) {
  stays.forEach(ranking.add);
  return ranking.top(by, count);
}

test('top rooms and staff: visits and time are what an observer of each millisecond counts', () => {
  fc.assert(fc.property(days, windows, fc.constantFrom('visits', 'time'), fc.integer({ min: 1, max: 5 }), (stays, window, by, count) => {
    const touching = stays.filter((one) => instants(window).some((t) => one.enter_ms <= t && t < one.leave_ms));
    for (const [create, key, other] of [[createRoomRanking, 'room', 'staff_id'], [createStaffRanking, 'staff_id', 'room']]) {
      const found = top(create(window), stays, by, 99);
      assert.deepEqual(found.map((one) => one[key]).sort(), [...new Set(touching.map((one) => one[key]))].sort());
      for (const row of found) {
        const own = touching.filter((one) => one[key] === row[key]);
        assert.equal(row.visits, own.length);
        const ms = own.map((one) => instants(window).filter((t) => one.enter_ms <= t && t < one.leave_ms).length);
        assert.equal(Math.round(row.time_s * 1000), sum(ms));
        assert.equal(row.staff ?? row.rooms, new Set(own.map((one) => one[other])).size);
      }
      const measure = (row) => (by === 'visits' ? [row.visits, row.time_s] : [row.time_s, row.visits]);
      found.slice(1).forEach((row, i) => assert.ok(measure(found[i])[0] > measure(row)[0]
        || (measure(found[i])[0] === measure(row)[0] && measure(found[i])[1] >= measure(row)[1])));
    }
    const rooms = (most) => top(createRoomRanking(window), stays, by, most);
    assert.deepEqual(rooms(count), rooms(99).slice(0, count));
  }), { numRuns: 300 });
});

test('visits of a room: each that touches the window, newest first', () => {
  fc.assert(fc.property(days, windows, fc.constantFrom('a', 'b', 'c', 'd'), (stays, window, room) => {
    const found = visits(stays, room, window);
    const expected = stays.filter((one) => one.room === room && instants(window).some((t) => one.enter_ms <= t && t < one.leave_ms));
    assert.deepEqual(new Set(found.map((one) => `${one.staff_id} ${one.enter_ms} ${one.leave_ms}`)),
      new Set(expected.map((one) => `${one.staff_id} ${one.enter_ms} ${one.leave_ms}`)));
    assert.equal(found.length, expected.length);
    found.slice(1).forEach((one, i) => assert.ok(found[i].enter_ms >= one.enter_ms));
    for (const one of found) {
      const inside = instants(window).filter((t) => one.enter_ms <= t && t < one.leave_ms).length;
      assert.equal(Math.round(one.in_window_s * 1000), inside);
    }
  }));
});

function lastPatrolled(stays, nowMs, leastMs = 0) {
  const patrols = createPatrols(leastMs);
  stays.forEach(patrols.add);
  return patrols.rows(building, nowMs);
}

test('last patrolled: the last millisecond in which an observer saw anybody in the room', () => {
  fc.assert(fc.property(days, fc.nat(4), (stays, least) => {
    const long = stays.filter((one) => one.leave_ms - one.enter_ms >= least);
    for (const row of lastPatrolled(stays, 1000, least)) {
      const seen = long.filter(({ room }) => room === row.room).map(({ leave_ms: leave }) => leave);
      assert.equal(row.last_ms, seen.length > 0 ? Math.max(...seen) : null);
      if (row.last_ms === null) assert.deepEqual([row.staff_id, row.age_s, row.ongoing], [null, null, false]);
      else {
        assert.ok(long.some((one) => one.room === row.room && one.leave_ms === row.last_ms && one.staff_id === row.staff_id));
        assert.equal(row.age_s, (1000 - row.last_ms) / 1000);
      }
    }
  }));
});

test('last patrolled by several at once: by who was there longest; who is there now is ongoing', () => {
  const stays = [stay('1', 'a', 5, 20), stay('2', 'a', 2, 20), stay('0', 'a', 5, 20), stay('3', 'a', 0, 19)];
  assert.equal(lastPatrolled(stays, 100)[0].staff_id, '2');
  const now = allStays([stay('1', 'a', 5, 20)], [presence('7', 'a', 30, 30)]);
  assert.deepEqual(lastPatrolled(now, 1030)[0],
    { level: 'L1', room: 'a', name: 'Room A', last_ms: 30, staff_id: '7', ongoing: true, age_s: 1 });
});

const presences = fc.uniqueArray(fc.record({ staff: fc.nat(30), room: fc.constantFrom('a', 'b', 'c', 'd', 'gone'),
  state: fc.constantFrom('present', 'stale', 'lost') }), { selector: ({ staff }) => staff })
  .map((all) => all.map(({ staff, room, state }) => presence(String(staff), room, 0, 1, state)));

test('occupancy: everybody not lost is in exactly one room, every room is there', () => {
  const data = smallBuilding();
  data.levels[0].rooms[0].limit = 2;
  const limited = createBuilding(data);
  fc.assert(fc.property(presences, (all) => {
    const rows = occupancy(limited, all);
    assert.deepEqual(rows.slice(0, 4).map(({ room }) => room), ['a', 'b', 'c', 'd']);
    assert.ok(rows.length === 4 || (rows.length === 5 && rows[4].room === 'gone' && rows[4].count > 0));
    for (const { room, count, people: inside, crowded: full } of rows) {
      assert.deepEqual(inside.map(({ staff_id: id }) => id),
        all.filter((one) => one.room === room && one.state !== 'lost').map(({ staff_id: id }) => id).sort());
      assert.equal(count, inside.length);
      assert.equal(full, room === 'a' && count > 2);
    }
  }));
});

test('stays: the same one twice is one, the longer; who is there goes on; who is lost has left', () => {
  const stored = [stay('0', 'a', 10, 20), stay('0', 'a', 10, 30), stay('0', 'a', 10, 25), stay('1', 'b', 5, 9), stay('2', 'c', 7, 9)];
  const all = allStays(stored, [presence('0', 'a', 10, 28, 'lost'), presence('1', 'b', 5, 40, 'stale'), presence('3', 'd', 50, 50)]);
  assert.deepEqual(all, [stay('1', 'b', 5, 40, true), stay('2', 'c', 7, 9), stay('0', 'a', 10, 30), stay('3', 'd', 50, 50, true)]);
  assert.deepEqual(within(all[3], { fromMs: 50, toMs: 51 }), { startMs: 50, endMs: 50 });
  assert.equal(within(all[3], { fromMs: 40, toMs: 50 }), null);
  assert.equal(within(all[2], { fromMs: 30, toMs: 40 }), null);
  assert.equal(within(all[2], { fromMs: 0, toMs: 10 }), null);
});

/** Crowding of room a (limit 2) with so many people in it at each second. */
function crowded(counts, stepMs = 1000) {
  const data = smallBuilding();
  data.levels[0].rooms[0].limit = 2;
  const limited = createBuilding(data);
  const crowding = new Crowding();
  return counts.flatMap((count, i) => crowding.tick(
    Array.from({ length: count }, (_, person) => presence(String(person), 'a', 0, 1)), limited, i * stepMs));
}

test('crowded: published once above the limit, again only after half a minute at or below it', () => {
  const seconds = REARM_MS / 1000;
  assert.deepEqual(crowded([1, 2, 3, 4, 3]), [{ ts: 2000, type: 'crowded', level: 'L1', room: 'a', count: 3, limit: 2 }]);
  assert.equal(crowded([3, 2, 3, 2, 3]).length, 1, 'a step out of the door');
  assert.equal(crowded([3, ...Array(seconds).fill(2), 3]).length, 1);
  assert.equal(crowded([3, ...Array(seconds + 1).fill(2), 3]).length, 2);
  assert.deepEqual(crowded([2, 2, 2]), []);
});

test('crowded: as many times as there are crowds with half a minute of peace between them', () => {
  fc.assert(fc.property(fc.array(fc.nat(4), { maxLength: 60 }), (counts) => {
    let [expected, peaceful] = [0, Infinity]; // looks at or below the limit since the last crowd
    for (const count of counts) {
      if (count <= 2) peaceful += 1;
      else {
        if (peaceful > 3) expected += 1;
        peaceful = 0;
      }
    }
    assert.equal(crowded(counts, REARM_MS / 3).length, expected);
  }));
});

test('crowded: lost people do not count, rooms without limit are never crowded, a raised limit ends it', () => {
  const crowding = new Crowding();
  const many = ['0', '1', '2'].map((id) => presence(id, 'a', 0, 1));
  assert.deepEqual(crowding.tick(many, building, 0), []);
  const data = smallBuilding();
  data.levels[0].rooms[0].limit = 2;
  const limited = createBuilding(data);
  assert.deepEqual(crowding.tick(many.map((one, i) => ({ ...one, state: i === 0 ? 'lost' : 'stale' })), limited, 0), []);
  assert.equal(crowding.tick(many, limited, 1).length, 1);
  assert.deepEqual(crowding.tick(many, building, 2), []);
  assert.equal(crowding.tick(many, limited, 3).length, 1);
});

test('a crowded room is an event of the site', () => {
  const data = smallBuilding();
  data.levels[0].rooms[0].limit = 1;
  const T = 1_700_000_000_000;
  const site = new Site(createBuilding(data), T);
  const sent = [];
  site.broker.outbox.attach({ connected: () => true, send: (message) => sent.push(message) });
  for (let s = 0; s <= 10; s += 1) {
    for (const who of ['1', '2']) {
      const payload = JSON.stringify({ ts: T + s * 1000, readings: [{ beacon: BEACONS.a, rssi: -50 }] });
      receive(site, `sda/v1/phone/${who}/readings`, Buffer.from(payload), T + s * 1000);
    }
    site.tick(T + s * 1000);
  }
  const events = sent.filter(({ topic }) => topic === 'sda/v1/events').map(({ payload }) => JSON.parse(payload));
  const found = events.filter(({ type }) => type === 'crowded');
  assert.deepEqual(found.map(({ ts: _ts, ...rest }) => rest), [{ type: 'crowded', level: 'L1', room: 'a', count: 2, limit: 1, subject: 'a' }]);
  assert.equal(site.live.counters().events, events.length);
});
