// @ts-check
'use strict';

const { createPages } = require('./pages');
const { Track, surenessWord } = require('./track');
const { createInternTable } = require('./intern-table');

/**
 * The last minutes of every staff member's locations, in memory, so that a recent window needs no database. Bounded in
 * every direction; what does not fit makes memory complete from a later time on, so that the database is asked for it.
 * @typedef {import('../locator').Location} Location
 * @typedef {{level: string, room: string}} Place
 * @typedef {{ms: number[], places: Place[]}} LocationList where one person was: newest first, times in epoch ms
 * @typedef {ReturnType<typeof createHistory>} History
 */

const BOUNDS = Object.freeze({
  keptMs: 5 * 60_000,
  // memory keeps points this much longer than `completeFrom` promises, so that a caller can ask it first and read afterwards
  graceMs: 10_000,
  points: 600, // a person: one a second for the five minutes, and as many again for changes of room
  people: 50_000,
  pages: 250_000, // 128 MB: 25,000 people at one location a second
  places: 20_000,
  beacons: 100_000,
});
/** How long somebody's latest location is remembered: /retrieveformonitoring looks back this far. */
const LATEST_MS = 15 * 60_000;

/**
 * @param {number} startedMs from when on every location passes through here
 * @param {Partial<typeof BOUNDS>} [overrides]
 * @param {(staffId: string) => void} [onPerson] is called before anything of that person is remembered, or published
 */
function createHistory(startedMs, overrides = {}, onPerson = () => {}) {
  const bounds = { ...BOUNDS, ...overrides };
  const pages = createPages(bounds.pages);
  /** @type {Map<string, Track>} */
  const people = new Map();
  /** @type {import('./intern-table').InternTable<Place>} */
  let places = createInternTable(bounds.places);
  /** @type {import('./intern-table').InternTable<string>} */
  let beacons = createInternTable(bounds.beacons);
  /** Rooms that somebody may be in instead, by id. @type {import('./intern-table').InternTable<string>} */
  let runnersUp = createInternTable(bounds.places);
  /** From when on nobody was left out as a whole, and nobody's latest, epoch ms. */
  let unknownPeopleFloorMs = 0;
  let latestFloorMs = 0;
  let left = 0;
  let sweptMs = 0;
  let onCorrected = (/** @type {Location} */ _location, /** @type {number} */ _nowMs) => {};

  /**
   * @param {Location} location one at the same millisecond replaces the earlier
   * @param {number} nowMs
   */
  function add({ ts, staff_id: staffId, level, room, beacon, rssi, probability = null, runner_up: other = null, corrected }, nowMs) {
    onPerson(staffId);
    let track = people.get(staffId);
    if (!track) {
      if (people.size >= bounds.people) {
        unknownPeopleFloorMs = Math.max(unknownPeopleFloorMs, ts + 1);
        latestFloorMs = Math.max(latestFloorMs, ts + 1);
        left += 1;
        return;
      }
      people.set(staffId, track = new Track(pages));
      track.floorMs = unknownPeopleFloorMs;
    }
    track.dropBefore(nowMs - bounds.keptMs - bounds.graceMs);
    if (track.count > 0 && ts < nowMs - bounds.keptMs && ts < track.newestMs && track.indexOf(ts) < 0) return; // the database's alone
    const place = places.of(`${level}\n${room}`, { level, room });
    const beaconNumber = beacons.of(beacon, beacon);
    const pct = probability === null ? null : Math.round(probability * 100);
    const hasOther = other !== null && pct !== null && pct < 100;
    const runnerUp = hasOther ? runnersUp.of(other, other) : -1;
    const isFull = place < 0 || beaconNumber < 0 || (hasOther && runnerUp < 0);
    if (isFull || !track.put(ts, place, rssi, beaconNumber, surenessWord(pct, runnerUp, corrected === true))) {
      track.remove(ts);
      leaveOut(track, ts);
      latestFloorMs = Math.max(latestFloorMs, ts + 1);
      return;
    }
    if (track.count > bounds.points) {
      leaveOut(track, track.msAt(0));
      track.drop(1);
    }
  }

  /** @param {Track} track @param {number} ms */
  function leaveOut(track, ms) {
    track.floorMs = Math.max(track.floorMs, ms + 1);
    left += 1;
  }

  /**
   * What was found out later about a time: it counts where memory reaches, and wherever memory says something else.
   * @param {Location} location
   * @param {number} nowMs
   */
  function correct(location, nowMs) {
    onPerson(location.staff_id);
    const [before] = between(location.staff_id, location.ts, location.ts);
    if (before && !isSame(before, location)) onCorrected(location, nowMs);
    if (before || location.ts >= nowMs - bounds.keptMs) add(location, nowMs);
  }

  /** From when on the memory holds everything about this person, epoch ms. @param {string} staffId @param {number} nowMs */
  function completeFrom(staffId, nowMs) {
    return Math.max(startedMs, nowMs - bounds.keptMs, people.get(staffId)?.floorMs ?? unknownPeopleFloorMs);
  }

  /**
   * @param {string} staffId @param {number} fromMs inclusive @param {number} toMs inclusive
   * @returns {LocationList}
   */
  function locations(staffId, fromMs, toMs) {
    /** @type {LocationList} */
    const found = { ms: [], places: [] };
    const track = people.get(staffId);
    if (!track) return found;
    for (let index = track.indexFrom(toMs + 1) - 1; index >= 0; index -= 1) {
      const ms = track.msAt(index);
      if (ms < fromMs) break;
      found.ms.push(ms);
      found.places.push(places.at(track.placeAt(index)));
    }
    return found;
  }

  /** @param {string} staffId @param {Track} track @param {number} index @returns {Location} */
  function locationAt(staffId, track, index) {
    const { level, room } = places.at(track.placeAt(index));
    const pct = track.surePctAt(index);
    const other = track.runnerUpAt(index);
    /** @type {Location} */
    const location = { ts: track.msAt(index), staff_id: staffId, level, room, beacon: beacons.at(track.beaconAt(index)), rssi: track.rssiAt(index),
      probability: pct === null ? null : pct / 100, runner_up: other < 0 ? null : runnersUp.at(other) };
    if (track.isCorrectedAt(index)) location.corrected = true;
    return location;
  }

  /** @param {string} staffId @param {number} fromMs inclusive @param {number} toMs inclusive @returns {Location[]} ascending */
  function between(staffId, fromMs, toMs) {
    const track = people.get(staffId);
    /** @type {Location[]} */
    const found = [];
    if (!track) return found;
    const end = track.indexFrom(toMs + 1);
    for (let index = track.indexFrom(fromMs); index < end; index += 1) found.push(locationAt(staffId, track, index));
    return found;
  }

  /** Whether there is a location of the second of `ts` already. @param {string} staffId @param {number} ts */
  function knowsSecond(staffId, ts) {
    const track = people.get(staffId);
    const secondMs = Math.floor(ts / 1000) * 1000;
    const index = track?.indexFrom(secondMs) ?? 0;
    return track !== undefined && index < track.count && track.msAt(index) < secondMs + 1000;
  }

  /** @param {Location} location @param {number} nowMs @returns {boolean} whether it is the first of its second */
  function addOrCorrect(location, nowMs) {
    const isFirst = !knowsSecond(location.staff_id, location.ts);
    (isFirst ? add : correct)(location, nowMs);
    return isFirst;
  }

  /** Everybody's latest location since a time. @param {number} fromMs @returns {Location[]} */
  function latestSince(fromMs) {
    /** @type {Location[]} */
    const found = [];
    for (const [staffId, track] of people) {
      if (track.count > 0 && track.newestMs >= fromMs) found.push(locationAt(staffId, track, track.count - 1));
    }
    return found;
  }

  /** Forget people without anything recent, and places and beacons nobody uses; to be called about once a second. @param {number} nowMs */
  function sweep(nowMs) {
    if (nowMs - sweptMs < SWEEP_MS && nowMs >= sweptMs) return;
    sweptMs = nowMs;
    for (const [id, track] of people) {
      if ((track.count === 0 || track.newestMs < nowMs - LATEST_MS) && track.floorMs <= nowMs - bounds.keptMs) {
        track.drop(track.count);
        people.delete(id);
      } else track.dropBefore(nowMs - bounds.keptMs - bounds.graceMs);
    }
    if (places.isFilling()) places = renewed(places, bounds.places, (track, index) => track.placeAt(index), 'place');
    if (beacons.isFilling()) beacons = renewed(beacons, bounds.beacons, (track, index) => track.beaconAt(index), 'beacon');
    if (runnersUp.isFilling()) runnersUp = renewed(runnersUp, bounds.places, (track, index) => track.runnerUpAt(index), 'runnerUp');
  }

  /**
   * The places, beacons or runners-up in use, under new numbers.
   * @template T @param {import('./intern-table').InternTable<T>} table @param {number} limit
   * @param {(track: Track, index: number) => number} read @param {'place'|'beacon'|'runnerUp'} which
   */
  function renewed(table, limit, read, which) {
    /** @type {import('./intern-table').InternTable<T>} */
    const next = createInternTable(limit);
    for (const track of people.values()) {
      for (let index = 0; index < track.count; index += 1) {
        const before = read(track, index);
        if (before < 0) continue;
        const number = next.of(table.keyAt(before), table.at(before));
        const place = which === 'place' ? number : track.placeAt(index);
        const runnerUp = which === 'runnerUp' ? number : track.runnerUpAt(index);
        track.set(index, place, track.rssiAt(index), which === 'beacon' ? number : track.beaconAt(index),
          surenessWord(track.surePctAt(index), runnerUp, track.isCorrectedAt(index)));
      }
    }
    return next;
  }

  return {
    add,
    correct,
    addOrCorrect,
    /** @param {typeof onCorrected} listener gets locations that replace another one; there is one */
    onCorrected: (listener) => { onCorrected = listener; },
    completeFrom,
    locations,
    between,
    knowsSecond,
    latestSince,
    /** From when on everybody's latest is among `latestSince`, epoch ms. */
    latestCompleteFrom: () => Math.max(startedMs, latestFloorMs),
    sweep,
    /** Everybody memory knows, in no order. */
    staffIds: () => [...people.keys()],
    /** left_out: points that did not fit, for which the database is asked. */
    counters: () => ({ people: people.size, pages: pages.taken(), left_out: left }),
  };
}

/** @param {Location} a @param {Location} b of one person and time */
const isSame = (a, b) => a.room === b.room && a.level === b.level && a.beacon === b.beacon && a.rssi === b.rssi
  && a.probability === b.probability && a.runner_up === b.runner_up && (a.corrected || !b.corrected);

/** Sweeping visits everybody; the bounds hold without it. */
const SWEEP_MS = 60_000;

module.exports = { createHistory, BOUNDS, LATEST_MS };
