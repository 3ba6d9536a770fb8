// @ts-check
'use strict';

const { truncate } = require('../shared/truncate');

/**
 * What a measured plan adds to the levels of rooms: a room where the levels fit worse than elsewhere loses a little, and a room
 * without a device counts where they fit best and nothing is as loud as usual.
 * @typedef {import('./person').Person} Person
 * @typedef {import('./belief').Evidence} Evidence
 * @typedef {import('./around').Around} Around
 * @param {import('./model').Model} model
 * @param {import('./plan').Plan} plan
 * @param {import('./settings').Settings} settings
 */
function createAdviser({ sources, rooms: allRooms }, plan, settings) {
  const { adviceDb, misfitDb, unheardDb, levelDb } = settings;
  /** @type {import('./plan').Level[]} */
  const levels = [];
  /** @type {number[]} */
  const rooms = [];
  /** @type {import('./plan').Fit[]} */
  const fits = [];

  /** The loudest measured devices. @param {Person} person @param {number} ms @param {Around} around */
  function gather({ hearing }, ms, around) {
    truncate(levels, 0);
    for (let k = 0; k < hearing.size; k += 1) {
      const source = sources[hearing.sourceOf(k)];
      if (!source?.measured || source.room < 0 || around.isOut(source)) continue;
      const worth = hearing.worthOf(k, ms, source.graceS, settings);
      if (worth > LEAST_WORTH) levels.push({ source: source.number, dbm: hearing.meanOf(k), weight: worth / (worth + 1) });
    }
    levels.sort((a, b) => b.dbm - a.dbm || a.source - b.source);
    return Math.min(levels.length, DEVICES);
  }

  /**
   * @param {Evidence} evidence @param {number} count of levels @param {Around} around @param {import('./around').Known} known
   */
  function withDeafRooms({ rooms: heard, kind }, count, around, known) {
    const found = [...heard];
    for (let k = 0; k < Math.min(count, NEAREST); k += 1) {
      for (const room of plan.near(levels[k].source)) {
        if (!found.includes(room) && around.isDeaf(allRooms[room], kind, known)) found.push(room);
      }
    }
    return found;
  }

  /** @param {number} count of levels @param {readonly number[]} asked rooms @returns {number} the least misfit, dB² */
  function fitRooms(count, asked) {
    truncate(rooms, 0);
    rooms.push(...asked);
    let least = Infinity;
    for (let n = 0; n < rooms.length; n += 1) {
      fits[n] ??= { misfit: 0, offDb: 0, cell: 0 };
      plan.fit(levels, count, rooms[n], fits[n]);
      least = Math.min(least, fits[n].misfit);
    }
    return least;
  }

  /**
   * @param {Person} person @param {number} ms @param {number} second @param {Evidence} evidence @param {Around} around
   */
  function ask(person, ms, second, evidence, around) {
    const count = gather(person, ms, around);
    /** @type {import('./person').Advice} */
    const advice = { second, rooms: [], lessDb: [], deaf: [] };
    person.advice = advice;
    if (count < 2) return;
    const known = around.at(ms);
    const least = fitRooms(count, withDeafRooms(evidence, count, around, known));
    let whole = 0;
    for (let k = 0; k < count; k += 1) whole += levels[k].weight;
    for (let n = 0; n < rooms.length; n += 1) {
      const deaf = around.isDeaf(allRooms[rooms[n]], evidence.kind, known);
      advice.rooms.push(rooms[n]);
      advice.deaf.push(deaf);
      advice.lessDb.push(deaf ? RMS_SLOPE * (Math.sqrt(fits[n].misfit / whole) - Math.sqrt(least / whole))
        : Math.min(adviceDb, misfitDb * (fits[n].misfit - least)));
    }
    const present = rooms.indexOf(person.room);
    if (present >= 0) learnStrength(person, fits[present].offDb);
  }

  /**
   * Kalman's filter of one number (A New Approach to Linear Filtering and Prediction Problems, 1960).
   * @param {Person} person @param {number} db
   */
  function learnStrength({ strength }, db) {
    if (Number.isNaN(strength.variance)) strength.variance = levelDb ** 2;
    const gain = strength.variance / (strength.variance + MOMENT_DB ** 2);
    strength.db += gain * (db - strength.db);
    strength.variance = strength.variance * (1 - gain) + DRIFT_DB ** 2;
  }

  return {
    /**
     * @param {Person} person @param {number} ms @param {number} second @param {{around: Around,
     *   raise: (room: number, dbm: number) => void}} following @param {Evidence} evidence is changed
     */
    apply(person, ms, second, following, evidence) {
      if (person.advice?.second !== second) ask(person, ms, second, evidence, following.around);
      const { rooms: advised, lessDb, deaf } = /** @type {import('./person').Advice} */ (person.advice);
      const unheardDbm = person.hearing.usualDbm - unheardDb;
      for (let n = 0; n < advised.length; n += 1) {
        const room = advised[n];
        if (deaf[n]) following.raise(room, unheardDbm - lessDb[n]);
        else if (evidence.levels[room] === evidence.levels[room]) evidence.levels[room] -= lessDb[n];
      }
      evidence.topDbm = -Infinity;
      for (const room of evidence.rooms) if (evidence.levels[room] > evidence.topDbm) evidence.topDbm = evidence.levels[room];
    },
    /** What is expected in each of some rooms, for people who ask why. @param {Person} person @param {number} ms @param {number[]} asked
     * @param {Around} around @returns {Map<number, Map<number, number>>} dBm by room and source */
    explain(person, ms, asked, around) {
      const count = gather(person, ms, around);
      if (count < 2) return new Map();
      fitRooms(count, asked);
      return new Map(asked.map((room, n) => [room, new Map(levels.map(({ source }) => (
        [source, plan.expectedIn(source, room)[fits[n].cell] + fits[n].offDb])))]));
    },
  };
}

const DEVICES = 12; // so many loudest ones are asked; further ones add little
const NEAREST = 2; // rooms without a device are thought of near so many loudest ones
const LEAST_WORTH = 0.05; // readings: what was not heard for some scans does not say where somebody is now
const RMS_SLOPE = 2; // a room without a device loses so much for each dB by which it fits worse
const MOMENT_DB = 15; // what one second says of a strength: 6 dB, and five seconds are alike
const DRIFT_DB = 0.03; // a strength changes by so much in a second: batteries and pockets

module.exports = { createAdviser };
