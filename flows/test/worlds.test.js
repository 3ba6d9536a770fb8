'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');
const { houseFile } = require('./locator/house');
const { smallBuilding } = require('./support/building');
const { World, random, taggedWalks, walks } = require('./support/world');

// Seeded worlds in which everything happens at once: kills of the flows, with and without what the broker kept, a backlog, an edit of
// the building, and an outage of the database or of ingest. `WORLDS=200 node --test test/worlds.test.js` plays more of them.
const WORLDS = Number(process.env.WORLDS ?? 16);
const T = 1_700_000_000_000;
const MIN = 60_000;
const END = T + 14 * MIN;
/** So old a location is decided and published, and so is the stay before it. */
const SURE_MS = 30_000;

/** What happens in a world, a function of its seed. */
function plan(seed) {
  const next = random(seed);
  next();
  const between = (fromMs, toMs) => Math.floor(fromMs + next() * (toMs - fromMs));
  const tagged = seed % 4 === 3;
  const awayMs = T + between(3.5 * MIN, 4 * MIN);
  const kills = Array.from({ length: 1 + seed % 3 }, (_, i) => {
    const fromMs = awayMs + i * 90_000 + between(0, 30_000);
    return { fromMs, toMs: fromMs + between(500, 55_000), session: next() < 0.5 };
  });
  return { tagged, kills, receiver: tagged ? 'gw-U-b' : '1', editMs: T + (tagged ? between(11 * MIN, 12 * MIN) : between(1 * MIN, 1.9 * MIN)),
    backlog: { fromMs: T + 2 * MIN, toMs: T + between(2.5 * MIN, 4 * MIN), backMs: T + between(8.5 * MIN, 10 * MIN) },
    outage: { fromMs: T + between(4 * MIN, 6 * MIN), toMs: T + between(6.5 * MIN, 8 * MIN), of: next() < 0.5 ? 'database' : 'ingest' } };
}

/** Room A is called otherwise from now on, and the loudest device of a room has another place. */
function edited(file) {
  const next = structuredClone(file);
  next.levels[0].rooms[0].name = 'Another name';
  if (next.beacons?.[1]) next.beacons[1].x_m += 1;
  return next;
}

/** Runs a world up to a moment, edits its building at the planned one. */
async function reach(world, ms, editMs, file) {
  if (world.now < editMs && ms >= editMs) {
    await world.until(() => world.now >= editMs);
    world.keep(edited(file));
  }
  await world.until(() => world.now >= ms);
}

for (let seed = 1; seed <= WORLDS; seed += 1) {
  const planned = plan(seed);
  const { tagged, kills, receiver, editMs, backlog, outage } = planned;
  test(
    `world ${seed}: ${tagged ? 'gateways' : 'phones'}, ${kills.length} kills, ${outage.of} away: history is that of an undisturbed run`, async () => {
    const file = tagged ? houseFile() : smallBuilding();
    const sent = tagged ? taggedWalks(seed, { fromMs: T, toMs: END, tags: ['C0FFEE000001', 'C0FFEE000002'] })
      : walks(seed, { people: 4, fromMs: T, toMs: END });
    const undisturbed = new World(sent, T, file).start();
    await reach(undisturbed, END, editMs, file);

    const isLate = (one) => one.receiver === receiver && one.ms >= backlog.fromMs && one.ms < backlog.toMs;
    const delayed = sent.map((one) => (isLate(one) ? { ...one, atMs: backlog.backMs + (one.ms - T) / 100 } : one))
      .sort((a, b) => a.atMs - b.atMs);
    const world = new World(delayed, T, file);
    const isAway = () => world.now >= outage.fromMs && world.now < outage.toMs;
    if (outage.of === 'database') world.away = isAway;
    else world.ingestIsUp = () => !isAway();
    world.start();
    /** What counted as complete at some moment, by person. @type {{id: string, untilMs: number, lines: string[]}[]} */
    const looks = [];
    const linesOf = (id, untilMs) => world.history(T + MIN, untilMs).locations.filter((line) => line.startsWith(`${id} `));
    const look = () => {
      const people = new Set([...world.locations.values()].map(({ staff_id: id }) => id));
      for (const id of people) {
        if ((tagged || id === receiver) && world.now < backlog.backMs + 5000) continue; // nobody knows of it yet
        const untilMs = world.coverage.completeUntil(T + MIN, world.now - SURE_MS, [id], world.now);
        looks.push({ id, untilMs, lines: linesOf(id, untilMs) });
      }
    };
    for (const { fromMs, toMs, session } of kills) {
      await reach(world, fromMs, editMs, file);
      world.kill();
      while (world.now < toMs) world.pass(500);
      world.start({ session });
      for (let i = 0; i < 4; i += 1) {
        await reach(world, world.now + 4000, editMs, file);
        look();
      }
    }
    for (let ms = world.now; ms < END; ms += 20_000) {
      await reach(world, Math.min(ms, END), editMs, file);
      look();
    }
    await world.until(() => world.now >= END);
    const [is, expected] = [world, undisturbed].map((one) => one.history(T, END - 2 * MIN));
    assert.ok(expected.locations.length > 400 && expected.stays.length > 5, `${expected.locations.length} ${expected.stays.length}`);
    assert.deepEqual(is, expected);
    assert.ok(world.isComplete(T, END - MIN, null), 'and all of it is said to be complete');
    assert.deepEqual(world.rebuild.part().status, 'up');
    assert.ok(looks.length > 20 && new Set(looks.map(({ untilMs }) => untilMs)).size > 10, `${looks.length}`);
    for (const { id, untilMs, lines } of looks) assert.deepEqual(linesOf(id, untilMs), lines, `what was complete until ${untilMs - T}`);
  });
}
