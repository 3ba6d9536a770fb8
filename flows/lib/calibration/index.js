// @ts-check
'use strict';

const { estimate, median, withProposals } = require('./estimate');
const { play, roomAt } = require('./play');
const { secondsOf, visitAt, visitsOf } = require('./visits');

/**
 * Calibration by walking: from a recorded walk with known rooms, what the building file should say about the power of beacons, the
 * offsets of gateways and the walker's tag, and what becomes of the rooms with it. Pure, and some seconds of work.
 *
 * What is told as `left_out` is honest: the visits are dealt into parts, and the rooms of each part are located with what was
 * learned from the other parts alone. Whether to propose anything is decided by that.
 * @typedef {import('../building').BuildingFile} BuildingFile
 * @typedef {import('./play').Row} Row
 * @typedef {{building: BuildingFile, mode: 'gateway'|'phone', rows: Row[], taps: {ts: number, room: string|null}[], endMs: number}} Walk
 *   rows and taps in the order of their times
 * @typedef {import('./estimate').Proposal} Proposal
 * @typedef {{room: string, seconds: number, before: number, after: number}} RoomScore seconds in the right room; after: left out
 * @typedef {object} Calibration
 * @property {'better'|'no_gain'|'too_little'} verdict
 * @property {string} reason a sentence
 * @property {number} visits
 * @property {number} seconds that are scored
 * @property {number} before seconds in the right room with the building file as it is
 * @property {number} left_out the same for each visit with what the others taught
 * @property {number} same_walk the same with what is proposed, which was learned from the same walk
 * @property {RoomScore[]} rooms in the order of the walk
 * @property {Proposal[]} proposals [] unless it is better
 */

const PARTS = 5;
/** Fewer visits teach nothing that would hold for others. */
const VISITS = 4;
const SECONDS = 60;
/** Of all seconds; less is not worth a change. */
const GAIN = 0.01;
/** Of a visit, s: a second or two is when a tap was made. */
const NOTICED_S = 3;
/** Older ones tell of before. */
const FRESH_S = 1;
/** A level that is not known better is not learned from. */
const LEVEL_SD_DB = 4;

/** @param {Walk} walk @returns {Calibration} */
function calibrate(walk) {
  const { building, mode, rows, taps, endMs } = walk;
  const visits = visitsOf(taps, endMs);
  const scored = visits.map(secondsOf);
  const seconds = scored.reduce((sum, its) => sum + its.length, 0);
  const nothing = { visits: visits.length, seconds, before: 0, left_out: 0, same_walk: 0, rooms: [], proposals: [] };
  if (visits.length < VISITS || seconds < SECONDS || rows.length === 0) {
    return { verdict: 'too_little', reason: `A walk needs ${VISITS} visits of rooms and a minute in them; this one has ${visits.length} and `
      + `${seconds} s${rows.length === 0 ? ', and nothing was heard' : ''}.`, ...nothing };
  }
  /** @type {import('./estimate').Sample[]} */
  const samples = [];
  /** @type {import('./estimate').LevelSample[]} */
  const levels = [];
  const first = play(walk, (trace) => addSamples(trace, visits, samples, levels));
  const announced = announcedBy(rows);

  /** @param {(visit: number) => boolean} learned which visits count */
  const proposalsOf = (learned) => estimate(building, mode, { announced,
    samples: samples.filter(({ visit }) => learned(visit)), levels: levels.filter(({ visit }) => learned(visit)) });
  /** @param {import('./play').History} history @param {number} v */
  const rightOf = (history, v) => (scored[v] ?? []).filter((second) => roomAt(history, second) === visits[v]?.room).length;
  /** @param {readonly Proposal[]} proposals */
  const playWith = (proposals) => (proposals.length === 0 ? first : play({ ...walk, building: withProposals(building, proposals) }));

  const before = visits.map((_, v) => rightOf(first, v));
  const parts = Array.from({ length: Math.min(PARTS, visits.length) }, (_, part) => playWith(proposalsOf((v) => v % PARTS !== part)));
  const after = visits.map((_, v) => rightOf(/** @type {import('./play').History} */ (parts[v % PARTS]), v));
  const proposals = proposalsOf(() => true);
  const same = playWith(proposals);
  const sum = (/** @type {number[]} */ list) => list.reduce((all, one) => all + one, 0);
  const told = {
    visits: visits.length, seconds, before: sum(before), left_out: sum(after), same_walk: sum(visits.map((_, v) => rightOf(same, v))),
    rooms: roomScores(visits, scored.map((its) => its.length), before, after),
  };
  const gains = visits.map((_, v) => Number(after[v]) - Number(before[v]));
  const isBetter = proposals.length > 0 && isGain(gains, seconds) && told.same_walk > told.before;
  return isBetter ? { verdict: 'better', reason: 'Rooms that were left out of the learning were found more often with it.', ...told, proposals }
    : { verdict: 'no_gain', reason: proposals.length === 0 ? 'Nothing is off by 2 dB or more, as far as this walk tells.'
      : 'What could be changed would not make rooms that were left out more often right.', ...told, proposals: [] };
}

/**
 * Whether it is worth it, and no more visits lose noticeably than gain: one that gains while others lose is chance.
 * @param {readonly number[]} gains of each visit, seconds @param {number} seconds of all of them
 */
function isGain(gains, seconds) {
  const gain = gains.reduce((sum, one) => sum + one, 0);
  const noticed = gains.filter((one) => Math.abs(one) >= NOTICED_S);
  return gain >= GAIN * seconds && noticed.filter((one) => one > 0).length >= noticed.length / 2;
}

/**
 * How strong each device was heard, of how strong it should be where the walker was.
 * @param {import('../locator').Trace} trace
 * @param {readonly import('./visits').Visit[]} visits
 * @param {import('./estimate').Sample[]} samples are added to
 * @param {import('./estimate').LevelSample[]} levels are added to
 */
function addSamples({ ts, rooms, heard, level_db: levelDb, level_sd_db: sd }, visits, samples, levels) {
  const visit = visitAt(visits, ts);
  const truth = rooms.findIndex(({ room }) => room === visits[visit]?.room);
  if (truth < 0) return; // no room, or one that is thought impossible: where in it they are is not known
  for (const { id, rssi, age_s: age, expected } of heard) {
    if (age <= FRESH_S) samples.push({ device: id, visit, offDb: rssi - (expected[truth] ?? rssi) });
  }
  if (sd <= LEVEL_SD_DB) levels.push({ visit, levelDb });
}

/** What tags and beacons say of their own power. @param {readonly Row[]} rows @returns {Map<string, number>} dBm */
function announcedBy(rows) {
  const said = Map.groupBy(rows.filter(({ tx }) => tx !== undefined), ({ beacon }) => beacon);
  return new Map([...said].map(([beacon, its]) => [beacon, Math.round(median(its.map(({ tx }) => Number(tx))))]));
}

/**
 * @param {readonly import('./visits').Visit[]} visits @param {number[]} seconds @param {number[]} before
 * @param {number[]} after all three of each visit
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
