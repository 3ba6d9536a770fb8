// @ts-check
'use strict';

const { estimate, median, withProposals } = require('./estimate');
const { locateWalk, roomAt } = require('./locate-walk');
const { secondsOf, visitAt, visitsOf } = require('./visits');

/**
 * Calibration from a recorded walk with known rooms: proposals for the power of beacons, the offsets of gateways and the power of
 * the walker's tag, and their effect on the located rooms. Pure, and some seconds of work.
 *
 * `left_out` is cross-validated: the visits are divided into parts, and each part is located with proposals from the other parts
 * only. This figure decides whether anything is proposed.
 * @typedef {import('../building').BuildingFile} BuildingFile
 * @typedef {import('./locate-walk').Row} Row
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
  /** @param {import('./locate-walk').History} history @param {number} v */
  const secondsRight = (history, v) => (scored[v] ?? []).filter((second) => roomAt(history, second) === visits[v]?.room).length;
  /** @param {readonly Proposal[]} proposals */
  const locateWith = (proposals) => (proposals.length === 0 ? first
    : locateWalk({ ...walk, building: withProposals(building, proposals) }));

  const before = visits.map((_, v) => secondsRight(first, v));
  const parts = Array.from({ length: Math.min(PARTS, visits.length) }, (_, part) => locateWith(proposalsOf((v) => v % PARTS !== part)));
  const after = visits.map((_, v) => secondsRight(/** @type {import('./locate-walk').History} */ (parts[v % PARTS]), v));
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
 * @param {{mode: 'gateway'|'phone', visits: readonly import('./visits').Visit[], expectedIn: (room: string) => ReadonlyMap<string,
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
 * @param {readonly import('./visits').Visit[]} visits @param {number[]} seconds @param {number[]} before
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

module.exports = { calibrate };
