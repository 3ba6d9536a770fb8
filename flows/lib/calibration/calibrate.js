// @ts-check
'use strict';

const { createBuilding } = require('../building');
const { createLocator, emptyOutcome } = require('../locator');
const { estimate, median, withProposals } = require('./estimate');

/**
 * Calibration from a recorded walk with known rooms: proposals for the power of beacons, the offsets of gateways and the power of
 * the walker's tag, and their effect on the located rooms. Pure, and some seconds of work.
 *
 * `left_out` is cross-validated: the visits are divided into parts, and each part is located with proposals from the other parts
 * only. This figure decides whether anything is proposed.
 * @typedef {import('../building').BuildingFile} BuildingFile
 * @typedef {{building: BuildingFile, mode: 'gateway'|'phone', rows: Row[], taps: {ts: number, room: string|null}[], endMs: number}} Walk
 *   rows and taps in the order of their times
 * @typedef {import('./estimate').Proposal} Proposal
 * @typedef {{room: string, seconds: number, before: number, after: number}} RoomScore seconds in the right room; after: cross-validated
 * @typedef {object} Calibration
 * @property {'better'|'no_gain'|'too_little'} verdict
 * @property {string} reason a sentence
 * @property {number} visits
 * @property {number} seconds scored seconds
 * @property {number} before seconds in the right room with the building file as it is
 * @property {number} left_out the same with proposals from the other visits
 * @property {number} same_walk the same with the proposals, learned from the same walk
 * @property {number|null} with_plan the same as `before`, where the measured plan advises on all levels; null: no position is measured
 * @property {RoomScore[]} rooms in the order of the walk
 * @property {Proposal[]} proposals [] unless the verdict is better
 */

const PARTS = 5;
/** Fewer visits do not generalise. */
const VISITS = 4;
const SECONDS = 60;
/** Smallest gain, share of all seconds. */
const GAIN = 0.01;
/** Smaller changes of a visit, s, are within the accuracy of a tap. */
const NOTICEABLE_S = 3;
/** Older readings do not count as samples. */
const FRESH_S = 1;
/** Fewer gateways at a moment do not say how strong the tag is. */
const DEVICES = 3;

/** Calibrates a walk. @param {Walk} walk @returns {Calibration} */
function calibrate(walk) {
  const { building, mode, rows, taps, endMs } = walk;
  const visits = visitsOf(taps, endMs);
  const scored = visits.map(secondsOf);
  const seconds = scored.reduce((sum, its) => sum + its.length, 0);
  const noResult = { visits: visits.length, seconds, before: 0, left_out: 0, same_walk: 0, with_plan: null, rooms: [], proposals: [] };
  if (visits.length < VISITS || seconds < SECONDS || rows.length === 0) {
    return { verdict: 'too_little', reason: `A walk needs ${VISITS} visits of rooms and a minute in them; this one has ${visits.length} and `
      + `${seconds} s${rows.length === 0 ? ', and nothing was received' : ''}.`, ...noResult };
  }
  /** @type {import('./estimate').Sample[]} */
  const samples = [];
  /** @type {import('./estimate').LevelSample[]} */
  const levels = [];
  const first = locateWalk(walk, (trace, expectedIn) => addSamples(trace, { mode, visits, expectedIn }, samples, levels));

  /** @param {(visit: number) => boolean} isUsed */
  const proposalsOf = (isUsed) => estimate(building, mode, {
    samples: samples.filter(({ visit }) => isUsed(visit)), levels: levels.filter(({ visit }) => isUsed(visit)) });
  /** @param {History} history @param {number} v */
  const secondsRight = (history, v) => (scored[v] ?? []).filter((second) => roomAt(history, second) === visits[v]?.room).length;
  /** @param {readonly Proposal[]} proposals */
  const locateWith = (proposals) => (proposals.length === 0 ? first
    : locateWalk({ ...walk, building: withProposals(building, proposals) }));

  const before = visits.map((_, v) => secondsRight(first, v));
  const parts = Array.from({ length: Math.min(PARTS, visits.length) }, (_, part) => locateWith(proposalsOf((v) => v % PARTS !== part)));
  const after = visits.map((_, v) => secondsRight(/** @type {History} */ (parts[v % PARTS]), v));
  const proposals = proposalsOf(() => true);
  const same = locateWith(proposals);
  const advised = isMeasured(building) ? locateWalk(walk, undefined, building.levels.map(({ id }) => id)) : null;
  const sum = (/** @type {number[]} */ list) => list.reduce((all, one) => all + one, 0);
  const result = {
    visits: visits.length, seconds, before: sum(before), left_out: sum(after), same_walk: sum(visits.map((_, v) => secondsRight(same, v))),
    with_plan: advised && sum(visits.map((_, v) => secondsRight(advised, v))),
    rooms: roomScores(visits, scored.map((its) => its.length), before, after),
  };
  const gains = visits.map((_, v) => Number(after[v]) - Number(before[v]));
  const isBetter = proposals.length > 0 && isGain(gains, seconds) && result.same_walk > result.before;
  return isBetter ? { verdict: 'better', reason: 'Rooms that were left out of the learning were found more often with it.', ...result, proposals }
    : { verdict: 'no_gain', reason: proposals.length === 0 ? 'Nothing is off by 2 dB or more, as far as this walk shows.'
      : 'What could be changed would not make rooms that were left out more often right.', ...result, proposals: [] };
}

/** Whether the position of any device is measured. @param {BuildingFile} building */
function isMeasured({ levels, beacons, gateways }) {
  const schematic = new Set(levels.filter((level) => level.schematic).map(({ id }) => id));
  return [...beacons, ...gateways].some(({ approximate, level }) => !approximate && !schematic.has(level));
}

/**
 * Whether the gain is large enough, and no more visits lose noticeably than gain; one that gains while others lose is chance.
 * @param {readonly number[]} gains of each visit, seconds @param {number} seconds of all of them
 */
function isGain(gains, seconds) {
  const gain = gains.reduce((sum, one) => sum + one, 0);
  const noticeable = gains.filter((one) => Math.abs(one) >= NOTICEABLE_S);
  return gain >= GAIN * seconds && noticeable.filter((one) => one > 0).length >= noticeable.length / 2;
}

/**
 * Adds samples of a trace: RSSI of each device against what is expected on average in the true room. A gateway's is taken against the
 * median of all gateways at that moment, which is how strong the tag is.
 * @param {import('../locator').Trace} trace
 * @param {{mode: 'gateway'|'phone', visits: readonly Visit[], expectedIn: (room: string) => ReadonlyMap<string,
 *   number>}} walk
 * @param {import('./estimate').Sample[]} samples are added to
 * @param {import('./estimate').LevelSample[]} levels are added to
 */
function addSamples({ ts, heard }, { mode, visits, expectedIn }, samples, levels) {
  const visit = visitAt(visits, ts);
  const room = visits[visit]?.room;
  if (!room) return;
  const expected = expectedIn(room);
  const its = heard.flatMap(({ id, rssi, age_s: age }) => {
    const dbm = expected.get(id);
    return age > FRESH_S || dbm === undefined ? [] : [{ device: id, visit, offDb: rssi - dbm }];
  });
  if (mode === 'phone') samples.push(...its);
  else if (its.length >= DEVICES) {
    const levelDb = median(its.map(({ offDb }) => offDb));
    levels.push({ visit, levelDb });
    samples.push(...its.map((one) => ({ ...one, offDb: one.offDb - levelDb })));
  }
}

/**
 * @param {readonly Visit[]} visits @param {number[]} seconds @param {number[]} before
 * @param {number[]} after all three by visit
 * @returns {RoomScore[]}
 */
function roomScores(visits, seconds, before, after) {
  /** @type {Map<string, RoomScore>} */
  const rooms = new Map();
  visits.forEach(({ room }, v) => {
    const score = rooms.get(room) ?? { room, seconds: 0, before: 0, after: 0 };
    score.seconds += Number(seconds[v]);
    score.before += Number(before[v]);
    score.after += Number(after[v]);
    rooms.set(room, score);
  });
  return [...rooms.values()];
}

/**
 * Locates a recorded walk again, with any building file. Pure: time is that of the readings.
 * @typedef {{ts: number, receiver: string, beacon: string, rssi: number}} Row a reading as it was sent; ts: epoch ms
 * @typedef {'gateway'|'phone'} Mode
 * @typedef {Map<number, string>} History the room of each second, epoch s, as /extractbeacon has it
 */

const TICK_MS = 250;
/** Time from the end of a window to its arrival. */
const LATENCY_MS = 30;
/** Time after the last reading, in which the locator settles open locations. */
const AFTER_MS = 15_000;
/** A record is valid until the next one, and no longer than somebody counts as present (docs/interfaces.md), s. */
const VALID_S = 60;

/**
 * @param {object} walk
 * @param {BuildingFile} walk.building with one person, the walker
 * @param {Mode} walk.mode
 * @param {readonly Row[]} walk.rows in the order of their times
 * @param {(trace: import('../locator').Trace, expectedIn: import('../locator').Locator['expectedIn']) => void} [onTrace] gets the
 *   trace of the
 *   walker each second
 * @param {string[]} [plan] levels where the measured plan advises
 * @returns {History}
 */
function locateWalk({ building, mode, rows }, onTrace = () => {}, plan = []) {
  const walker = building.staff[0]?.id ?? '';
  const locator = createLocator(createBuilding(building), {}, undefined, [{ from_ms: 0, offsets: [], plan }]);
  for (const { id } of building.gateways) locator.setGateway(id, true);
  const expectedIn = (/** @type {string} */ room) => locator.expectedIn(room);
  const outcome = emptyOutcome();
  /** @type {History} */
  const history = new Map();
  let nowMs = (rows[0]?.ts ?? 0) - TICK_MS;

  function collect() {
    for (const { ts, room } of outcome.locations) history.set(Math.floor(ts / 1000), room); // a later location replaces an earlier one
    for (const list of Object.values(outcome)) list.length = 0;
  }
  /** Lets time pass. @param {number} ms */
  function advanceTo(ms) {
    while (nowMs + TICK_MS <= ms) {
      const before = nowMs;
      nowMs += TICK_MS;
      locator.tick(nowMs, outcome);
      collect();
      const trace = Math.floor(nowMs / 1000) === Math.floor(before / 1000) ? null : locator.trace(walker);
      if (trace) onTrace(trace, expectedIn);
    }
  }

  for (const batch of batchesOf(rows)) {
    advanceTo(batch.ts + LATENCY_MS);
    locator.hear({ kind: mode, ...batch }, Math.max(nowMs, batch.ts + LATENCY_MS), outcome);
    collect();
  }
  advanceTo(nowMs + AFTER_MS);
  return history;
}

/**
 * Groups readings of one receiver and one time into batches.
 * @param {readonly Row[]} rows
 * @returns {{ts: number, receiver: string, readings: {beacon: string, rssi: number}[]}[]}
 */
function batchesOf(rows) {
  /** @type {ReturnType<typeof batchesOf>} */
  const batches = [];
  /** @type {Map<string, typeof batches[number]>} */
  const open = new Map();
  for (const { ts, receiver, ...reading } of rows) {
    let batch = open.get(receiver);
    if (batch?.ts !== ts) open.set(receiver, batches[batches.push(batch = { ts, receiver, readings: [] }) - 1] ?? batch);
    batch.readings.push(reading);
  }
  return batches;
}

/** The room of a second: that of the newest record up to it; '': none. @param {History} history @param {number} second */
function roomAt(history, second) {
  for (let at = second; at > second - VALID_S; at -= 1) {
    const room = history.get(at);
    if (room !== undefined) return room;
  }
  return '';
}

/**
 * Visits of rooms from the taps of a walk. Pure.
 * @typedef {{room: string, fromMs: number, toMs: number}} Visit half-open, epoch ms
 */

/** Around a tap somebody is between two rooms; those samples do not count. */
const MARGIN_MS = 2000;
const SECOND_MS = 1000;

/**
 * @param {readonly {ts: number, room: string|null}[]} taps in the order of their times; null: in no room
 * @param {number} endMs of the walk
 * @returns {Visit[]}
 */
const visitsOf = (taps, endMs) => taps.flatMap(({ ts, room }, i) => {
  const toMs = Math.min(endMs, taps[i + 1]?.ts ?? endMs);
  return room === null || toMs <= ts ? [] : [{ room, fromMs: ts, toMs }];
});

/** Index of the visit of a time, without the margins around taps; -1: none. @param {readonly Visit[]} visits @param {number} ms */
const visitAt = (visits, ms) => visits.findIndex(({ fromMs, toMs }) => ms >= fromMs + MARGIN_MS && ms < toMs - MARGIN_MS);

/** The scored seconds of a visit. @param {Visit} visit @returns {number[]} epoch s */
function secondsOf({ fromMs, toMs }) {
  const first = Math.ceil(fromMs / SECOND_MS);
  return Array.from({ length: Math.max(0, Math.ceil(toMs / SECOND_MS) - first) }, (_, i) => first + i);
}

module.exports = { calibrate, batchesOf, roomAt, visitsOf, visitAt, secondsOf };
