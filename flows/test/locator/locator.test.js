// @ts-check
'use strict';

const assert = require('node:assert/strict');
const { describe, test } = require('node:test');
const { createLocator, emptyOutcome, DEFAULTS } = require('../../lib/locator');
const { createBuilding } = require('../../lib/building');
const { beaconOf, house, houseFile } = require('./house');
const { createEther, PLACES } = require('./radio');

const T0 = 1_700_000_000_000;

/** A locator with everything it found so far, and a clock that runs with the batches. */
function createScene(building = house()) {
  const locator = createLocator(building);
  for (const id of building.gateways.keys()) locator.setGateway(id, true);
  const outcome = emptyOutcome();
  let nowMs = T0;
  /** @param {number} ms */
  function wait(ms) {
    for (const end = nowMs + ms; nowMs < end;) {
      nowMs = Math.min(end, nowMs + 100);
      locator.tick(nowMs, outcome);
    }
  }
  return {
    locator,
    outcome,
    wait,
    now: () => nowMs,
    /** @param {import('../../lib/live/readings').Batch} batch @param {number} [delayMs] */
    hear(batch, delayMs = 20) {
      if (batch.ts + delayMs > nowMs) wait(batch.ts + delayMs - nowMs);
      locator.hear(batch, nowMs, outcome);
    },
    /** @param {string} id */
    where: (id) => locator.presences().find(({ staff_id: one }) => one === id),
    /** Histories read better without times. @param {keyof typeof outcome} what @param {string} id */
    list: (what, id) => /** @type {any[]} */ (outcome[what]).filter(({ staff_id: one }) => one === id),
    /** Rooms and states as they were published; how likely a room is does not count. @param {string} id */
    said: (id) => outcome.presences.filter(({ staff_id: one }) => one === id).map(({ room, state }) => `${room} ${state}`)
      .filter((one, n, all) => one !== all[n - 1]),
  };
}

/**
 * A batch as of a transmitter that is so much stronger. @param {number} addedDb
 * @param {import('../../lib/live/readings').Batch} batch
 */
const louder = (addedDb, batch) => ({ ...batch, readings: batch.readings.map((one) => ({ ...one, rssi: one.rssi + addedDb })) });

/** Somebody's phone for some seconds at each place. @param {ReturnType<typeof createScene>} scene @param {[string, number][]} walk */
function walkWithPhone(scene, walk, ether = createEther(house())) {
  for (const [room, seconds] of walk) {
    for (let s = 0; s < seconds; s += 2) scene.hear(ether.phone(PLACES[room], scene.now() + 2000));
  }
}

/** @param {ReturnType<typeof createScene>} scene @param {string} room @param {number} seconds */
function standWithTag(scene, room, seconds, ether = createEther(house()), out = '') {
  for (let s = 0; s < seconds; s += 1) {
    const start = scene.now();
    for (const batch of ether.gateways(PLACES[room], start)) if (batch.receiver !== out) scene.hear(batch);
    scene.wait(start + 1000 - scene.now());
  }
}

describe('rooms', () => {
  test("a phone's way through the house becomes stays, events and a location for each batch", () => {
    const scene = createScene();
    walkWithPhone(scene, [['G-a', 30], ['G-hall', 20], ['G-lift', 20], ['U-lift', 20], ['U-hall', 20], ['U-c', 30]]);
    const rooms = ['G-a', 'G-hall', 'G-lift', 'U-lift', 'U-hall', 'U-c'];
    assert.deepEqual(scene.list('events', '0').filter(({ type }) => type === 'enter').map(({ room }) => room), rooms);
    assert.deepEqual(scene.list('stays', '0').map(({ room }) => room), rooms.slice(0, -1));
    for (const stay of scene.list('stays', '0')) {
      assert.ok(Math.abs(stay.duration_s - (stay.room === 'G-a' ? 30 : 20)) <= 8, JSON.stringify(stay));
    }
    assert.equal(new Set(scene.list('locations', '0').map(({ ts }) => ts)).size, 70);
    assert.deepEqual(scene.where('0')?.level, 'U');
  });

  test('a tag among gateways is followed; one location a second', () => {
    const scene = createScene();
    standWithTag(scene, 'G-a', 20);
    standWithTag(scene, 'G-hall', 20);
    standWithTag(scene, 'G-c', 20);
    assert.deepEqual(scene.said('1'), ['G-a present', 'G-hall present', 'G-c present']);
    const seconds = scene.list('locations', '1').map(({ ts }) => ts);
    assert.ok(seconds.every((ts) => ts % 1000 === 0));
    assert.ok(new Set(seconds).size >= 59 && new Set(seconds).size <= 61);
  });

  test('a tag that the nearest gateway has not reported yet is not located before that is sure', () => {
    const scene = createScene();
    const first = scene.now();
    scene.hear({ kind: 'gateway', receiver: 'gw-G-hall', ts: first + 100, readings: [{ beacon: 'C0FFEE000001', rssi: -78 }] });
    scene.wait(500);
    assert.deepEqual(scene.list('presences', '1'), []);
    standWithTag(scene, 'G-b', 10);
    assert.deepEqual(scene.said('1'), ['G-b present']);
    assert.deepEqual(scene.list('events', '1').map(({ type, room }) => [type, room]), [['enter', 'G-b']]);
    assert.ok(scene.list('locations', '1').length >= 10);
  });

  test('who is heard by three devices that leave no doubt is shown at once', () => {
    const scene = createScene();
    scene.hear(createEther(house()).phone(PLACES['G-a'], scene.now()));
    assert.equal(scene.where('0')?.room, 'G-a');
    assert.deepEqual(scene.list('events', '0').map(({ type, room }) => [type, room]), [['enter', 'G-a']]);
    const strongest = createEther(house()).phone(PLACES['G-a'], scene.now(), '1');
    strongest.readings = strongest.readings.sort((a, b) => b.rssi - a.rssi).slice(0, DEFAULTS.sureDevices - 1);
    scene.hear(strongest);
    assert.equal(scene.where('1'), undefined, 'of fewer devices one may be strongest by chance');
  });

  test('a tag that is heard only once is located all the same', () => {
    const scene = createScene();
    scene.hear({ kind: 'gateway', receiver: 'gw-G-hall', ts: scene.now() + 100, readings: [{ beacon: 'C0FFEE000001', rssi: -78 }] });
    scene.wait(DEFAULTS.arriveMs - 1000);
    assert.deepEqual(scene.list('presences', '1'), [], 'more may be heard, and show another room');
    assert.equal(scene.where('1'), undefined, 'nor are they lost');
    scene.wait(2000);
    assert.deepEqual(scene.list('presences', '1').map(({ state }) => state), ['present']);
    assert.deepEqual(scene.list('events', '1').map(({ type }) => type), ['enter']);
  });

  /**
   * Half an hour within arm's reach of a wall: how often a room was found, and the share of the right one.
   * @param {'phone'|'tag'} kind @param {number} seed @param {number} noiseDb of each reading
   */
  function standByTheWall(kind, seed, noiseDb) {
    const ether = createEther(house(), seed, noiseDb);
    const locator = createLocator(house());
    for (const id of house().gateways.keys()) locator.setGateway(id, true);
    const outcome = emptyOutcome();
    const byTheWall = { room: 'G-a', x: 9.4, y: 11 };
    for (let s = 0; s < 1800; s += 2) {
      const startMs = T0 + s * 1000;
      if (kind === 'phone') locator.hear(ether.phone(byTheWall, startMs), startMs + 20, outcome);
      else {
        const batches = [startMs, startMs + 1000].flatMap((ms) => ether.gateways(byTheWall, ms));
        for (const batch of batches) locator.hear(batch, batch.ts + 20, outcome);
      }
      locator.tick(startMs + 1999, outcome);
    }
    const rooms = [...new Map(outcome.locations.map(({ ts, room }) => [ts, room])).values()];
    const moves = outcome.presences.filter(({ room }, n) => room !== outcome.presences[n - 1]?.room).length;
    return { moves, right: rooms.filter((room) => room === 'G-a').length / rooms.length };
  }

  for (const kind of /** @type {const} */ (['phone', 'tag'])) {
    test(`standing still between two rooms does not flip (${kind})`, () => {
      for (const seed of [1, 2, 3]) assert.deepEqual(standByTheWall(kind, seed, 4), { moves: 1, right: 1 }, `${seed}`);
    });
  }

  test('strong noise may flip, but rarely and not for long', () => {
    for (const seed of [1, 2, 3]) {
      const { moves, right } = standByTheWall('phone', seed, 6);
      assert.ok(right > 0.98 && moves <= 15, `${right} ${moves}`);
    }
  });

  test('a tag or phone 15 dB stronger or weaker is in the same rooms in 98 % of the seconds', () => {
    /** @param {number} addedDb @param {number} seed */
    const roomsOf = (addedDb, seed) => {
      const scene = createScene();
      const ether = createEther(house(), seed);
      for (let round = 0; round < 3; round += 1) {
        for (const room of ['G-a', 'G-hall', 'G-b', 'G-hall', 'G-c', 'G-lift', 'U-lift', 'U-hall', 'U-b', 'U-hall', 'U-lift', 'G-lift', 'G-hall']) {
          for (let s = 0; s < 30; s += 1) {
            const start = scene.now();
            for (const batch of ether.gateways(PLACES[room], start)) scene.hear(louder(addedDb, batch));
            if (s % 2 === 0) scene.hear(louder(addedDb, ether.phone(PLACES[room], start + 1000)));
            scene.wait(start + 1000 - scene.now());
          }
        }
      }
      return new Map(scene.outcome.locations.map(({ ts, staff_id: id, room }) => [`${id} ${ts}`, room]));
    };
    for (const seed of [1, 2]) {
      const usual = roomsOf(0, seed);
      for (const addedDb of [-15, 15]) {
        const other = roomsOf(addedDb, seed);
        const same = [...usual].filter(([second, room]) => other.get(second) === room).length;
        assert.ok(same >= 0.98 * usual.size, `${addedDb} dB, ${seed}: ${(100 * same / usual.size).toFixed(1)} %`);
      }
    }
  });

  test('the strength of a tag is learned where positions are measured, and kept over a change of the building', () => {
    const learnedOf = (/** @type {number} */ addedDb) => {
      const scene = createScene();
      const ether = createEther(house());
      scene.locator.onSample(() => {}); // the plan is asked of those who are learned from
      for (let s = 0; s < 300; s += 1) {
        const start = scene.now();
        for (const batch of ether.gateways(PLACES['G-b'], start)) scene.hear(louder(addedDb, batch));
        scene.wait(start + 1000 - scene.now());
      }
      const strength = () => scene.locator.learnedStrengths().find(({ staff_id: id }) => id === '1') ?? { level_db: NaN, level_sd_db: NaN };
      const learned = strength();
      scene.locator.setBuilding(house({ 'gw-G-a': { rssi_offset: 3 } }), scene.now(), scene.outcome);
      assert.deepEqual(strength(), learned);
      return learned;
    };
    const [usual, strong] = [learnedOf(0), learnedOf(15)];
    const addedDb = Number(strong.level_db) - Number(usual.level_db);
    assert.ok(addedDb > 12 && addedDb < 18 && Number(strong.level_sd_db) < 3, JSON.stringify([usual, strong]));
  });

  test('a phone held to a beacon is there at once', () => {
    const scene = createScene();
    walkWithPhone(scene, [['U-c', 600]]);
    scene.hear({ kind: 'phone', receiver: '0', ts: scene.now() + 500, readings: [{ beacon: beaconOf('G-a'), rssi: -20 }] });
    assert.equal(scene.where('0')?.room, 'G-a');
  });

  test('silence of a gateway that goes out draws nobody away from it', () => {
    const scene = createScene();
    standWithTag(scene, 'G-b', 30);
    scene.locator.setGateway('gw-G-b', false);
    standWithTag(scene, 'G-b', 60, createEther(house()), 'gw-G-b');
    assert.equal(scene.where('1')?.room, 'G-b');
    standWithTag(scene, 'G-c', 20, createEther(house()), 'gw-G-b');
    assert.equal(scene.where('1')?.room, 'G-c', 'nor does it keep them');
  });

  test('who is heard only by gateways that are called out stays where they are', () => {
    const scene = createScene();
    standWithTag(scene, 'G-b', 30);
    for (const id of house().gateways.keys()) scene.locator.setGateway(id, false);
    standWithTag(scene, 'G-c', 30);
    assert.deepEqual([scene.where('1')?.room, scene.where('1')?.state], ['G-b', 'present']);
    for (const id of house().gateways.keys()) scene.locator.setGateway(id, true);
    standWithTag(scene, 'G-c', 30);
    assert.equal(scene.where('1')?.room, 'G-c');
  });

  test('a last will that came late holds until the gateway hears something of a later time', () => {
    const walk = (/** @type {ReturnType<typeof createScene>} */ scene) => {
      standWithTag(scene, 'G-a', 20);
      standWithTag(scene, 'G-b', 60, createEther(house()), 'gw-G-a');
      return [scene.where('1'), scene.locator.trace('1')?.rooms];
    };
    const withWill = createScene();
    const withoutWill = createScene();
    withWill.locator.setGateway('gw-G-a', false, withWill.now());
    assert.deepEqual(walk(withWill), walk(withoutWill), 'its silence means what it did');
    const gone = createScene();
    standWithTag(gone, 'G-a', 20);
    gone.locator.setGateway('gw-G-a', false, gone.now());
    assert.equal(gone.locator.save(gone.now(), gone.outcome).gateways.said.get('gw-G-a')?.up, false);
    standWithTag(gone, 'G-a', 2, createEther(house()));
    assert.equal(gone.locator.save(gone.now(), gone.outcome).gateways.said.get('gw-G-a')?.up, false, 'readings in flight come after its end');
    standWithTag(gone, 'G-a', 3, createEther(house()));
    assert.equal(gone.locator.save(gone.now(), gone.outcome).gateways.said.get('gw-G-a'), undefined);
  });
});

describe('time', () => {
  test('stale after 30 s, lost after 60 s, the stay ends with the last reading, present again at once', () => {
    const scene = createScene();
    walkWithPhone(scene, [['G-a', 20]]);
    const lastMs = scene.where('0')?.ts ?? NaN;
    const before = scene.outcome.presences.length;
    scene.wait(lastMs + 29_900 - scene.now());
    assert.equal(scene.where('0')?.state, 'present');
    scene.wait(200);
    assert.equal(scene.where('0')?.state, 'stale');
    scene.wait(29_700);
    assert.equal(scene.where('0')?.state, 'stale');
    scene.wait(200);
    assert.equal(scene.where('0')?.state, 'lost');
    assert.deepEqual(scene.outcome.presences.slice(before).map(({ state }) => state), ['stale', 'lost']);
    assert.deepEqual(scene.list('stays', '0').map(({ leave_ms: ms }) => ms), [lastMs]);
    assert.deepEqual(scene.list('events', '0').at(-1), { ts: lastMs + 60_000, type: 'lost', staff_id: '0', level: 'G', room: 'G-a' });
    walkWithPhone(scene, [['G-a', 2]]);
    assert.equal(scene.where('0')?.state, 'present');
    assert.ok((scene.where('0')?.since ?? 0) > lastMs);
  });

  test('whoever is back is located at once, whoever is new once it is clear where; nobody is lost before', () => {
    const scene = createScene();
    const unclear = () => scene.hear({ kind: 'phone', receiver: '0', ts: scene.now() + 500,
      readings: [{ beacon: beaconOf('G-a'), rssi: -82 }, { beacon: beaconOf('G-b'), rssi: -82 }] });
    unclear();
    assert.equal(scene.where('0'), undefined);
    scene.wait(DEFAULTS.arriveMs);
    assert.equal(scene.where('0')?.state, 'present');
    scene.wait(DEFAULTS.lostMs);
    assert.equal(scene.where('0')?.state, 'lost');
    unclear();
    assert.equal(scene.where('0')?.state, 'present');
    assert.deepEqual(scene.list('presences', '0').map(({ state }) => state), ['present', 'stale', 'lost', 'present']);
    assert.deepEqual(scene.list('events', '0').map(({ type }) => type), ['enter', 'lost', 'enter']);
  });

  test('people are forgotten after a quarter of an hour', () => {
    const scene = createScene();
    walkWithPhone(scene, [['G-a', 4]]);
    scene.wait(15 * 60_000 + 1000);
    assert.equal(scene.where('0'), undefined);
  });

  test('a backlog beside the present is reported as late and moves nothing', () => {
    const scene = createScene();
    walkWithPhone(scene, [['G-a', 20]]);
    const before = scene.where('0');
    const points = scene.outcome.locations.length;
    scene.hear(createEther(house()).phone(PLACES['U-c'], T0 - 600_000));
    assert.deepEqual(scene.outcome.late, [{ staff_id: '0', ts: T0 - 600_000 }]);
    assert.deepEqual(scene.where('0'), before);
    assert.equal(scene.outcome.locations.length, points);
  });

  test('a backlog of somebody who was away becomes history at its own time, without moving the present', () => {
    const scene = createScene();
    const ether = createEther(house());
    for (let s = 0; s < 60; s += 2) scene.hear(ether.phone(PLACES['G-a'], T0 - 3_600_000 + s * 1000));
    assert.equal(scene.where('0')?.state, 'lost');
    assert.deepEqual(scene.outcome.presences, []);
    assert.equal(scene.outcome.locations.length, 30);
    assert.ok(scene.outcome.locations.every(({ ts }) => ts < T0 - 3_500_000));
    walkWithPhone(scene, [['G-b', 4]], ether);
    assert.deepEqual([scene.where('0')?.state, scene.where('0')?.room], ['present', 'G-b']);
    assert.deepEqual(scene.list('stays', '0').map(({ room, duration_s: s }) => [room, s]), [['G-a', 58]]);
  });

  test('the same batch twice changes nothing', () => {
    const [once, twice] = [createScene(), createScene()];
    const ether = createEther(house());
    for (let s = 0; s < 60; s += 2) {
      const batch = ether.phone(PLACES[s < 30 ? 'G-a' : 'G-hall'], T0 + s * 1000);
      once.hear(batch);
      twice.hear(batch);
      twice.hear(batch);
    }
    assert.deepEqual(twice.outcome, once.outcome);
  });
});

describe('another building', () => {
  test('people stay where they are, unless their room is gone', () => {
    const scene = createScene();
    walkWithPhone(scene, [['G-a', 20]]);
    const since = scene.where('0')?.since;
    scene.locator.setBuilding(house({ 'gw-G-a': { rssi_offset: 3 } }), scene.now(), scene.outcome);
    assert.equal(scene.where('0')?.since, since);
    walkWithPhone(scene, [['G-a', 10], ['G-hall', 20]]);
    assert.deepEqual(scene.list('stays', '0').map(({ room }) => room), ['G-a']);
    assert.equal(scene.where('0')?.room, 'G-hall');
  });

  test('a change of the room after it dates from then, also where rooms have other places in the list', () => {
    const scene = createScene();
    walkWithPhone(scene, [['G-b', 60]]);
    const file = houseFile();
    const { rooms } = file.levels[0];
    const indexOf = (/** @type {string} */ id) => rooms.findIndex((/** @type {any} */ room) => room.id === id);
    const [at, other] = [indexOf('G-b'), indexOf('G-hall')];
    [rooms[at], rooms[other]] = [rooms[other], rooms[at]];
    scene.locator.setBuilding(createBuilding(file), scene.now(), scene.outcome);
    const leftMs = scene.now();
    walkWithPhone(scene, [['G-hall', 30]]);
    const [stay] = scene.list('stays', '0');
    assert.deepEqual([stay.room, scene.where('0')?.room], ['G-b', 'G-hall']);
    assert.ok(Math.abs(stay.leave_ms - leftMs) < 6000, `left ${(stay.leave_ms - leftMs) / 1000} s after they did`);
  });

  test('is prepared in pieces while readings are located in the one of before', () => {
    const scene = createScene();
    walkWithPhone(scene, [['G-a', 20]]);
    const file = houseFile();
    file.levels[0].rooms[1].open_edges = [1];
    const next = createBuilding(file);
    const work = scene.locator.prepare(next);
    let step = work.next();
    for (let n = 0; !step.done; n += 1) {
      if (n % 500 === 0) walkWithPhone(scene, [['G-b', 2]]);
      step = work.next();
    }
    walkWithPhone(scene, [['G-b', 20]]);
    assert.equal(scene.where('0')?.room, 'G-b');
    scene.locator.setBuilding(next, scene.now(), scene.outcome, step.value);
    assert.equal(scene.where('0')?.room, 'G-b');
  });

  test('a change that nobody is located by disturbs nobody', () => {
    const outcomes = [() => {}, (/** @type {any} */ file) => {
      file.staff.push({ id: '77', name: 'New' });
      file.levels[0].rooms[0].name = 'Other';
    }].map((change) => {
      const scene = createScene();
      const file = houseFile();
      change(file);
      const ether = createEther(house());
      for (const room of ['G-a', 'G-hall', 'G-b', 'G-hall', 'U-c']) {
        standWithTag(scene, room, 8, ether);
        scene.locator.setBuilding(createBuilding(file), scene.now(), scene.outcome);
      }
      return scene.outcome;
    });
    assert.ok(outcomes[0].locations.length > 30);
    assert.deepEqual(outcomes[1], outcomes[0]);
  });

  test('whoever comes along is thought possible where they were before, though cells have other numbers', () => {
    const scene = createScene();
    walkWithPhone(scene, [['U-b', 20]]);
    const before = scene.locator.trace('0');
    const file = houseFile();
    file.levels[0].rooms.shift();
    for (const list of ['beacons', 'gateways']) file[list] = file[list].filter((/** @type {any} */ { room }) => room !== 'G-a');
    scene.locator.setBuilding(createBuilding(file), scene.now(), scene.outcome);
    const after = scene.locator.trace('0');
    assert.equal(after?.room, 'U-b');
    const likeliest = (/** @type {typeof after} */ trace) => trace?.rooms.map(({ room }) => room).filter((room) => room !== 'G-a').slice(0, 3);
    assert.deepEqual(likeliest(after), likeliest(before));
  });

  test('of many people those whose room is gone leave it, and nobody else is missing', () => {
    const people = Array.from({ length: 700 }, (_, n) => ({ id: `p${n}`, name: 'P', tags: [`D0000000${String(n).padStart(4, '0')}`] }));
    const scene = createScene(createBuilding({ ...houseFile(), staff: people }));
    for (const n of people.keys()) {
      scene.hear({ kind: 'gateway', receiver: n % 2 ? 'gw-G-a' : 'gw-U-c', ts: scene.now(), readings: [{ beacon: people[n].tags[0], rssi: -50 }] });
    }
    scene.wait(5000);
    assert.equal(scene.locator.presences().length, 700);
    const without = houseFile();
    without.levels[0].rooms.shift();
    for (const list of ['beacons', 'gateways']) without[list] = without[list].filter((/** @type {any} */ { room }) => room !== 'G-a');
    scene.locator.setBuilding(createBuilding({ ...without, staff: people }), scene.now(), scene.outcome);
    assert.deepEqual(new Set(scene.locator.presences().map(({ room }) => room)), new Set(['U-c']));
    const leaves = scene.outcome.events.filter(({ type }) => type === 'leave').map(({ staff_id: id }) => id).sort();
    assert.deepEqual(leaves, people.filter((_, n) => n % 2).map(({ id }) => id).sort());
    assert.equal(scene.locator.presences().length, 350);
    assert.equal(scene.locator.learnedStrengths().length, 700);
  });

  test('whose room is gone has left it, once, also when nothing more is heard of them', () => {
    const scene = createScene();
    walkWithPhone(scene, [['G-a', 20]]);
    const file = houseFile();
    for (const level of file.levels) level.rooms = level.rooms.filter((/** @type {any} */ { id }) => id !== 'G-a');
    for (const list of ['beacons', 'gateways']) file[list] = file[list].filter((/** @type {any} */ { room }) => room !== 'G-a');
    scene.locator.setBuilding(createBuilding(file), scene.now(), scene.outcome);
    assert.equal(scene.where('0'), undefined);
    scene.wait(20 * 60_000);
    assert.deepEqual(scene.list('stays', '0').map(({ room }) => room), ['G-a']);
    assert.deepEqual(scene.list('events', '0').map(({ type }) => type), ['enter', 'leave']);
  });
});
