'use strict';

// Readings into the flows' own locator, with the clock as data, and what came out of it. One JSON value a line.
// In:  {"building": {…}, "tick_ms": 250, "tuning": {}, "teaches": false, "learned": false}, then messages in the order of their arrival:
//      {"now_ms", "kind", "receiver", "ts", "readings"} or {"now_ms", "gateway", "online"}, at last {"now_ms"};
//      then the next one's start, with the same building where it names none. teaches: offsets of devices are learned from it;
//      learned: "anew" forgets them, "use" corrects readings by those that the plays before taught since the last "use" or "anew"
// Out: of each start a line, for each person {"staff_id", "history": [[second, level, room], …], "live": [[now_ms, level, room, state], …]}
//      history: what /extractbeacon serves: the final room of each second; live: each change of presence, when it was published
const path = require('node:path');
const readline = require('node:readline');

const LIB = path.join(__dirname, '..', '..', 'flows', 'lib');
const { createBuilding } = require(path.join(LIB, 'building'));
const { learnedOffsets } = require(path.join(LIB, 'devices', 'offsets'));
const { createWitnesses } = require(path.join(LIB, 'devices', 'offsets', 'witnesses'));
const { createLocator, emptyOutcome } = require(path.join(LIB, 'locator'));

const witnesses = createWitnesses();
/** Learned offsets in use. */
let versions = [];

/** @param {import('../../flows/lib/building').Building} building @param {{tick_ms: number, tuning?: object}} start */
function createFollowing(building, { tick_ms: tickMs, tuning = {}, teaches = false, learned = 'keep' }) {
  if (learned === 'anew') versions = [];
  if (learned === 'use') versions = [{ from_ms: 0, offsets: learnedOffsets(witnesses, building, versions[0]?.offsets) }];
  if (learned !== 'keep') witnesses.clear();
  const locator = createLocator(building, tuning, undefined, versions);
  if (teaches) locator.onOffsetSample(witnesses.note);
  for (const id of building.gateways.keys()) locator.setGateway(id, true);
  const people = new Map();
  const outcome = emptyOutcome();
  let nowMs = 0; // until the first message

  const personOf = (id) => {
    if (!people.has(id)) people.set(id, { history: new Map(), live: [] });
    return people.get(id);
  };

  function collect() {
    for (const { staff_id: id, ts, level, room } of outcome.locations.splice(0)) {
      personOf(id).history.set(Math.floor(ts / 1000), [level, room]); // InfluxDB keeps the last word as well
    }
    for (const { staff_id: id, level, room, state } of outcome.presences.splice(0)) personOf(id).live.push([nowMs, level, room, state]);
    for (const list of Object.values(outcome)) list.length = 0;
  }

  return {
    pass(ms) {
      for (nowMs ||= ms; nowMs + tickMs <= ms;) {
        nowMs = (Math.floor(nowMs / tickMs) + 1) * tickMs;
        locator.tick(nowMs, outcome);
        collect();
      }
      nowMs = Math.max(nowMs, ms);
    },
    take({ kind, receiver, ts, readings, gateway, online }) {
      if (kind) locator.hear({ kind, receiver, ts, readings }, nowMs, outcome);
      else if (gateway) locator.setGateway(gateway, online);
      collect();
    },
    result: () => [...people].map(([staffId, { history, live }]) => ({
      staff_id: staffId, history: [...history].sort(([a], [b]) => a - b).map(([second, place]) => [second, ...place]), live,
    })),
  };
}

async function main() {
  let building = null;
  let following = null;
  const end = () => process.stdout.write(`${JSON.stringify(following.result())}\n`);
  for await (const line of readline.createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    const message = JSON.parse(line);
    if ('tick_ms' in message) {
      if (following) end();
      if (message.building) building = createBuilding(message.building);
      following = createFollowing(building, message);
      continue;
    }
    following.pass(message.now_ms);
    following.take(message);
  }
  if (following) end();
}

main();
