'use strict';

// Readings through the flows' correction of receivers' clocks into their locator, with the clock as data, and what it said. One JSON
// value a line.
// In:  a start {"building": {…}, "tick_ms": 250, "tunings": [{}], "sure": false, "rebuild": false, "schematic": false, "taught_ms": null}, then
//      messages in the order of their arrival, [now_ms, kind, receiver, ts, [[beacon, rssi], …]], at last [end_ms]; then the next start, with the
//      same building where it names none. One locator for each of `tunings` hears all of it.
//      rebuild: messages in the order of their own time, through the replay that rebuilds histories, with what the live play before
//      has learned;
//      taught_ms: offsets of devices that were learned until then are used from then on; the worth of the plan and silent devices are
//      looked at once a minute, as in a running installation
//      schematic: the building as a list of its rooms and devices would have made it: rooms as tiles, no device measured
// Out: of each start and tuning a line, for each person {"staff_id", "history": [[second, room, said_ms, probability, runner_up], …],
//      "live": [[now_ms, room, state, probability, runner_up], …], "sure": [[now_ms, room, probability], …]}
//      history: every word on each second, in the order they were said; live: each change of presence, when it was published;
//      sure: what a question at that moment is answered, once a second, where it is another than before
const path = require('node:path');
const readline = require('node:readline');
const { isDeepStrictEqual } = require('node:util');

const LIB = path.join(__dirname, '..', '..', 'flows', 'lib');
const { createBuilding } = require(path.join(LIB, 'building'));
const { Clocks } = require(path.join(LIB, 'clocks'));
const { keyOf } = require(path.join(LIB, 'live', 'batches'));
const { spreadDevices, withTiles } = require(path.join(LIB, 'building', 'import', 'from-list'));
const { Learning } = require(path.join(LIB, 'devices', 'learning'));
const { createLocator, emptyOutcome } = require(path.join(LIB, 'locator'));
const { createReplay } = require(path.join(LIB, 'past', 'replay'));

const LEARN_MS = 60_000;

/** Statuses are retained by the broker, so those of gateways that run are known at once. */
function locatorOf(building, tuning, versions = []) {
  const locator = createLocator(building, tuning, undefined, versions);
  for (const id of building.gateways.keys()) locator.setGateway(id, true);
  return locator;
}

/** What was said of each person. */
function createNotes() {
  const people = new Map();
  const of = (id) => people.get(id) ?? people.set(id, { history: [], live: [], sure: [] }).get(id);
  const sureOf = ({ staff_id: id, probability, runner_up: runnerUp }) => {
    if (typeof probability !== 'number' || runnerUp === undefined) throw new Error(`${id}: no probability or runner-up`);
    return [Math.round(probability * 1000) / 1000, runnerUp];
  };
  return {
    locations(list, nowMs) {
      for (const one of list) of(one.staff_id).history.push([Math.floor(one.ts / 1000), one.room, nowMs, ...sureOf(one)]);
    },
    presences(list, nowMs) {
      for (const one of list) of(one.staff_id).live.push([nowMs, one.room, one.state, ...sureOf(one)]);
    },
    answers(list, nowMs) {
      for (const one of list) {
        const { sure } = of(one.staff_id);
        const [probability] = sureOf(one);
        if (sure.at(-1)?.[1] !== one.room || sure.at(-1)[2] !== probability) sure.push([nowMs, one.room, probability]);
      }
    },
    all: () => [...people].map(([staffId, notes]) => ({ staff_id: staffId, ...notes })),
  };
}

/** Live: messages as they arrive, ticks in between. */
function createLive(building, tuning, { tick_ms: tickMs, sure, taught_ms: taughtMs }) {
  const versions = [];
  const learning = new Learning();
  const locator = locatorOf(building, tuning, versions);
  locator.onSample(learning.note);
  let learnedMs = 0;
  let isTaught = taughtMs === null;
  const clocks = new Clocks();
  const notes = createNotes();
  const outcome = emptyOutcome();
  let nowMs = 0; // until the first message
  let tickedMs = 0;

  function collect() {
    notes.locations(outcome.locations, nowMs);
    notes.presences(outcome.presences, nowMs);
    for (const list of Object.values(outcome)) list.length = 0;
  }

  function learn() {
    const isDue = !isTaught && nowMs >= taughtMs;
    if (nowMs < learnedMs + LEARN_MS && !isDue) return;
    learnedMs = nowMs;
    isTaught ||= isDue;
    if (isDue) learning.offsets.sweep(Infinity);
    const last = versions.at(-1);
    const next = learning.version(building, isDue, last);
    if (isDeepStrictEqual(next, { offsets: last?.offsets ?? [], silent: last?.silent ?? [], plan: last?.plan ?? [] })) return;
    versions.push({ from_ms: nowMs + (isDue ? 0 : LEARN_MS), ...next });
  }

  function pass(ms) {
    for (tickedMs ||= Math.floor(ms / tickMs) * tickMs; tickedMs + tickMs <= ms;) {
      nowMs = tickedMs += tickMs;
      for (const batch of clocks.due(nowMs)) locator.hear(batch, nowMs, outcome);
      locator.tick(nowMs, outcome);
      collect();
      learn();
      if (sure && nowMs % 1000 === 0) notes.answers(locator.presences(), nowMs);
    }
    nowMs = ms;
  }

  return {
    hear(ms, batch) {
      pass(ms);
      for (const known of clocks.correct([batch], nowMs)) locator.hear(known, nowMs, outcome);
      collect();
    },
    end: (ms) => { pass(ms); return notes.all(); },
    learned: { versions, clocks },
  };
}

/** Again, as a rebuild does it from stored readings. */
function createAgain(building, tuning, { versions, clocks }) {
  const batches = [];
  return {
    hear(ms, batch) {
      const ts = clocks.timeOf(keyOf(batch), batch.ts);
      if (ts !== null) batches.push({ ...batch, ts });
    },
    end(ms) {
      batches.sort((a, b) => a.ts - b.ts);
      const [{ ts: sinceMs }] = batches;
      const replay = createReplay({ locator: locatorOf(building, tuning, versions), sinceMs, changes: [] }, emptyOutcome, { fromMs: 0 });
      for (const batch of batches) replay.hear(batch);
      replay.pass(ms);
      const notes = createNotes();
      notes.locations(replay.take(() => true).locations, ms);
      return notes.all();
    },
  };
}

function tiled(file) {
  const { beacons = [], gateways = [] } = file;
  const named = new Set([...beacons, ...gateways].map(({ room }) => room)); // a list names no others
  const levels = file.levels.map(({ id, name, rooms }) => withTiles({ id, name, rooms: [] },
    rooms.filter((room) => named.has(room.id)).map((room) => ({ id: room.id, name: room.name }))));
  return spreadDevices({ ...file, levels, beacons, gateways }, new Set(levels.map(({ id }) => id)));
}

async function main() {
  let building = null;
  let following = [];
  let learned = [];
  for await (const line of readline.createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const message = JSON.parse(line);
    if (!Array.isArray(message)) {
      if (message.building) building = createBuilding(message.schematic ? tiled(message.building) : message.building);
      following = message.tunings.map((tuning, n) => (
        message.rebuild ? createAgain(building, tuning, learned[n]) : createLive(building, tuning, message)));
      if (!message.rebuild) learned = following.map((one) => one.learned);
      continue;
    }
    const [nowMs, kind, receiver, ts, readings] = message;
    if (!kind) {
      for (const one of following) process.stdout.write(`${JSON.stringify(one.end(nowMs))}\n`);
      continue;
    }
    const batch = { kind, receiver, ts, readings: readings.map(([beacon, rssi]) => ({ beacon, rssi })) };
    for (const one of following) one.hear(nowMs, batch);
  }
}

main();
