// @ts-check
'use strict';

const { isSure } = require('../shared/probable');

/**
 * Locations as the numbers of a track, and back: what comes again and again is kept once.
 * @typedef {import('../locator').Location} Location
 * @typedef {import('./history').Place} Place
 * @typedef {{place: number, beacon: number, sureness: number}} Numbers
 * @param {{places: number, beacons: number}} bounds
 */
function createWords({ places: mostPlaces, beacons: mostBeacons }) {
  /** @type {InternTable<Place>} */
  let places = createInternTable(mostPlaces);
  /** @type {InternTable<string>} */
  let beacons = createInternTable(mostBeacons);
  /** Rooms that somebody may be in instead, by id. @type {InternTable<string>} */
  let runnersUp = createInternTable(mostPlaces);

  /** @param {Location} location @returns {number} −1 where there is no room for its runner-up */
  function surenessOf({ probability, runner_up: other, corrected }) {
    const pct = typeof probability === 'number' ? Math.round(probability * 100) : null;
    if (typeof other !== 'string' || pct === null || isSure(probability)) return surenessWord(pct, -1, corrected === true);
    const runnerUp = runnersUp.of(other, other);
    return runnerUp < 0 ? -1 : surenessWord(pct, runnerUp, corrected === true);
  }

  /**
   * The entries in use, under new numbers.
   * @template T @param {Iterable<Track>} tracks @param {InternTable<T>} table @param {number} limit
   * @param {(track: Track, index: number) => number} read @param {(track: Track, index: number, number: number) => void} write
   */
  function renewed(tracks, table, limit, read, write) {
    /** @type {InternTable<T>} */
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

/**
 * One person's last minutes, ascending by time, four 32-bit words a point: time, place and RSSI, beacon, sureness.
 * No two points of a track may lie 49 days apart: of a time only the lower 32 bits are kept, the newest gives the rest.
 */

/** Only a clock that was wrong by weeks puts points so far apart: what is on its far side is given up. */
const SPAN_MS = 2 ** 31;

/**
 * How sure a location is, in one word.
 * @param {number|null} pct 0 … 100, null: not known @param {number} runnerUp number of a room, −1: none; 0 … 65,534
 * @param {boolean} corrected
 */
const surenessWord = (pct, runnerUp, corrected) =>
  (((runnerUp + 1) << 16) | (corrected ? CORRECTED : 0) | (pct === null ? 0 : pct + 1)) >>> 0;
const CORRECTED = 0x100;

class Track {
  /** @param {Pages} pool */
  constructor(pool) {
    this.pool = pool;
    /** @type {number[]} in the order of time */
    this.pages = [];
    /** Points of the first page that are forgotten. */
    this.head = 0;
    this.count = 0;
    this.newestMs = 0;
    /** From when on nothing was left out for want of room, epoch ms. */
    this.floorMs = 0;
  }

  /** @param {number} index 0 is the oldest @param {number} word @returns {number} */
  read(index, word) {
    const at = this.head + index;
    const page = /** @type {number} */ (this.pages[(at / PAGE_POINTS) | 0]);
    return /** @type {number} */ (this.pool.slabOf(page)[this.pool.offsetOf(page) + (at % PAGE_POINTS) * POINT_WORDS + word]);
  }

  /** @param {number} index @param {number} time @param {number} where @param {number} beacon @param {number} sureness */
  write(index, time, where, beacon, sureness) {
    const at = this.head + index;
    const page = /** @type {number} */ (this.pages[(at / PAGE_POINTS) | 0]);
    const slab = this.pool.slabOf(page);
    const first = this.pool.offsetOf(page) + (at % PAGE_POINTS) * POINT_WORDS;
    slab[first] = time;
    slab[first + 1] = where;
    slab[first + 2] = beacon;
    slab[first + 3] = sureness;
  }

  /** @param {number} from @param {number} to */
  copy(from, to) {
    this.write(to, this.read(from, 0), this.read(from, 1), this.read(from, 2), this.read(from, 3));
  }

  /** @param {number} index @returns {number} ms before the newest */
  ageAt(index) {
    return ((this.newestMs >>> 0) - this.read(index, 0)) >>> 0;
  }

  /** @param {number} index @returns {number} epoch ms */
  msAt(index) {
    return this.newestMs - this.ageAt(index);
  }

  /** @param {number} index */
  placeAt(index) {
    return this.read(index, 1) >>> 16;
  }

  /** @param {number} index @returns {number} dBm */
  rssiAt(index) {
    return (this.read(index, 1) << 16) >> 16;
  }

  /** @param {number} index */
  beaconAt(index) {
    return this.read(index, 2);
  }

  /** Whole per cent; null: not known. @param {number} index */
  surePctAt(index) {
    const coded = this.read(index, 3) & 0xff;
    return coded === 0 ? null : coded - 1;
  }

  /** Number of a room, −1: none. @param {number} index */
  runnerUpAt(index) {
    return (this.read(index, 3) >>> 16) - 1;
  }

  /** @param {number} index */
  isCorrectedAt(index) {
    return (this.read(index, 3) & CORRECTED) !== 0;
  }

  /** The first point at or after a time; `count` where there is none. @param {number} ms */
  indexFrom(ms) {
    if (this.count === 0 || ms > this.newestMs) return this.count;
    const age = this.newestMs - ms;
    let low = 0;
    let high = this.count - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.ageAt(middle) > age) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The point of a millisecond, −1 where there is none. @param {number} ms */
  indexOf(ms) {
    const index = this.indexFrom(ms);
    return index < this.count && this.msAt(index) === ms ? index : -1;
  }

  /**
   * One at the same millisecond replaces the earlier.
   * @param {number} ms @param {number} place 0 … 65,535 @param {number} rssi dBm, a whole number of 16 bits @param {number} beacon
   * @param {number} [sureness] by `surenessWord`; what was corrected once stays so
   * @returns {boolean} whether there was room
   */
  put(ms, place, rssi, beacon, sureness = 0) {
    if (Math.abs(ms - this.newestMs) > SPAN_MS) this.drop(this.count);
    const known = this.indexOf(ms);
    if (known >= 0) {
      this.set(known, place, rssi, beacon, sureness | (this.read(known, 3) & CORRECTED));
      return true;
    }
    if (this.head + this.count === this.pages.length * PAGE_POINTS) {
      const page = this.pool.take();
      if (page < 0) return false;
      this.pages.push(page);
    }
    const index = this.indexFrom(ms);
    for (let at = this.count; at > index; at -= 1) this.copy(at - 1, at);
    this.write(index, ms >>> 0, 0, 0, 0);
    this.set(index, place, rssi, beacon, sureness);
    if (this.count === 0 || ms > this.newestMs) this.newestMs = ms;
    this.count += 1;
    return true;
  }

  /** @param {number} index @param {number} place @param {number} rssi @param {number} beacon @param {number} sureness */
  set(index, place, rssi, beacon, sureness) {
    this.write(index, this.read(index, 0), (place << 16) | (rssi & 0xffff), beacon, sureness);
  }

  /** @param {number} index @param {number} place */
  setPlace(index, place) {
    this.set(index, place, this.rssiAt(index), this.beaconAt(index), this.read(index, 3));
  }

  /** @param {number} index @param {number} beacon */
  setBeacon(index, beacon) {
    this.set(index, this.placeAt(index), this.rssiAt(index), beacon, this.read(index, 3));
  }

  /** @param {number} index @param {number} runnerUp */
  setRunnerUp(index, runnerUp) {
    const sureness = surenessWord(this.surePctAt(index), runnerUp, this.isCorrectedAt(index));
    this.set(index, this.placeAt(index), this.rssiAt(index), this.beaconAt(index), sureness);
  }

  /** Forget the point of a millisecond, if there is one. @param {number} ms */
  remove(ms) {
    const index = this.indexOf(ms);
    if (index < 0) return;
    const newestMs = index === this.count - 1 && index > 0 ? this.msAt(index - 1) : this.newestMs;
    for (let at = index; at < this.count - 1; at += 1) this.copy(at + 1, at);
    this.count -= 1;
    this.newestMs = newestMs;
    this.trim();
  }

  /** Forget the oldest. @param {number} points */
  drop(points) {
    this.head += points;
    this.count -= points;
    this.trim();
  }

  /** Forget what is older than a time, but never the newest. @param {number} ms */
  dropBefore(ms) {
    if (this.count > 1 && this.msAt(0) < ms) this.drop(Math.min(this.indexFrom(ms), this.count - 1));
  }

  /** Give back pages without points. */
  trim() {
    if (this.count === 0) this.head = 0;
    for (; this.head >= PAGE_POINTS; this.head -= PAGE_POINTS) this.pool.giveBack(/** @type {number} */ (this.pages.shift()));
    const needed = Math.ceil((this.head + this.count) / PAGE_POINTS);
    while (this.pages.length > needed) this.pool.giveBack(/** @type {number} */ (this.pages.pop()));
  }
}

/**
 * Room for points in pages, out of large arrays that live as long as the process: nothing is moved when a track grows,
 * nothing is left to the garbage collector, and the bound is exact.
 */

const POINT_WORDS = 4;
const PAGE_POINTS = 32; // 512 bytes: who was seen once takes little, who is seen every second a page each half minute
const PAGE_WORDS = PAGE_POINTS * POINT_WORDS;
const SLAB_PAGES = 2048;

/**
 * @typedef {ReturnType<typeof createPages>} Pages
 * @param {number} limit
 */
function createPages(limit) {
  /** @type {Uint32Array[]} */
  const slabs = [];
  /** @type {number[]} */
  const free = [];
  let made = 0;
  return {
    /** @returns {number} −1 when all are taken */
    take() {
      const given = free.pop();
      if (given !== undefined) return given;
      if (made >= limit) return -1;
      if (made % SLAB_PAGES === 0) slabs.push(new Uint32Array(SLAB_PAGES * PAGE_WORDS));
      return made++;
    },
    /** @param {number} page */
    giveBack: (page) => { free.push(page); },
    /** @param {number} page */
    slabOf: (page) => /** @type {Uint32Array} */ (slabs[Math.floor(page / SLAB_PAGES)]),
    /** Where in its slab a page begins. @param {number} page */
    offsetOf: (page) => (page % SLAB_PAGES) * PAGE_WORDS,
    taken: () => made - free.length,
  };
}

/**
 * Numbers for things that come again and again, so that each is kept once.
 * @template T
 * @typedef {{of: (key: string, value: T) => number, at: (number: number) => T, keyAt: (number: number) => string,
 *   isFilling: () => boolean}} InternTable of: −1 when there are too many
 */

/** From here on it pays to search for unused ones. */
const FILLING_SHARE = 0.75;

/**
 * @template T
 * @param {number} limit
 * @returns {InternTable<T>}
 */
function createInternTable(limit) {
  /** @type {Map<string, number>} */
  const numbers = new Map();
  /** @type {string[]} */
  const keys = [];
  /** @type {T[]} */
  const values = [];
  return {
    of(key, value) {
      const known = numbers.get(key);
      if (known !== undefined) return known;
      if (keys.length >= limit) return -1;
      numbers.set(key, keys.length);
      keys.push(key);
      return values.push(value) - 1;
    },
    at: (number) => /** @type {T} */ (values[number]),
    keyAt: (number) => /** @type {string} */ (keys[number]),
    isFilling: () => keys.length >= limit * FILLING_SHARE,
  };
}

module.exports = { createWords, Track, surenessWord, createPages, PAGE_POINTS, POINT_WORDS, createInternTable };
