'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { describe, test } = require('node:test');
const { setTimeout } = require('node:timers/promises');
const { createBuilding } = require('../lib/building');
const { keepLearned, offsetsInUse } = require('../lib/devices/learned');
const { Learning, Offsets, PlanWorth, Silence } = require('../lib/devices/learning');
const { createLocator, emptyOutcome, placementKey } = require('../lib/locator');
const { Site } = require('../lib/site');
const { house } = require('./locator/house');
const { createEther, normal, random, PLACES } = require('./locator/radio');
const { smallBuilding, BEACONS } = require('./support/building');

const T = 1_800_000_000_000;
const [SECOND, MIN, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];
const IDS = Object.entries(BEACONS).filter(([key]) => key.length === 1).map(([, id]) => id);
const NONE = Object.fromEntries(IDS.map((id) => [id, 0]));
const TRUE_DB = { [BEACONS.a]: 8, [BEACONS.b]: -8, [BEACONS.c]: 6, [BEACONS.d]: -6 };
const EIGHT = { a: 8, b: -8, c: 8, d: 8, e: -8, f: -8, g: 8, h: -8 };
const ALIKE = Object.fromEntries(Object.keys(EIGHT).map((key) => [key, 0]));

/** All that is kept goes through a file. */
const copyOf = (saved) => JSON.parse(JSON.stringify(saved));

/** What one person's readings say at a moment. @param {Record<string, number>} levels dBm by beacon */
const sampleOf = (levels, ms, { staffId = '0', place = 'here', room = 'a', advised = room, level = 'L1' } = {}) => (
  { staff_id: staffId, ms, level, room, advised, devices: Object.entries(levels).map(([id, rssi]) => ({ kind: 'beacon', id, place, room: id, rssi })) });

/** A visit of each beacon each two minutes, at distances and in shadows of all kinds. */
function visit(offsets, visits, { rnd = random(7), spreadDb = 6, learned = new Offsets(), fromMs = T, place = 'here' } = {}) {
  for (let n = 0; n < visits; n += 1) {
    const levels = Object.fromEntries(Object.entries(offsets).map(([id, db]) => [id, -72 + db + spreadDb * normal(rnd)]));
    learned.note(sampleOf(levels, fromMs + n * 2 * MIN, { place }));
  }
  learned.sweep(Infinity);
  return learned;
}

const dbOf = (learned) => Object.fromEntries(learned.all().map(({ id, offset_db: db }) => [id, db]));
const sizeOf = (learned) => learned.all().reduce((sum, { offset_db: db }) => sum + Math.abs(db), 0);

describe('offsets', () => {
  test('are found from many visits, whatever is common to all devices', () => {
    const found = dbOf(visit(EIGHT, 60));
    for (const [key, db] of Object.entries(EIGHT)) assert.ok(Math.abs(found[key] - db) <= 3, `${key}: ${found[key]}`);
    const louder = Object.fromEntries(Object.entries(EIGHT).map(([key, db]) => [key, db + 15]));
    assert.deepEqual(dbOf(visit(louder, 60)), found);
    const learned = visit(EIGHT, 60);
    for (const [key, db] of Object.entries(EIGHT)) assert.ok(Math.abs(learned.bias(`beacon ${key}`) - db) <= 3, 'what is shown');
  });

  test('of devices that are alike are none, however far from them people are and however their shadows fall', () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      assert.equal(sizeOf(visit(ALIKE, 60, { rnd: random(seed) })), 0);
      const rnd = random(seed);
      const apart = Object.fromEntries(Object.keys(EIGHT).map((key) => [key, 3 * normal(rnd)])); // some stand where people come close
      assert.ok(sizeOf(visit(apart, 60)) <= 8, `seed ${seed}: ${JSON.stringify(dbOf(visit(apart, 60)))}`);
    }
  });

  test('few visits say little, one visit and two devices say nothing, and offsets are bounded', () => {
    assert.deepEqual(new Offsets().all(), []);
    assert.deepEqual(visit(EIGHT, 1).all(), []);
    assert.equal(visit(EIGHT, 1).bias('beacon a'), null);
    assert.deepEqual(visit({ a: 9, b: -9 }, 60).all(), []);
    assert.equal(visit({ a: 9, b: -9 }, 60).bias('beacon a'), null);
    assert.ok(sizeOf(visit(EIGHT, 3)) < 0.8 * sizeOf(visit(EIGHT, 60)), `${sizeOf(visit(EIGHT, 3))} ${sizeOf(visit(EIGHT, 60))}`);
    const wild = visit({ a: 40, b: -40, c: 40, d: -40 }, 60);
    assert.deepEqual(wild.all().map(({ offset_db: db }) => Math.abs(db)), Array(4).fill(12));
    assert.ok(Math.abs(wild.bias('beacon a')) > 30, 'what is shown is not bounded');
  });

  test('one who stands in a shadow for hours is as few witnesses as minutes are', () => {
    const [seconds, minutes] = [new Offsets(), new Offsets()];
    const shadow = { a: -60, b: -80, c: -75, d: -70 };
    for (let s = 0; s < 7200; s += 1) seconds.note(sampleOf(shadow, T + s * SECOND));
    for (let s = 0; s < 7200; s += 61) minutes.note(sampleOf(shadow, T + s * SECOND));
    for (const one of [seconds, minutes]) one.sweep(Infinity);
    assert.deepEqual(seconds.save(), minutes.save());
    const [device] = seconds.save();
    assert.ok(device.visits >= 117 && device.visits <= 120, `${device.visits}`);
  });

  test('two people at one place are two visits', () => {
    const learned = new Offsets();
    for (let s = 0; s < 30; s += 1) for (const staffId of ['0', '1']) learned.note(sampleOf({ a: -60 }, T + s * SECOND, { staffId }));
    learned.sweep(Infinity);
    assert.equal(learned.save()[0].visits, 2);
  });

  test('of a device that stands elsewhere now begin anew, those of others stay', () => {
    const learned = visit(EIGHT, 60);
    for (let n = 0; n < 30; n += 1) {
      for (const [key, rssi, place] of [['a', -92, 'there'], ['b', -80, 'here']]) {
        learned.note(sampleOf({ [key]: rssi }, T + DAY + n * 2 * MIN, { place }));
      }
    }
    learned.sweep(Infinity);
    const [a, b] = ['a', 'b'].map((id) => learned.all().find((one) => one.id === id));
    assert.deepEqual([a.place, b.place], ['there', 'here']);
    assert.ok(a.offset_db <= -4, `${a.offset_db}`);
    const saved = new Map(learned.save().map(({ id, visits }) => [id, visits]));
    assert.deepEqual([saved.get('a'), saved.get('b'), saved.get('c')], [30, 90, 60]);
  });

  test('follow what changes: thousands of visits of before do not outweigh those of now', () => {
    const rnd = random(3);
    const learned = visit(EIGHT, 6000, { rnd });
    assert.ok(learned.save().every(({ visits }) => visits === 5000));
    visit(ALIKE, 15_000, { rnd, learned, fromMs: T + 30 * DAY });
    assert.equal(sizeOf(learned), 0);
  });

  test('saved and restored they go on the same, and name nobody', () => {
    const [one, next] = [visit(EIGHT, 20), new Offsets()];
    one.note(sampleOf({ a: -40 }, T + DAY, { staffId: 'somebody' }));
    const saved = copyOf(one.save());
    assert.ok(!JSON.stringify(saved).includes('somebody'));
    next.restore(saved);
    assert.deepEqual(next.all(), visit(EIGHT, 20).all(), 'a visit that goes on is not in it');
    const others = visit(EIGHT, 20);
    for (const learned of [next, others]) visit(ALIKE, 3, { learned, fromMs: T + DAY });
    assert.deepEqual(next.all(), others.all());
    assert.throws(() => new Offsets().restore([{ kind: 'beacon', id: 'a', place: 'here', visits: 3 }]), TypeError);
    assert.throws(() => new Offsets().restore({}), TypeError);
  });
});

const ROOMS = ['a', 'b', 'c'];

/**
 * Somebody who goes from room to room each so many seconds, and what two ways of labelling make of it.
 * @typedef {(roomAt: (s: number) => string, s: number) => string} Label
 * @param {{ofRule: Label, ofPlan: Label}} labels
 */
function walked({ ofRule, ofPlan }, seconds, { worth = new PlanWorth(), fromMs = T, level = 'L1', eachS = 20, seed = 11 } = {}) {
  const rnd = random(seed);
  const roomAt = (s) => ROOMS[Math.floor(Math.max(0, s) / eachS) % ROOMS.length];
  for (let s = 0; s < seconds; s += 1) {
    const room = roomAt(s);
    const levels = Object.fromEntries(ROOMS.map((id) => [id, (id === room ? -60 : -78) + 4 * normal(rnd)]));
    worth.note(sampleOf(levels, fromMs + s * SECOND, { level, room: ofRule(roomAt, s), advised: ofPlan(roomAt, s) }));
  }
  return worth;
}

const right = (roomAt, s) => roomAt(s);
const late = (roomAt, s) => roomAt(s - 5);
/** Of six moments each other one is taken for the next room. */
const mixed = (roomAt, s) => (s % 6 < 3 ? roomAt(s) : roomAt(s + 20));
const natsOf = (worth, level = 'L1') => worth.levels.get(level).nats;

describe('the worth of a plan', () => {
  for (const [name, other] of Object.entries({ late, mixed })) {
    test(`is seen where it names the right moments and loudness alone is ${name}; else it never speaks`, () => {
      const good = new PlanWorth();
      let opened = NaN;
      for (let n = 0; n < 120; n += 1) {
        walked({ ofRule: other, ofPlan: right }, 60, { worth: good, fromMs: T + n * MIN, seed: n });
        assert.equal(good.plan().length > 0, natsOf(good) > 3 || !Number.isNaN(opened), `at ${natsOf(good)} nats`);
        if (good.plan().length > 0 && Number.isNaN(opened)) opened = n;
      }
      assert.ok(opened < 60, `within the hour, not after ${opened} min`);
      assert.deepEqual(good.plan(), ['L1']);
      const bad = new PlanWorth();
      for (let n = 0; n < 120; n += 1) {
        walked({ ofRule: right, ofPlan: other }, 60, { worth: bad, fromMs: T + n * MIN, seed: n });
        assert.deepEqual(bad.plan(), []);
      }
      assert.ok(natsOf(bad) < -3, `${natsOf(bad)}`);
    });
  }

  test('is nothing where it says the same as loudness', () => {
    const worth = walked({ ofRule: right, ofPlan: right }, 3600);
    assert.deepEqual([natsOf(worth), worth.levels.get('L1').differ, worth.plan()], [0, 0, []]);
  });

  test('speaks until it is below 0', () => {
    const worth = walked({ ofRule: mixed, ofPlan: right }, 7200);
    let before = natsOf(worth);
    assert.ok(before > 3);
    let kept = 0;
    for (let n = 0; worth.plan().length > 0; n += 1) {
      walked({ ofRule: right, ofPlan: mixed }, 10, { worth, fromMs: T + 2 * HOUR + n * 10 * SECOND, seed: n });
      const nats = natsOf(worth);
      if (nats > 0 && nats <= 3) kept += worth.plan().length;
      before = nats;
      assert.ok(n < 5000);
    }
    assert.ok(before < 0 && kept > 0, `${before} ${kept}`);
  });

  test('is of each level by itself', () => {
    const worth = walked({ ofRule: mixed, ofPlan: right }, 7200);
    walked({ ofRule: right, ofPlan: mixed }, 7200, { worth, level: 'L2' });
    assert.deepEqual(worth.plan(), ['L1']);
    walked({ ofRule: mixed, ofPlan: right }, 7200, { worth, level: 'L0' });
    assert.deepEqual(worth.plan(), ['L0', 'L1']);
  });

  test('is forgotten over hours, and a sample of before is no reason to forget', () => {
    const worth = walked({ ofRule: mixed, ofPlan: right }, 7200);
    const nats = natsOf(worth);
    worth.note(sampleOf({}, T));
    assert.equal(natsOf(worth), nats);
    worth.note(sampleOf({}, T + 7199 * SECOND + 6 * HOUR));
    assert.ok(Math.abs(natsOf(worth) / nats - Math.exp(-1)) < 1e-9);
    assert.ok(natsOf(worth) <= 50 / Math.E);
  });

  test('saved and restored it goes on the same, and names nobody', () => {
    const one = walked({ ofRule: late, ofPlan: right }, 1800);
    const saved = copyOf(one.save());
    const next = new PlanWorth();
    next.restore(saved);
    for (const worth of [one, next]) walked({ ofRule: late, ofPlan: right }, 600, { worth, fromMs: T + HOUR });
    assert.deepEqual(next.save(), one.save());
    assert.deepEqual(next.plan(), one.plan());
    assert.ok(!JSON.stringify(saved).includes('staff'));
    assert.throws(() => new PlanWorth().restore({}), TypeError);
  });
});

/** So many moments beside a beacon; others are heard in a share of them. @param {Record<string, number>} shares by beacon */
function heardBeside(shares, moments, { silence = new Silence(), rnd = random(5), fromMs = T } = {}) {
  for (let n = 0; n < moments; n += 1) {
    const heard = Object.entries(shares).filter(([, share]) => rnd() < share);
    silence.note(sampleOf({ near: -55, ...Object.fromEntries(heard.map(([id]) => [id, -75])) }, fromMs + n * SECOND));
  }
  return silence;
}

describe('silence', () => {
  test('a device that falls silent while its companions are heard is found within minutes, and is back at once', () => {
    const silence = heardBeside({ a: 0.95, b: 0.9, c: 0.7 }, 300);
    assert.deepEqual(silence.silent(), []);
    let moments = 0;
    for (; silence.silent().length === 0; moments += 1) {
      heardBeside({ b: 0.9, c: 0.7 }, 1, { silence, rnd: random(moments) });
      assert.ok(moments < 180, 'three minutes of samples');
    }
    assert.ok(moments >= 20, `some missing readings are chance, ${moments} are not many`);
    assert.deepEqual(silence.silent(), ['beacon a']);
    assert.ok(silence.isDead('beacon a') && !silence.isDead('beacon b'));
    heardBeside({ b: 0.9, c: 0.7 }, 3600, { silence });
    assert.deepEqual(silence.silent(), ['beacon a'], 'it does not become usual');
    silence.note(sampleOf({ near: -55, a: -90 }, T));
    assert.deepEqual(silence.silent(), []);
    heardBeside({ a: 0.95, b: 0.9, c: 0.7 }, 3600, { silence });
    assert.deepEqual(silence.silent(), []);
  });

  test('a device that is merely seldom heard is not silent', () => {
    for (const seed of [1, 2, 3]) {
      const silence = new Silence();
      const rnd = random(seed);
      for (let n = 0; n < 720; n += 1) {
        heardBeside({ a: 0.95, b: 0.3, c: 0.1, d: 0.02 }, 10, { silence, rnd });
        assert.deepEqual(silence.silent(), []);
      }
    }
  });

  test('what is not heard where nobody usually hears it is not silent', () => {
    const silence = heardBeside({ a: 0.95 }, 300);
    for (let n = 0; n < 3600; n += 1) silence.note(sampleOf({ far: -55, other: -80 }, T + n * SECOND));
    assert.deepEqual(silence.silent(), []);
  });

  test('a company says nothing before it is known', () => {
    const silence = heardBeside({ a: 1 }, 10);
    heardBeside({}, 15, { silence });
    assert.deepEqual([...silence.missed], []);
    silence.note(sampleOf({}, T)); // nothing at all is heard
    assert.deepEqual(silence.silent(), []);
  });

  test('saved and restored it goes on the same, and names nobody', () => {
    const one = heardBeside({ b: 0.9 }, 200, { silence: heardBeside({ a: 0.95, b: 0.9 }, 300) });
    const next = new Silence();
    const saved = copyOf(one.save());
    assert.ok(!JSON.stringify(saved).includes('staff'));
    next.restore(saved);
    assert.deepEqual(next.silent(), ['beacon a']);
    for (const silence of [one, next]) heardBeside({ a: 0.5, b: 0.9 }, 100, { silence });
    assert.deepEqual(next.save(), one.save());
    assert.throws(() => new Silence().restore({}), TypeError);
  });
});

/** A site whose learning is kept in a folder. */
function rig(t, { folder = fs.mkdtempSync(path.join(os.tmpdir(), 'learned-')), file = smallBuilding(), nowMs = T } = {}) {
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  const all = { folder, nowMs, warned: [], said: [], site: new Site(createBuilding(file), nowMs), rnd: random(1) };
  const [warn, log] = [all.warned, all.said].map((list) => (text) => list.push(text));
  all.learned = keepLearned({ folder, site: all.site, clock: () => all.nowMs, warn, log });
  const { learning } = all.site.devices;
  /** People walk about for some hours. */
  all.teach = (hours, { people = ['0', '1'], offsets = TRUE_DB } = {}) => {
    for (let n = 0; n < hours * 60; n += 1, all.nowMs += MIN) {
      learning.note({ staff_id: people[n % people.length], ms: all.nowMs, level: 'L1', room: 'a', advised: 'a', devices: IDS.map((id) => (
        { kind: 'beacon', id, place: placementKey(all.site.building().beacons.get(id)), room: 'a', rssi: -70 + offsets[id] + 3 * normal(all.rnd) })) });
    }
  };
  /** The plan of a level names the right moments, or does not. */
  all.walk = (isPlanRight) => {
    const [ofRule, ofPlan] = isPlanRight ? [mixed, right] : [right, mixed];
    walked({ ofRule, ofPlan }, 1800, { worth: learning.planWorth, fromMs: all.nowMs });
    all.nowMs += 30 * MIN;
  };
  /** A beacon is heard beside another one, or no more. */
  all.beside = (isHeard) => heardBeside(isHeard ? { [BEACONS.a]: 0.95 } : {}, 300, { silence: learning.silence, fromMs: all.nowMs });
  /** What is called once a minute. */
  all.minute = async () => {
    await all.learned.save();
    all.nowMs += MIN;
  };
  return all;
}

const inUse = ({ site, nowMs }) => Object.fromEntries(IDS.map((id) => [id, offsetsInUse(site, nowMs + 2 * MIN)('beacon', id)?.db ?? 0]));
const signs = (offsets) => IDS.map((id) => Math.sign(offsets[id]));

describe('what was learned', () => {
  test('is not used before two hours and enough people have been heard', async (t) => {
    const one = rig(t);
    one.teach(1.5);
    await one.learned.save();
    assert.deepEqual(one.site.devices.learnedVersions, [], 'an hour and a half');
    one.teach(1);
    await one.learned.save();
    assert.deepEqual(signs(inUse(one)), signs(TRUE_DB));
    assert.equal(offsetsInUse(one.site, one.nowMs)('beacon', IDS[0]), null, 'from a minute later on');
    assert.equal(one.said.length, 1);
    const alone = rig(t);
    alone.teach(5, { people: ['0'] });
    await alone.learned.save();
    assert.deepEqual(alone.site.devices.learnedVersions, [], 'one of two people');
    const file = smallBuilding();
    file.staff.push({ id: '2', name: 'Cid' }, { id: '3', name: 'Dan' });
    const many = rig(t, { file });
    many.teach(5);
    await many.learned.save();
    assert.deepEqual(many.site.devices.learnedVersions, [], 'two of four people');
    many.teach(1, { people: ['2'] });
    await many.learned.save();
    assert.deepEqual(signs(inUse(many)), signs(TRUE_DB), 'three are enough');
  });

  test('holds for a day where it is offsets, and until others differ', async (t) => {
    const one = rig(t);
    one.teach(3);
    await one.learned.save();
    const [first] = one.site.devices.learnedVersions;
    one.teach(20, { offsets: Object.fromEntries(IDS.map((id) => [id, -TRUE_DB[id]])) });
    await one.learned.save();
    assert.deepEqual(one.site.devices.learnedVersions, [first]);
    one.teach(5, { offsets: Object.fromEntries(IDS.map((id) => [id, -TRUE_DB[id]])) });
    await one.learned.save();
    assert.equal(one.site.devices.learnedVersions.length, 2);
    assert.deepEqual(signs(inUse(one)), signs(TRUE_DB).map((sign) => -sign));
    const second = one.site.devices.learnedVersions[1];
    one.teach(1, { offsets: Object.fromEntries(IDS.map((id) => [id, -TRUE_DB[id]])) });
    one.nowMs += 2 * DAY;
    await one.learned.save();
    assert.deepEqual(one.site.devices.learnedVersions, [first, second], 'it differs by less than 2 dB');
  });

  test('of the plan and of silent devices comes into use within two minutes, beside offsets that stay', async (t) => {
    const one = rig(t);
    one.teach(3);
    await one.minute();
    one.walk(true);
    await one.minute();
    await one.minute();
    const [first, second] = one.site.devices.learnedVersions;
    assert.deepEqual([second.plan, second.silent, second.offsets], [['L1'], [], first.offsets]);
    assert.ok(second.from_ms <= one.nowMs);
    one.beside(true);
    one.beside(false);
    await one.minute();
    await one.minute();
    const third = one.site.devices.learnedVersions[2];
    assert.deepEqual([third.plan, third.silent, third.offsets], [['L1'], [{ kind: 'beacon', id: BEACONS.a }], first.offsets]);
    assert.ok(third.from_ms <= one.nowMs);
    one.beside(true);
    for (let n = 0; n < 10 && one.site.devices.learning.planWorth.plan().length > 0; n += 1) one.walk(false);
    await one.minute();
    await one.minute();
    const last = one.site.devices.learnedVersions.at(-1);
    assert.deepEqual([last.plan, last.silent, last.offsets], [[], [], first.offsets]);
    const since = IDS.map((id) => offsetsInUse(one.site, one.nowMs)('beacon', id).since);
    assert.deepEqual(since, IDS.map(() => first.from_ms), 'offsets are as old as they are');
    await one.minute();
    assert.equal(one.site.devices.learnedVersions.at(-1), last, 'nothing is new');
  });

  test('of the plan needs no two hours', async (t) => {
    const one = rig(t);
    one.walk(true);
    await one.minute();
    assert.deepEqual(one.site.devices.learnedVersions.map(({ plan, offsets }) => [plan, offsets]), [[['L1'], []]]);
  });

  test('survives a restart, as what it is learned from does; old versions go', async (t) => {
    const one = rig(t);
    one.teach(3);
    one.walk(true);
    one.beside(true);
    one.beside(false);
    await one.minute();
    await one.learned.settle();
    const next = rig(t, { folder: one.folder, nowMs: one.nowMs });
    assert.deepEqual(next.site.devices.learnedVersions, one.site.devices.learnedVersions);
    assert.deepEqual(copyOf(next.site.devices.learning.save()), copyOf(one.site.devices.learning.save()));
    assert.deepEqual([next.site.devices.learning.people(), next.site.devices.learning.hours()], [2, one.site.devices.learning.hours()]);
    await next.minute();
    assert.deepEqual(next.site.devices.learnedVersions, one.site.devices.learnedVersions, 'a restart is no reason for a version');
    next.nowMs += 29 * DAY;
    next.teach(10, { offsets: NONE });
    for (let n = 0; n < 400; n += 1) next.teach(1, { offsets: NONE });
    await next.minute();
    assert.equal(next.site.devices.learnedVersions.length, 2);
    next.nowMs += 31 * DAY;
    next.beside(true);
    await next.minute();
    assert.equal(next.site.devices.learnedVersions.length, 2, 'the first one was followed more than thirty days ago');
    const again = rig(t, { folder: one.folder, nowMs: next.nowMs });
    assert.deepEqual(again.site.devices.learnedVersions, next.site.devices.learnedVersions);
    assert.deepEqual([one.warned, next.warned, again.warned], [[], [], []]);
  });

  test('a kill loses five minutes of learning at most', async (t) => {
    const one = rig(t);
    for (let n = 0; n < 12; n += 1) {
      one.teach(1 / 60);
      await one.learned.save();
    }
    const file = path.join(one.folder, 'learning.json');
    const visits = () => (fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')).offsets[0].visits : 0);
    for (const endMs = Date.now() + 10_000; visits() < 4 && Date.now() < endMs;) await setTimeout(10); // it is written beside
    assert.ok(visits() >= 4, `${visits()} of 12`);
  });

  test('is on disk before it is used: a version that cannot be written, or too late, is not', async (t) => {
    const one = rig(t);
    one.teach(3);
    fs.mkdirSync(path.join(one.folder, 'receiver-offsets.json.new')); // nothing can be written there
    await one.learned.save();
    assert.deepEqual(one.site.devices.learnedVersions, []);
    assert.match(one.warned.join(), /receiver-offsets\.json cannot be written, nothing new that was learned comes into use/);
    fs.rmdirSync(path.join(one.folder, 'receiver-offsets.json.new'));
    const saving = one.learned.save();
    await Promise.resolve().then(() => {});
    one.nowMs += 2 * MIN; // the disk is slow
    await saving;
    assert.deepEqual(one.site.devices.learnedVersions, []);
    assert.deepEqual(JSON.parse(fs.readFileSync(path.join(one.folder, 'receiver-offsets.json'), 'utf8')).versions, []);
    await one.learned.save();
    assert.deepEqual(signs(inUse(one)), signs(TRUE_DB));
    assert.deepEqual(JSON.parse(fs.readFileSync(path.join(one.folder, 'receiver-offsets.json'), 'utf8')).versions, copyOf(one.site.devices.learnedVersions));
  });

  const good = copyOf(new Learning().save());
  const noPlan = { ...good.plan_worth, devices: [['beacon x', null]] };
  for (const [name, versions, learning] of /** @type {[string, unknown, object][]} */ ([
    ['offsets without numbers', [{ from_ms: 1, offsets: [{ id: 'x' }] }], { ...good, offsets: [{ kind: 'beacon', id: 'x', place: 'y' }] }],
    ['an offset that cannot be', [{ from_ms: 1, offsets: [{ kind: 'beacon', id: 'x', place: 'y', offset_db: 90 }] }], { ...good, offsets: 5 }],
    ['levels that are none', [{ from_ms: 1, offsets: [], plan: [7] }], { v: 2, people: 1, quarters: [], offsets: [] }],
    ['devices that are none', [{ from_ms: 1, offsets: [], silent: ['x'] }], { ...good, silence: { companies: [['x', 1, [['y', null]]]], missed: [] } }],
    ['another release', {}, { v: 1 }],
    ['nothing in a list', [null], { ...good, plan_worth: noPlan }],
    ['no number of people', [7], { ...good, people: 'x' }],
    ['no quarters of an hour', 'x', { ...good, offsets: [{ kind: 'beacon', id: 'x', place: 'y', visits: 3, dbm: -70, variance: 4 }], quarters: 4 }],
  ])) {
    test(`of damaged files nothing is taken, and they are warned of by name (${name})`, (t) => {
      const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'learned-'));
      fs.writeFileSync(path.join(folder, 'receiver-offsets.json'), JSON.stringify({ versions }));
      fs.writeFileSync(path.join(folder, 'learning.json'), JSON.stringify(learning));
      const one = rig(t, { folder });
      assert.deepEqual(one.site.devices.learnedVersions, []);
      assert.match(one.warned.join('\n'), /receiver-offsets\.json has no versions[^]*learning\.json is not taken/);
      assert.deepEqual(one.site.devices.learning.save(), new Learning().save());
      one.teach(1);
    });
  }

  test('files that are no JSON are warned of by name', (t) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'learned-'));
    for (const name of ['receiver-offsets.json', 'learning.json']) fs.writeFileSync(path.join(folder, name), '{"v');
    const one = rig(t, { folder });
    assert.match(one.warned.join('\n'), /receiver-offsets\.json cannot be read[^]*learning\.json cannot be read/);
  });

  test('gives way to what the building file states; a device that was moved begins anew; the switch turns it off', async (t) => {
    const file = smallBuilding();
    file.beacons[0].tx = -59;
    const one = rig(t, { file });
    one.teach(3);
    await one.learned.save();
    assert.equal(inUse(one)[IDS[0]], 0);
    assert.notEqual(inUse(one)[IDS[1]], 0);
    const moved = structuredClone(file);
    moved.beacons[1].x_m = 12;
    one.site.setBuilding(createBuilding(moved), one.nowMs);
    assert.equal(inUse(one)[IDS[1]], 0);
    assert.notEqual(inUse(one)[IDS[2]], 0);
    one.site.setBuilding(createBuilding({ ...file, learned_offsets: false }), one.nowMs);
    assert.deepEqual(inUse(one), NONE);
    one.nowMs += 2 * DAY;
    one.teach(3, { offsets: Object.fromEntries(IDS.map((id) => [id, -TRUE_DB[id]])) });
    await one.learned.save();
    assert.equal(one.site.devices.learnedVersions.length, 1, 'nothing new while it is off');
    one.site.setBuilding(createBuilding(file), one.nowMs);
    assert.notEqual(inUse(one)[IDS[1]], 0);
  });

  test('of a device that is no more is forgotten, and others are not measured by it', async (t) => {
    const one = rig(t);
    one.teach(3);
    const { learning } = one.site.devices;
    assert.ok(Math.abs(learning.bias('beacon', BEACONS.d) + 6) < 2, 'of four, the median is between -6 and 6');
    const file = smallBuilding();
    file.beacons.shift();
    one.site.setBuilding(createBuilding(file), one.nowMs);
    await one.learned.save();
    const { offsets } = one.site.devices.learnedVersions[0];
    assert.deepEqual(offsets.filter(({ id }) => id === BEACONS.a || id === BEACONS.d), [], 'of three, it is -6');
    assert.ok(offsets.some(({ id, offset_db: db }) => id === BEACONS.c && db >= 8));
    assert.ok(!JSON.stringify(learning.save()).includes(BEACONS.a));
  });

  test('of a level or room that is no more is forgotten: its plan speaks no more, and nothing of it is on disk', async (t) => {
    const one = rig(t);
    one.walk(true);
    one.teach(1);
    await one.minute();
    assert.deepEqual(one.site.devices.learnedVersions.at(-1).plan, ['L1']);
    const file = smallBuilding();
    file.levels.shift();
    for (const key of ['beacons', 'gateways']) file[key] = file[key].filter(({ level }) => level !== 'L1');
    one.site.setBuilding(createBuilding(file), one.nowMs);
    one.nowMs += 2 * MIN;
    await one.minute();
    assert.deepEqual(one.site.devices.learnedVersions.at(-1).plan, []);
    const saved = one.site.devices.learning.save();
    assert.deepEqual([saved.plan_worth.levels, saved.plan_worth.rooms, saved.plan_worth.speaks], [[], [[], []], []]);
  });
});

test('a locator corrects a reading by the version of its time, whenever it comes', () => {
  const building = createBuilding(smallBuilding());
  const place = placementKey(building.beacons.get(BEACONS.a));
  const versions = [{ from_ms: T, offsets: [{ kind: 'beacon', id: BEACONS.a, place, offset_db: 9 }] }];
  /** The room, and the level of its beacon as it counts. */
  const foundAt = (ts, its = building) => {
    const [locator, outcome] = [createLocator(its, {}, undefined, versions), emptyOutcome()];
    const readings = [{ beacon: BEACONS.a, rssi: -60 }, { beacon: BEACONS.b, rssi: -65 }];
    locator.hear({ kind: 'phone', receiver: '1', ts, readings }, T + HOUR, outcome);
    locator.tick(T + HOUR + 5000, outcome);
    const [{ room, rssi }] = outcome.locations;
    assert.equal(rssi, room === 'a' ? -60 : -65, 'what is said was received');
    return [room, locator.trace('1').heard.find(({ id }) => id === BEACONS.a).rssi];
  };
  assert.deepEqual([foundAt(T - 1), foundAt(T), foundAt(T + DAY)], [['a', -60], ['b', -69], ['b', -69]]);
  const moved = smallBuilding();
  moved.beacons[0].x_m = 6;
  assert.deepEqual(foundAt(T, createBuilding(moved)), ['a', -60]);
  assert.deepEqual(foundAt(T, createBuilding({ ...smallBuilding(), learned_offsets: false })), ['a', -60]);
});

test('what a locator hears of people teaches which beacons are louder, and with that it finds their rooms', () => {
  const building = house();
  const addedDb = new Map([...building.beacons.keys()].map((id, n) => [id, n % 2 ? 10 : -10]));
  /** @param {import('../lib/locator').LearnedVersion[]} versions @returns {number} share of seconds in the right room */
  const walk = (versions, learning) => {
    const [locator, outcome] = [createLocator(building, {}, undefined, versions), emptyOutcome()];
    const [ether, rnd] = [createEther(building, 4), random(9)];
    locator.onSample(learning?.note ?? null);
    const truth = new Map();
    for (let ms = T; ms < T + 2 * HOUR; ms += 30 * SECOND) {
      const room = Object.keys(PLACES)[Math.floor(rnd() * 10)];
      const at = PLACES[room];
      const place = { room, x: at.x + 8 * (rnd() - 0.5), y: at.y + (room.endsWith('hall') ? 2 : 8) * (rnd() - 0.5) };
      for (let s = 0; s < 30; s += 2) {
        const batch = ether.phone(place, ms + s * SECOND);
        for (const reading of batch.readings) reading.rssi += addedDb.get(reading.beacon);
        locator.hear(batch, batch.ts, outcome);
        if (s > 10) truth.set(batch.ts, room);
      }
    }
    const found = new Map(outcome.locations.map(({ ts, room }) => [ts, room]));
    return [...truth].filter(([ts, room]) => found.get(ts) === room).length / truth.size;
  };
  const learning = new Learning();
  const before = walk([], learning);
  const { offsets } = learning.version(building, true);
  assert.equal(offsets.filter(({ id, offset_db: db }) => Math.sign(db) === Math.sign(addedDb.get(id))).length, offsets.length);
  const after = walk([{ from_ms: 0, offsets }], null);
  assert.ok(after > before + 0.03 && after > 0.93, `${before} ${after}`);
});
