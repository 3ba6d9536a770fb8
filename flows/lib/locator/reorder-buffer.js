// @ts-check
'use strict';

const { Heard } = require('./hearing');

/**
 * Event time: which readings are taken together, in which order, and when. What one phone says is complete and is
 * taken at once; what gateways say of a tag is gathered in steps of `tickMs`, so that their order of arrival does not
 * matter and several weigh together. People are known by a small number, their slot: whoever is heard stands somewhere in memory, and
 * fetching that for each reading would cost more than all else here. Pure.
 * @typedef {{nowMs: number, take: (slot: number, ms: number, heard: Heard) => void}} Now our clock, and what to do with what was heard
 *   at a moment; heard is valid until take returns
 * @typedef {{frontMs: number, takenMs: number, phoneMs: number[], waiting: number[]}} Saved of a person; waiting: ITEMS of each reading
 */

/** Of a reading that waits: where the next one of this person stands; DUE_MS: by our clock; RSSI: as if the tag had the default power. */
const [NEXT, STEP, MS, DUE_MS, SOURCE, RSSI, RAW, TAG, ITEMS] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
const NONE = -1;
const PHONE_BATCHES = 5; // no more come within lateMs, and older ones are late anyway

class ReorderBuffer {
  /** @param {import('./settings').Settings} settings */
  constructor(settings) {
    this.settings = settings;
    /** By slot: event time of the newest reading, … */
    this.frontMs = new Float64Array(0);
    /** … and of the newest one that was taken. */
    this.takenMs = new Float64Array(0);
    /** By slot: the first step that waits, Infinity: none, … */
    this.firstStep = new Float64Array(0);
    /** … and when it is taken at the latest, by our clock. */
    this.dueMs = new Float64Array(0);
    /** By slot: where the newest reading stands that waits. */
    this.newest = new Float64Array(0);
    /** By slot: the latest batches of a phone, by its clock. @type {number[][]} */
    this.phoneMs = [];
    /** Readings that wait, ITEMS numbers each. */
    this.readings = new Float64Array(0);
    /** Where the next one may stand: places are linked. */
    this.free = NONE;
    this.together = new Heard('gateway');
  }

  /** Somebody begins, with nothing or with what was saved. @param {number} slot @param {Partial<Saved>} [saved] */
  begin(slot, { frontMs = -Infinity, takenMs = frontMs, phoneMs = [], waiting = [] } = {}) {
    if (slot >= this.frontMs.length) {
      for (const name of /** @type {const} */ (['frontMs', 'takenMs', 'firstStep', 'dueMs', 'newest'])) this[name] = grown(this[name]);
    }
    this.frontMs[slot] = frontMs;
    this.takenMs[slot] = takenMs;
    this.firstStep[slot] = this.dueMs[slot] = Infinity;
    this.newest[slot] = NONE;
    this.phoneMs[slot] = phoneMs;
    for (let at = 0; at < waiting.length; at += ITEMS) {
      const [, step, ms, dueMs, source, rssi, raw, tag] = waiting.slice(at, at + ITEMS);
      this.#wait(slot, step, ms, dueMs, source, rssi, raw, tag);
    }
  }

  /** @param {number} slot @returns {Saved} */
  save(slot) {
    /** @type {number[]} */
    const waiting = [];
    for (let at = this.newest[slot]; at !== NONE; at = this.readings[at + NEXT]) waiting.push(...this.readings.subarray(at, at + ITEMS));
    return { frontMs: this.frontMs[slot], takenMs: this.takenMs[slot], phoneMs: this.phoneMs[slot], waiting };
  }

  /**
   * @param {number} slot @param {number} ts the phone's clock @param {Heard} heard @param {Now} now
   * @returns {boolean} false when the readings are late: they belong to a time that is over
   */
  addPhoneBatch(slot, ts, heard, now) {
    const { aheadMs, lateMs, tickMs } = this.settings;
    const ms = ts > now.nowMs + aheadMs ? now.nowMs : ts;
    if (ms < this.frontMs[slot] - lateMs) return false;
    const known = this.phoneMs[slot];
    if (known.includes(ts)) return true; // phones send again what the broker may have lost
    if (known.push(ts) > PHONE_BATCHES) known.shift();
    this.releaseDue(slot, now);
    this.#release(slot, -Infinity, Math.floor(ms / tickMs) + 1, now);
    this.#take(slot, ms, heard, now);
    return true;
  }

  /**
   * One gateway's reading of one tag.
   * @param {number} slot @param {number} ts the gateway's clock @param {number} source @param {number} rssi @param {number} raw
   * @param {number} tag @param {Now} now @returns {boolean} false when it is late
   */
  addGatewayReading(slot, ts, source, rssi, raw, tag, now) {
    const { tickMs, holdMs, lateMs } = this.settings;
    const ms = Math.min(ts, now.nowMs); // one of many: a clock ahead must not pull the others along
    if (ms < this.frontMs[slot] - lateMs) return false;
    this.releaseDue(slot, now);
    const step = Math.max(Math.floor(ms / tickMs), Math.floor(this.takenMs[slot] / tickMs) + 1);
    this.#wait(slot, step, ms, Math.max((step + 1) * tickMs, now.nowMs) + holdMs, source, rssi, raw, tag);
    if (ms > this.frontMs[slot]) this.frontMs[slot] = ms;
    this.releaseDue(slot, now);
    return true;
  }

  /**
   * @param {number} slot @param {number} step @param {number} ms @param {number} dueMs @param {number} source @param {number} rssi
   * @param {number} raw @param {number} tag
   */
  #wait(slot, step, ms, dueMs, source, rssi, raw, tag) {
    if (this.free === NONE) this.#makePlace();
    const { readings, free: at } = this;
    this.free = readings[at + NEXT];
    readings[at + NEXT] = this.newest[slot];
    this.newest[slot] = at;
    readings[at + STEP] = step;
    readings[at + MS] = ms;
    readings[at + DUE_MS] = dueMs;
    readings[at + SOURCE] = source;
    readings[at + RSSI] = rssi;
    readings[at + RAW] = raw;
    readings[at + TAG] = tag;
    this.#awaits(slot, step, dueMs);
  }

  #makePlace() {
    const { length } = this.readings;
    this.readings = grown(this.readings);
    for (let at = length; at < this.readings.length; at += ITEMS) {
      this.readings[at + NEXT] = this.free;
      this.free = at;
    }
  }

  /** The first step that waits, and when it is due. @param {number} slot @param {number} step @param {number} dueMs */
  #awaits(slot, step, dueMs) {
    if (step > this.firstStep[slot] || (step === this.firstStep[slot] && dueMs >= this.dueMs[slot])) return;
    this.firstStep[slot] = step;
    this.dueMs[slot] = dueMs;
  }

  /** Takes the steps that waited long enough. @param {number} slot @param {Now} now */
  releaseDue(slot, now) {
    if (this.newest[slot] === NONE) return;
    const { reorderMs, tickMs } = this.settings;
    this.#release(slot, now.nowMs, Math.floor((this.frontMs[slot] - reorderMs) / tickMs), now);
  }

  /** Takes all that waits. @param {number} slot @param {Now} now */
  flush(slot, now) { this.#release(slot, -Infinity, Infinity, now); }

  /** @param {number} slot @param {number} dueMs steps due by then go @param {number} before and steps before this one @param {Now} now */
  #release(slot, dueMs, before, now) {
    while (this.firstStep[slot] < before || this.dueMs[slot] <= dueMs) {
      const { readings, together } = this;
      const step = this.firstStep[slot];
      let at = this.newest[slot];
      let ms = 0;
      together.clear();
      this.newest[slot] = NONE;
      this.firstStep[slot] = this.dueMs[slot] = Infinity;
      while (at !== NONE) {
        const next = readings[at + NEXT];
        if (readings[at + STEP] === step) {
          together.add(readings[at + SOURCE], readings[at + RSSI], readings[at + RAW], readings[at + TAG]);
          ms = Math.max(ms, readings[at + MS]);
          readings[at + NEXT] = this.free;
          this.free = at;
        } else {
          readings[at + NEXT] = this.newest[slot];
          this.newest[slot] = at;
          this.#awaits(slot, readings[at + STEP], readings[at + DUE_MS]);
        }
        at = next;
      }
      this.#take(slot, ms, together, now);
    }
  }

  /** @param {number} slot @param {number} ms @param {Heard} heard @param {Now} now */
  #take(slot, ms, heard, now) {
    if (ms > this.frontMs[slot]) this.frontMs[slot] = ms;
    if (ms > this.takenMs[slot]) this.takenMs[slot] = ms;
    now.take(slot, ms, heard);
  }
}

/** Twice as long. @param {Float64Array} list */
function grown(list) {
  const longer = new Float64Array(Math.max(2 * list.length, 64 * ITEMS));
  longer.set(list);
  return longer;
}

/** For another locator, where sources and tags have other numbers. @param {Saved} saved @param {(source: number) => number} sourceOf
 * @param {(tag: number) => number} tagOf @returns {Saved} */
const renumbered = (saved, sourceOf, tagOf) => ({ ...saved, waiting: saved.waiting.map((value, n) => (
  n % ITEMS === SOURCE ? sourceOf(value) : n % ITEMS === TAG ? tagOf(value) : value)) });

module.exports = { ReorderBuffer, grown, renumbered };
