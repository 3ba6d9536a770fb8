// @ts-check
'use strict';

const assert = require('node:assert/strict');
const { describe, test } = require('node:test');
const v8 = require('node:v8');
const { createBuilding } = require('../../lib/building');
const { createLocator, emptyOutcome } = require('../../lib/locator');
const { beaconOf, house, houseFile } = require('./house');
const { createEther, PLACES } = require('./radio');

/**
 * What a locator must make of buildings and mishaps of all kinds, for a phone and a tag that are carried side by side.
 * @typedef {import('./radio').Place} Place
 * @typedef {import('../../lib/live/readings').Batch} Batch
 * @typedef {{place: Place, seconds: number, named?: string|null}} Leg named: the right answer, if it is not the room of the place;
 *   null: any room is right
 * @typedef {ReturnType<typeof createEther>} Ether
 */

const T0 = 1_700_000_000_000;
const PHONE = '0';
const TAG = '1';
const TAG_ID = 'C0FFEE000001';
const SETTLED_S = 10; // so long after a door the room is right
const SPEAKS = [{ from_ms: 0, offsets: [], plan: ['L1'] }];

/** @param {number} x0 @param {number} y0 @param {number} x1 @param {number} y1 @returns {[number, number][]} */
const box = (x0, y0, x1, y1) => [[x0, y0], [x1, y0], [x1, y1], [x0, y1]];

/**
 * A building file with a beacon and a gateway at each place of a device.
 * @param {Record<string, Record<string, [number, number, number, number]>>} levels boxes of rooms
 * @param {[string, number, number, object?][]} devices room, x and y
 * @returns {any}
 */
function fileOf(levels, devices) {
  const levelOf = Object.fromEntries(Object.entries(levels).flatMap(([level, rooms]) => Object.keys(rooms).map((room) => [room, level])));
  const placed = devices.map(([room, x, y, more], n) => ({ n, level: levelOf[room], room, x_m: x, y_m: y, ...more }));
  return {
    building: 'Case',
    levels: Object.entries(levels).map(([id, rooms]) => ({ id, name: id, width_m: 60, height_m: 40,
      rooms: Object.entries(rooms).map(([room, corners]) => ({ id: room, name: room, polygon: box(...corners) })) })),
    beacons: placed.map(({ n, ...device }) => ({ id: `B00000000${String(n).padStart(3, '0')}`, ...device })),
    gateways: placed.map(({ n, ...device }) => ({ id: `gw-${n}`, ...device })),
    staff: [{ id: PHONE, name: 'Phone' }, { id: TAG, name: 'Tag', tags: [TAG_ID] }],
  };
}

/** @param {string} room @param {number} x @param {number} y @param {number} [seconds] @param {string|null} [named] @returns {Leg} */
const leg = (room, x, y, seconds = 60, named = room) => ({ place: { room, x, y }, seconds, named });

/** @param {import('../../lib/building').Building} building @param {Partial<Parameters<typeof createScene>[1]>} [more] */
const scene = (building, more = {}) => (
  createScene(building, { ether: createEther(building), versions: [], change: (batch) => batch, ...more }));

/**
 * A locator, and what it finds of somebody with a phone and a tag.
 * @param {import('../../lib/building').Building} building
 * @param {{ether: Ether, versions: import('../../lib/locator').LearnedVersion[], change: (batch: Batch, s: number) => Batch|null,
 *   locator?: import('../../lib/locator').Locator}} options change: what arrives of a batch in a second of the walk
 */
function createScene(building, { ether, versions, change, locator = createLocator(building, {}, undefined, versions) }) {
  for (const id of building.gateways.keys()) locator.setGateway(id, true);
  const outcome = emptyOutcome();
  let s = 0;
  /** @param {Place} place */
  function second(place) {
    const startMs = T0 + s * 1000;
    const batches = [ether.phone(place, startMs + 400, PHONE), ...ether.gateways(place, startMs, TAG_ID)];
    for (const batch of batches.sort((a, b) => a.ts - b.ts)) {
      const nowMs = batch.ts + 20;
      const changed = change(batch, s);
      if (changed) locator.hear(changed, nowMs, outcome);
    }
    s += 1;
    locator.tick(startMs + 1150, outcome);
    for (const id of [PHONE, TAG]) checkSureness(locator, building, id);
  }
  return {
    locator,
    outcome,
    second,
    now: () => T0 + s * 1000 + 150,
    /** @param {string} id */
    where: (id) => locator.presences().find(({ staff_id: one }) => one === id)?.room,
    /** The last word on each second of a person, by seconds since the beginning. @param {string} id */
    history: (id) => new Map(outcome.locations.filter(({ staff_id: one }) => one === id).map(({ ts, room }) => [(ts - T0) / 1000, room])),
    /** Walks, and finds each leg's answer. @param {Leg[]} legs @param {string[]} [ids] of whom */
    walk(legs, ids = [PHONE, TAG]) {
      for (const { place, seconds, named = place.room } of legs) {
        const fromS = s;
        for (let n = 0; n < seconds; n += 1) second(place);
        if (named === null) continue;
        for (const id of ids) {
          assert.equal(this.where(id), named, `${id === PHONE ? 'phone' : 'tag'} after ${seconds} s in ${place.room}`);
          const rooms = this.history(id);
          for (let at = fromS + SETTLED_S; at < s; at += 1) {
            if (rooms.has(at)) assert.equal(rooms.get(at), named, `${id === PHONE ? 'phone' : 'tag'} ${at - fromS} s after it came to ${place.room}`);
          }
        }
      }
      return this;
    },
  };
}

/** @param {import('../../lib/locator').Locator} locator @param {import('../../lib/building').Building} building @param {string} id */
function checkSureness(locator, { rooms: all }, id) {
  const trace = locator.trace(id);
  if (!trace) return;
  const sum = trace.rooms.reduce((total, { probability }) => total + probability, 0);
  assert.ok(sum <= 1 + 0.0005 * trace.rooms.length, `probabilities sum to ${sum}, each of them rounded`);
  for (const { staff_id: one, room, runner_up: other, probability } of locator.presences()) {
    if (one !== id) continue;
    assert.ok(all.has(room) && probability !== null && probability >= 0 && probability <= 1, `${room} ${probability}`);
    assert.ok(other === null || (other !== room && all.has(other)), `${room}, then ${other}`);
  }
}

/** Two rooms, and nothing else. */
const pair = () => fileOf({ L1: { a: [0, 0, 10, 10], b: [10, 0, 20, 10] } }, [['a', 5, 5], ['b', 15, 5]]);

/** A storeroom without a device between two rooms, and a corridor along all of them. @param {object} [more] of each device */
const withStore = (more) => fileOf({ L1: { a: [0, 6, 10, 16], store: [10, 6, 20, 16], c: [20, 6, 30, 16], hall: [0, 3, 30, 6] } },
  [['a', 5, 11, more], ['c', 25, 11, more], ['hall', 3, 4.5, more], ['hall', 27, 4.5, more]]);

/** The same without measured positions, and with one device in the corridor. @param {string[]} covers rooms that count to that */
const covered = (covers) => {
  const file = withStore({ approximate: true });
  for (const list of [file.beacons, file.gateways]) list.splice(2, 2, { ...list[2], x_m: 15, covers });
  return file;
};

/** A hall with 200 devices, and an office. */
const crowd = () => fileOf({ L1: { hall: [0, 0, 40, 20], office: [40, 0, 46, 20] } }, [
  ...Array.from({ length: 200 }, (_, n) => /** @type {[string, number, number]} */ (['hall', 1 + 2 * (n % 20), 1 + 2 * Math.floor(n / 20)])),
  ['office', 43, 10]]);

/** The upper floor of an atrium is a gallery over the lower one; beside both are offices. */
const atrium = () => fileOf(
  { L1: { floor: [0, 0, 20, 20], office: [20, 0, 30, 20] }, L2: { gallery: [0, 0, 20, 20], study: [20, 0, 30, 20] } },
  [['floor', 10, 10], ['office', 25, 10], ['gallery', 10, 10], ['study', 25, 10]]);

const inStore = [leg('a', 5, 10), leg('store', 15, 11), leg('c', 25, 10), leg('store', 15, 11), leg('hall', 3, 5)];

describe('a building with', () => {
  for (const { name, file, legs, between } of /** @type {{name: string, file: any, legs: Leg[], between?: object}[]} */ ([
    { name: 'two rooms and no corridor', file: pair(), legs: [leg('a', 4, 5), leg('b', 16, 5), leg('a', 6, 3)] },
    { name: 'one room', file: fileOf({ L1: { a: [0, 0, 40, 30] } }, [['a', 5, 5], ['a', 35, 25]]), legs: [leg('a', 5, 6), leg('a', 20, 15), leg('a', 39, 29)] },
    { name: 'one device', legs: [leg('a', 4, 5), leg('b', 15, 5, 60, 'a'), leg('a', 4, 5)],
      file: fileOf({ L1: { a: [0, 0, 10, 10], b: [10, 0, 20, 10] } }, [['a', 5, 5]]) },
    { name: 'one device in one room', file: fileOf({ L1: { a: [0, 0, 10, 10] } }, [['a', 5, 5]]), legs: [leg('a', 4, 5)] },
    { name: '200 devices in one hall', file: crowd(), legs: [leg('hall', 8, 8, 30), leg('office', 43, 9, 30), leg('hall', 30, 12, 30)] },
    { name: 'an atrium over two levels', file: atrium(), between: { floorDb: 0, storeyM: 4 },
      legs: [leg('floor', 9, 10), leg('office', 25, 9), leg('floor', 11, 11), leg('gallery', 10, 9), leg('study', 25, 11), leg('gallery', 9, 9)] },
    { name: 'a room that a device of another one covers', file: covered(['store']), legs: [leg('a', 5, 11), leg('store', 15, 8, 30), leg('c', 25, 11, 90),
      leg('store', 14, 8, 30), leg('hall', 15, 4, 90), leg('store', 15, 8, 30), leg('a', 5, 11)] },
    { name: 'a room that no device covers', file: covered([]), legs: [leg('a', 5, 10), leg('store', 15, 8, 60, 'hall'), leg('c', 25, 10)] },
  ])) {
    test(name, () => {
      const building = createBuilding(file);
      scene(building, { ether: createEther(building, 1, 3, between) }).walk(legs);
    });
  }
});

describe('a room without a device', () => {
  test('is named where the plan speaks, the levels fit there and nothing is as loud as usual', () => {
    scene(createBuilding(withStore()), { versions: SPEAKS }).walk(inStore);
  });

  test('is named for as long as they stay', () => {
    scene(createBuilding(withStore()), { versions: SPEAKS }).walk([leg('a', 5, 10), leg('store', 15, 11, 300), leg('c', 25, 10)]);
  });

  for (const [name, more, versions] of /** @type {[string, object|undefined, typeof SPEAKS][]} */ ([
    ['positions are not measured', { approximate: true }, SPEAKS],
    ['the plan has not shown its worth', undefined, []],
    ['the plan of another level speaks', undefined, [{ ...SPEAKS[0], plan: ['L2'] }]],
    ['its plan speaks later only', undefined, [{ ...SPEAKS[0], from_ms: T0 + 3_600_000 }]],
  ])) {
    test(`is never named where ${name}`, () => {
      const all = scene(createBuilding(withStore(more)), { versions });
      all.locator.onSample(() => {});
      all.walk(inStore.map((one) => (one.place.room === 'store' ? { ...one, named: null } : one)));
      assert.deepEqual(all.outcome.locations.filter(({ room }) => room === 'store'), []);
    });
  }

  test('is never named on a level without measures', () => {
    const file = withStore();
    file.levels[0].schematic = true;
    const all = scene(createBuilding(file), { versions: SPEAKS }).walk(inStore.map((one) => ({ ...one, named: null })));
    assert.deepEqual(all.outcome.locations.filter(({ room }) => room === 'store'), []);
  });
});

test('positions that are wrong change nothing where their plan has not shown its worth', () => {
  const truth = createBuilding(withStore());
  const shuffled = withStore();
  const places = [[9, 15], [21, 7], [28, 5], [1, 4]];
  for (const list of [shuffled.beacons, shuffled.gateways]) {
    list.forEach((/** @type {any} */ device, /** @type {number} */ n) => Object.assign(device, { x_m: places[n][0], y_m: places[n][1] }));
  }
  const outcomes = [shuffled, withStore({ approximate: true })].flatMap((file) => [true, false].map((learns) => {
    const all = scene(createBuilding(file), { ether: createEther(truth) });
    if (learns) all.locator.onSample(() => {}); // of those the plan is asked, and not heeded
    all.walk(inStore.map((one) => ({ ...one, named: null })));
    return all.outcome;
  }));
  assert.ok(outcomes[0].locations.length > 500);
  for (const outcome of outcomes.slice(1)) assert.deepEqual(outcome, outcomes[0]);
});

describe('a receiver that is dead', () => {
  const DEAD_S = 60;
  const file = houseFile();
  const dead = ['gw-G-b', beaconOf('G-b')];
  /** @param {Batch} batch @param {number} s */
  const change = (batch, s) => {
    if (s < DEAD_S) return batch;
    if (batch.receiver === dead[0]) return null;
    return { ...batch, readings: batch.readings.filter(({ beacon }) => beacon !== dead[1]) };
  };
  const near = (/** @type {string} */ room, /** @type {number} */ seconds) => {
    const { x_m: x, y_m: y } = file.beacons.find((/** @type {any} */ one) => one.room === room);
    return leg(room, x, y, seconds);
  };
  const walk = [near('G-b', DEAD_S), near('G-b', 90), near('G-hall', 40), near('G-c', 30)];

  for (const [name, silent, isSaid] of /** @type {[string, boolean, boolean][]} */ ([['as was learned', true, false], ['as the broker says', false, true]])) {
    test(`${name}, does not pull people out of its room, and does not keep them when they go elsewhere`, () => {
      const kinds = /** @type {const} */ (['gateway', 'beacon']);
      const learned = { from_ms: T0 + DEAD_S * 1000, offsets: [], silent: kinds.map((kind, n) => ({ kind, id: dead[n] })) };
      const versions = silent ? [learned] : [];
      const all = scene(house(), { versions, change });
      all.walk(walk.slice(0, 1));
      if (isSaid) all.locator.setGateway(dead[0], false);
      all.walk(walk.slice(1), isSaid ? [TAG] : undefined); // a broker knows nothing of beacons
    });
  }

  test('does not pull people out of its room for as long as they stay', () => {
    const all = scene(house(), { change }).walk([near('G-b', DEAD_S)]);
    all.locator.setGateway(dead[0], false);
    all.walk([near('G-b', 600)], [TAG]);
  });

  test('while nobody knows, its room is left for another one that is heard', () => {
    const all = scene(house(), { change });
    all.walk([near('G-b', DEAD_S), { ...near('G-b', 90), named: null }, near('G-c', 30)]);
  });
});

describe('a claimed power moves nobody, true or not:', () => {
  for (const [name, of, tx] of /** @type {[string, string[], number][]} */ ([
    ['far away, claiming to be weak', ['G-a', 'G-c', 'G-lift', 'U-b'], -100],
    ['far away, claiming to be the weakest there is', ['G-a', 'G-c', 'G-lift', 'U-b'], -127],
    ['far away, claiming to be a little weak', ['G-a', 'G-c', 'G-lift', 'U-b'], -74],
    ['near, claiming to be strong', ['G-b'], 20],
    ['near, claiming to be a little strong', ['G-b'], -44],
    ['all, claiming to be strong', Object.keys(PLACES), 20],
    ['all, claiming to be weak', Object.keys(PLACES), -100],
  ])) {
    test(name, () => {
      const ids = new Set(of.map(beaconOf));
      const change = (/** @type {Batch} */ batch) => (batch.kind === 'gateway' ? batch
        : { ...batch, readings: batch.readings.map((one) => (ids.has(one.beacon) ? { ...one, tx } : one)) });
      scene(house(), { change }).walk([leg('G-b', 15, 11, 120), leg('G-b', 16, 12, 60), leg('G-b', 13, 10, 60), leg('G-b', 12, 14, 60)]);
    });
  }
});

test('of two people the order of arrival is irrelevant', () => {
  const building = house();
  const played = [(/** @type {Batch[]} */ list) => list, (/** @type {Batch[]} */ list) => list.toReversed(),
    (/** @type {Batch[]} */ list) => list.toSorted((a, b) => (a.receiver < b.receiver ? -1 : 1))].map((order) => {
    const [locator, outcome, ether] = [createLocator(building), emptyOutcome(), createEther(building)];
    for (let s = 0; s < 120; s += 1) {
      const startMs = T0 + s * 1000;
      const [one, other] = s < 60 ? ['G-a', 'U-c'] : ['U-c', 'G-hall'];
      const batches = [...ether.gateways(PLACES[one], startMs), ...ether.gateways(PLACES[other], startMs, 'C0FFEE000002'),
        ...ether.gateways(PLACES[other], startMs, 'C0FFEE000003')];
      for (const batch of order(batches)) locator.hear(batch, startMs + 1000, outcome);
      locator.tick(startMs + 1500, outcome);
    }
    const list = (/** @type {'locations'|'stays'|'presences'} */ what) => ['1', '2'].map((id) => outcome[what].filter(({ staff_id: its }) => its === id));
    return [list('locations'), list('stays'), list('presences'), locator.trace('1'), locator.trace('2'), outcome.late];
  });
  assert.deepEqual(played[1], played[0]);
  assert.deepEqual(played[2], played[0]);
});

describe('time:', () => {
  const HOUR = 3_600_000;
  const legs = [leg('G-a', 5, 11, 40), leg('G-hall', 9, 5, 40), leg('G-c', 25, 11, 40)];
  test('our own clock jumps an hour ahead and back', () => {
    const all = scene(house()).walk(legs.slice(0, 2));
    const late = emptyOutcome();
    all.locator.tick(all.now() + HOUR, late);
    all.walk(legs.slice(2));
    assert.deepEqual(all.outcome.late, []);
    assert.deepEqual(late.presences.map(({ state }) => state), ['lost', 'lost']);
  });

  test('batches of a time that is over are late, and change nothing', () => {
    const [all, other] = [scene(house()), scene(house())];
    const ether = createEther(house(), 9);
    for (const one of [all, other]) one.walk(legs.slice(0, 1));
    const batches = [6, 60, 600].flatMap((ageS) => {
      const ts = all.now() - ageS * 1000 - 1000;
      return [ether.phone(PLACES['U-c'], ts), ...ether.gateways(PLACES['U-c'], ts)];
    });
    const outcome = emptyOutcome();
    for (const batch of batches) all.locator.hear(batch, all.now(), outcome);
    assert.deepEqual(outcome, { ...emptyOutcome(), late: batches.map(({ kind, ts }) => ({ staff_id: kind === 'phone' ? PHONE : TAG, ts })) });
    for (const one of [all, other]) one.walk(legs.slice(1));
    assert.deepEqual(all.outcome, other.outcome);
  });

  test('batches that are seconds late are taken, in the order in which they come', () => {
    const delayed = (/** @type {Batch} */ batch) => (batch.kind === 'phone' ? { ...batch, ts: batch.ts - 4000 } : batch);
    const all = scene(house(), { change: (batch, s) => (s % 7 === 0 ? delayed(batch) : batch) }).walk(legs);
    assert.deepEqual(all.outcome.late, []);
  });
});

describe('saved and restored', () => {
  const legs = /** @type {[string, number][]} */ ([['G-a', 30], ['G-hall', 20], ['G-b', 17], ['G-hall', 20], ['G-lift', 20], ['U-lift', 20], ['U-c', 40]]);
  const versions = [{ from_ms: 0, offsets: [], plan: ['G'], silent: [{ kind: /** @type {const} */ ('gateway'), id: 'gw-U-a' }] }];
  const ether = createEther(house(), 4);
  const seconds = legs.flatMap(([room, many]) => Array.from({ length: many }, () => room));
  const batches = seconds.flatMap((room, s) => (
    [ether.phone(PLACES[room], T0 + s * 1000 + 400), ...ether.gateways(PLACES[room], T0 + s * 1000)])).sort((a, b) => a.ts - b.ts);

  /** The same house with its lists in another order. */
  const turned = () => {
    const file = houseFile();
    for (const level of file.levels) level.rooms.reverse();
    for (const list of [file.beacons, file.gateways, file.staff]) list.reverse();
    return createBuilding(file);
  };

  /** @param {import('../../lib/locator').Locator} locator @param {number} fromMs @param {number} untilMs */
  function heard(locator, fromMs, untilMs, outcome = emptyOutcome()) {
    for (const batch of batches) {
      if (batch.ts < fromMs || batch.ts >= untilMs) continue;
      locator.tick(batch.ts + 15, outcome);
      locator.hear(batch, batch.ts + 20, outcome);
    }
    return outcome;
  }

  for (const [name, made] of /** @type {[string, () => import('../../lib/locator').Locator][]} */ ([
    ['into another locator', () => createLocator(house(), {}, undefined, versions)],
    ['into one whose building lists rooms and devices in another order', () => createLocator(turned(), {}, undefined, versions)],
    ['into one that knew another building before', () => {
      const file = houseFile();
      file.levels.forEach((/** @type {any} */ level) => level.rooms.forEach((/** @type {any} */ room) => { room.id = `x${room.id}`; }));
      for (const list of [file.beacons, file.gateways]) list.forEach((/** @type {any} */ device) => Object.assign(device, { id: device.id.replace(/^B/, 'A'), room: `x${device.room}` }));
      const locator = createLocator(createBuilding(file), {}, undefined, versions);
      locator.setBuilding(house(), T0, emptyOutcome());
      return locator;
    }],
  ])) {
    test(`${name} it goes on exactly the same`, () => {
      for (const cutS of [1, 31, 52, 67, 68.3, 90, 130.7]) {
        const first = createLocator(house(), {}, undefined, versions);
        first.onSample(() => {});
        first.setGateway('gw-U-lift', false, T0);
        heard(first, T0, T0 + cutS * 1000);
        const outcome = emptyOutcome();
        const next = made();
        next.onSample(() => {});
        assert.ok(next.restore(v8.deserialize(v8.serialize(first.save(T0 + cutS * 1000, outcome)))));
        assert.deepEqual(outcome, emptyOutcome());
        assert.deepEqual(next.presences(), first.presences());
        assert.deepEqual(next.openStays(), first.openStays());
        const [one, other] = [first, next].map((locator) => {
          const found = heard(locator, T0 + cutS * 1000, Infinity);
          locator.tick(T0 + 400_000, found);
          return { found, traces: [PHONE, TAG].map((id) => locator.trace(id)), strengths: locator.learnedStrengths() };
        });
        assert.ok(one.found.locations.length > 60);
        assert.deepEqual(other, one, `cut after ${cutS} s`);
      }
    });
  }

  test('it is refused by another building, and by other numbers', () => {
    const saved = createLocator(house()).save(T0, emptyOutcome());
    assert.equal(createLocator(house({ 'gw-G-a': { x_m: 7 } })).restore(saved), false);
    assert.equal(createLocator(house({ 'gw-G-a': { covers: ['G-b'] } })).restore(saved), false);
    assert.equal(createLocator(house({ 1: { tags: ['C0FFEE00000A'] } })).restore(saved), false);
    assert.equal(createLocator(house(), { natDb: 5 }).restore(saved), false);
    const file = houseFile();
    file.levels.reverse();
    assert.equal(createLocator(createBuilding(file)).restore(saved), false, 'storeys are in the order of the file');
    assert.equal(createLocator(house()).restore(saved), true);
  });
});

describe('another building', () => {
  /** @typedef {(file: any) => void} Change */
  /** @param {any} file @returns {any[]} */
  const devicesOf = (file) => [...file.beacons, ...file.gateways];
  /** @param {any} file @param {(device: any) => boolean} isKept */
  const keep = (file, isKept) => {
    file.beacons = file.beacons.filter(isKept);
    file.gateways = file.gateways.filter(isKept);
  };
  /** @param {any} file @param {string} id @returns {any} */
  const levelOf = (file, id) => file.levels.find((/** @type {any} */ level) => level.id === id);

  for (const [name, change, named, leaves] of /** @type {[string, Change, string|null, boolean][]} */ ([
    ['a room with another id', (file) => {
      levelOf(file, 'G').rooms[1].id = 'G-new';
      for (const device of devicesOf(file)) if (device.room === 'G-b') device.room = 'G-new';
    }, 'G-new', true],
    ['a room with another name', (file) => { levelOf(file, 'G').rooms[1].name = 'New'; }, 'G-b', false],
    ['a room of another level', (file) => {
      const [room] = levelOf(file, 'G').rooms.splice(1, 1);
      room.polygon = box(0, 0, 10, 3);
      levelOf(file, 'U').rooms.push(room);
      for (const device of devicesOf(file)) if (device.room === 'G-b') Object.assign(device, { level: 'U', x_m: 5, y_m: 1 });
    }, 'G-b', true],
    ['a room that is elsewhere on its level', (file) => {
      levelOf(file, 'G').rooms[1].polygon = box(0, 0, 10, 3);
      for (const device of devicesOf(file)) if (device.room === 'G-b') Object.assign(device, { x_m: 5, y_m: 1 });
    }, 'G-b', false],
    ['no such room', (file) => {
      levelOf(file, 'G').rooms.splice(1, 1);
      keep(file, ({ room }) => room !== 'G-b');
    }, null, true],
    ['no such room, its devices in the one beside it', (file) => {
      levelOf(file, 'G').rooms.splice(1, 1);
      levelOf(file, 'G').rooms[0].polygon = box(0, 6, 20, 16);
      for (const device of devicesOf(file)) if (device.room === 'G-b') device.room = 'G-a';
    }, 'G-a', true],
    ['no device in the room', (file) => keep(file, ({ room }) => room !== 'G-b'), null, false],
    ['devices that were taken to another room', (file) => {
      for (const device of devicesOf(file)) {
        if (device.room === 'G-b') Object.assign(device, { room: 'G-c', x_m: 22, y_m: 8 });
        else if (device.room === 'G-c') Object.assign(device, { room: 'G-b', x_m: 18, y_m: 8 });
      }
    }, 'G-c', false],
    ['devices with other ids', (file) => {
      for (const device of devicesOf(file)) if (device.room === 'G-b') device.id = device.id.replace(/^B/, 'A').replace(/^gw/, 'ap');
    }, null, false],
    ['a level with another id', (file) => {
      levelOf(file, 'G').id = 'E';
      for (const device of devicesOf(file)) if (device.level === 'G') device.level = 'E';
    }, 'G-b', true],
    ['no such level', (file) => {
      file.levels.shift();
      keep(file, ({ level }) => level !== 'G');
    }, null, true],
    ['its levels the other way round', (file) => file.levels.reverse(), 'G-b', false],
    ['another level', (file) => {
      file.levels.unshift({ ...structuredClone(levelOf(file, 'G')), id: 'B', rooms: [{ id: 'B-a', name: 'A', polygon: box(0, 0, 36, 16) }] });
    }, 'G-b', false],
    ['nothing but one room', (file) => {
      file.levels = [{ ...file.levels[1], rooms: file.levels[1].rooms.slice(0, 1) }];
      keep(file, ({ room }) => room === 'U-a');
    }, null, true],
  ])) {
    test(`with ${name}`, () => {
      for (const versions of [[], [{ from_ms: 0, offsets: [], plan: ['G'] }]]) {
        const before = house();
        const file = houseFile();
        change(file);
        const after = createBuilding(file);
        const locator = createLocator(before, {}, undefined, versions);
        locator.onSample(() => {});
        const all = scene(before, { locator });
        all.walk([leg('G-hall', 9, 5, 20), leg('G-b', 15, 11, 30)]);
        const enteredMs = locator.presences().map(({ since }) => since);
        locator.setBuilding(after, all.now(), all.outcome);
        const gone = all.outcome.events.filter(({ type, ts }) => type === 'leave' && ts > T0 + 40_000);
        assert.deepEqual(gone.map(({ staff_id: id, room, level }) => [id, room, level]).sort(), leaves ? [[PHONE, 'G-b', 'G'], [TAG, 'G-b', 'G']] : []);
        if (leaves) assert.deepEqual(locator.presences(), []);
        else assert.deepEqual(locator.presences().map(({ room, since }) => [room, since]), enteredMs.map((since) => ['G-b', since]));
        checkSureness(locator, after, TAG);
        for (let s = 50; s < 110; s += 1) { // the radio is as it was
          for (const batch of createEther(before, s).gateways(PLACES['G-b'], T0 + s * 1000)) locator.hear(batch, batch.ts + 20, all.outcome);
          locator.hear(createEther(before, s).phone(PLACES['G-b'], T0 + s * 1000 + 500), T0 + s * 1000 + 520, all.outcome);
          locator.tick(T0 + s * 1000 + 1150, all.outcome);
          for (const id of [PHONE, TAG]) checkSureness(locator, after, id);
        }
        const presences = locator.presences();
        for (const { room, level } of presences) assert.equal(after.rooms.get(room)?.level, level);
        if (named !== null) assert.deepEqual(presences.map(({ room }) => room), [named, named]);
        locator.tick(T0 + 300_000, all.outcome);
        checkStays(all.outcome);
      }
    });
  }
});

/**
 * Stays of a person follow one another, and who is said to leave was said to enter.
 * @param {import('../../lib/locator').Outcome} outcome
 */
function checkStays({ stays, events }) {
  for (const id of [PHONE, TAG]) {
    const its = [...new Map(stays.filter(({ staff_id: one }) => one === id).map((stay) => [stay.enter_ms, stay])).values()]
      .sort((a, b) => a.enter_ms - b.enter_ms);
    assert.ok(its.length > 0);
    its.slice(1).forEach((stay, n) => assert.ok(its[n].leave_ms <= stay.enter_ms, JSON.stringify([its[n], stay])));
    /** @type {string|null} */
    let at = null;
    for (const { type, level, room } of events.filter(({ staff_id: one }) => one === id)) {
      if (type === 'enter') assert.equal(at, null, `enters ${room}, and is in ${at}`);
      else assert.equal(`${level}/${room}`, at);
      at = type === 'enter' ? `${level}/${room}` : null;
    }
  }
}
