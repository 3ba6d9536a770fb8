// @ts-check
'use strict';

const { createPages, Track, createWords } = require('./track');

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
 * @param {object} [deps]
 * @param {Pick<import('../events').EventBus, 'emit'>} [deps.bus] hears of locations that replace another one
 * @param {Pick<import('./known-people').KnownPeople, 'note'>} [deps.knownPeople] knows of a person before anything is remembered
 * @param {Partial<typeof BOUNDS>} [overrides]
 */
function createHistory(startedMs, { bus, knownPeople } = {}, overrides = {}) {
  const bounds = { ...BOUNDS, ...overrides };
  const pages = createPages(bounds.pages);
  /** @type {Map<string, Track>} */
  const people = new Map();
  const words = createWords(bounds);
  /** From when on nobody was left out as a whole, and nobody's latest, epoch ms. */
  let unknownPeopleFloorMs = 0;
  let latestFloorMs = 0;
  let left = 0;
  let sweptMs = 0;

  /**
   * @param {Location} location one at the same millisecond replaces the earlier
   * @param {number} nowMs
   */
  function add(location, nowMs) {
    const { ts, staff_id: staffId } = location;
    knownPeople?.note(staffId);
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
    const numbers = words.numbersOf(location);
    if (!numbers || !track.put(ts, numbers.place, location.rssi, numbers.beacon, numbers.sureness)) {
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
   * Locations that were found out later: they count where memory reaches, and wherever memory says something else.
   * @param {Location} location
   * @param {number} nowMs
   */
  function correct(location, nowMs) {
    knownPeople?.note(location.staff_id);
    const [before] = between(location.staff_id, location.ts, location.ts);
    if (before && !isSame(before, location)) bus?.emit('corrected', location, nowMs);
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
      found.places.push(words.placeOf(track, index));
    }
    return found;
  }

  /** @param {string} staffId @param {number} fromMs inclusive @param {number} toMs inclusive @returns {Location[]} ascending */
  function between(staffId, fromMs, toMs) {
    const track = people.get(staffId);
    /** @type {Location[]} */
    const found = [];
    if (!track) return found;
    const end = track.indexFrom(toMs + 1);
    for (let index = track.indexFrom(fromMs); index < end; index += 1) found.push(words.locationOf(staffId, track, index));
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

  /**
   * Everybody's latest location of a time.
   * @param {number} fromMs inclusive @param {number} [toMs] inclusive; our clock may have been ahead @returns {Location[]}
   */
  function latestSince(fromMs, toMs = Infinity) {
    /** @type {Location[]} */
    const found = [];
    for (const [staffId, track] of people) {
      const last = track.count > 0 && track.newestMs > toMs ? track.indexFrom(toMs + 1) - 1 : track.count - 1;
      if (last >= 0 && track.msAt(last) >= fromMs) found.push(words.locationOf(staffId, track, last));
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
    words.renew(people);
  }

  return {
    add,
    correct,
    addOrCorrect,
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
