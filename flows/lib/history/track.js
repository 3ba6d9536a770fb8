// @ts-check
'use strict';

const { PAGE_POINTS, POINT_WORDS } = require('./pages');

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
  /** @param {import('./pages').Pages} pool */
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

module.exports = { Track, surenessWord };
