// @ts-check
'use strict';

const { isSure } = require('../shared/probable');
const { createInternTable } = require('./intern-table');
const { surenessWord } = require('./track');

/**
 * Locations as the numbers of a track, and back: what comes again and again is kept once.
 * @typedef {import('../locator').Location} Location
 * @typedef {import('./track').Track} Track
 * @typedef {import('./index').Place} Place
 * @typedef {{place: number, beacon: number, sureness: number}} Numbers
 * @param {{places: number, beacons: number}} bounds
 */
function createWords({ places: mostPlaces, beacons: mostBeacons }) {
  /** @type {import('./intern-table').InternTable<Place>} */
  let places = createInternTable(mostPlaces);
  /** @type {import('./intern-table').InternTable<string>} */
  let beacons = createInternTable(mostBeacons);
  /** Rooms that somebody may be in instead, by id. @type {import('./intern-table').InternTable<string>} */
  let runnersUp = createInternTable(mostPlaces);

  /** @param {Location} location @returns {number} −1 where there is no room for its runner-up */
  function surenessOf({ probability, runner_up: other, corrected }) {
    const pct = typeof probability === 'number' ? Math.round(probability * 100) : null;
    if (typeof other !== 'string' || pct === null || isSure(probability)) return surenessWord(pct, -1, corrected === true);
    const runnerUp = runnersUp.of(other, other);
    return runnerUp < 0 ? -1 : surenessWord(pct, runnerUp, corrected === true);
  }

  /**
   * What is in use, under new numbers.
   * @template T @param {Iterable<Track>} tracks @param {import('./intern-table').InternTable<T>} table @param {number} limit
   * @param {(track: Track, index: number) => number} read @param {(track: Track, index: number, number: number) => void} write
   */
  function renewed(tracks, table, limit, read, write) {
    /** @type {import('./intern-table').InternTable<T>} */
    const next = createInternTable(limit);
    for (const track of tracks) {
      for (let index = 0; index < track.count; index += 1) {
        const before = read(track, index);
        if (before >= 0) write(track, index, next.of(table.keyAt(before), table.at(before)));
      }
    }
    return next;
  }

  return {
    /** @param {Location} location @returns {Numbers|null} null: there are too many */
    numbersOf(location) {
      const { level, room, beacon } = location;
      const numbers = { place: places.of(`${level}\n${room}`, { level, room }), beacon: beacons.of(beacon, beacon), sureness: surenessOf(location) };
      return numbers.place < 0 || numbers.beacon < 0 || numbers.sureness < 0 ? null : numbers;
    },
    /** @param {Track} track @param {number} index */
    placeOf: (track, index) => places.at(track.placeAt(index)),
    /** @param {string} staffId @param {Track} track @param {number} index @returns {Location} */
    locationOf(staffId, track, index) {
      const { level, room } = places.at(track.placeAt(index));
      const [pct, other] = [track.surePctAt(index), track.runnerUpAt(index)];
      /** @type {Location} */
      const location = { ts: track.msAt(index), staff_id: staffId, level, room, beacon: beacons.at(track.beaconAt(index)),
        rssi: track.rssiAt(index), probability: pct === null ? null : pct / 100, runner_up: other < 0 ? null : runnersUp.at(other) };
      if (track.isCorrectedAt(index)) location.corrected = true;
      return location;
    },
    /** Make room where it is getting scarce. @param {Map<string, Track>} people */
    renew(people) {
      const tracks = { [Symbol.iterator]: () => people.values() };
      if (places.isFilling()) {
        places = renewed(tracks, places, mostPlaces, (track, at) => track.placeAt(at), (track, at, n) => track.setPlace(at, n));
      }
      if (beacons.isFilling()) {
        beacons = renewed(tracks, beacons, mostBeacons, (track, at) => track.beaconAt(at), (track, at, n) => track.setBeacon(at, n));
      }
      if (runnersUp.isFilling()) {
        runnersUp = renewed(tracks, runnersUp, mostPlaces, (track, at) => track.runnerUpAt(at), (track, at, n) => track.setRunnerUp(at, n));
      }
    },
  };
}

module.exports = { createWords };
