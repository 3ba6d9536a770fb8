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

/**
 * Of a person, in as many numbers as a processor fetches at once: event time of the newest reading, and of the newest one taken; the first
 * step that waits (Infinity: none), and when it is taken at the latest, by our clock; how many readings wait; when anything arrived, by
 * our clock.
 */
const [FRONT_MS, TAKEN_MS, FIRST_STEP, DUE_MS, WAITING, ARRIVED_MS, STATE] = [0, 1, 2, 3, 4, 5, 8];

/** Of a reading that waits: IS_DUE_MS: by our clock; RSSI: as if the tag had the default power. */
const [STEP, IS_DUE_MS, MS, SOURCE, RSSI, RAW, TAG, ITEMS] = [0, 1, 2, 3, 4, 5, 6, 7];
const PHONE_BATCHES = 5; // no more come within lateMs, and older ones are late anyway

class ReorderBuffer {
  /** @param {import('./settings').Settings} settings */
  constructor(settings) {
    this.settings = settings;
    /** STATE numbers of each person, by slot. */
    this.state = new Float64Array(0);
    /** Readings that wait, by slot: places for as many of each person. */
    this.waiting = new Float64Array(0);
    this.places = 8;
    /** By slot: the latest batches of a phone. @type {number[][]} */
    this.phoneMs = [];
    this.together = new Heard('gateway');
  }

  /** Somebody begins, with nothing or with what was saved. @param {number} slot @param {Partial<Saved>} [saved] */
  begin(slot, { frontMs = -Infinity, takenMs = frontMs, phoneMs = [], waiting = [] } = {}) {
    this.state = grown(this.state, (slot + 1) * STATE);
    this.phoneMs[slot] = phoneMs;
    this.state.set([frontMs, takenMs, Infinity, Infinity, 0, -Infinity], slot * STATE);
    for (let at = 0; at < waiting.length; at += ITEMS) {
      const [step, dueMs, ms, source, rssi, raw, tag] = waiting.slice(at, at + ITEMS);
      this.#wait(slot, step, dueMs, ms, source, rssi, raw, tag);
    }
  }

  /** @param {number} slot @returns {Saved} */
  save(slot) {
    const { state, phoneMs } = this;
    const [frontMs, takenMs] = state.subarray(slot * STATE);
    const from = slot * this.places * ITEMS;
    const waiting = [...this.waiting.subarray(from, from + state[slot * STATE + WAITING] * ITEMS)];
    return { frontMs, takenMs, phoneMs: phoneMs[slot], waiting };
  }

  /** When anything of them arrived, by our clock. @param {number} slot */
  arrivedMs(slot) { return this.state[slot * STATE + ARRIVED_MS]; }

  /** When what waits is taken at the latest, by our clock; Infinity: nothing waits. @param {number} slot */
  dueMs(slot) { return this.state[slot * STATE + DUE_MS]; }

  /** Something of somebody arrived. @param {number} slot @param {number} nowMs */
  arrive(slot, nowMs) { this.state[slot * STATE + ARRIVED_MS] = nowMs; }

  /**
   * @param {number} slot @param {number} ms event time @param {Heard} heard @param {Now} now
   * @returns {boolean} false when the readings are late: they belong to a time that is over
   */
  addPhoneBatch(slot, ms, heard, now) {
    const { lateMs, tickMs } = this.settings;
    if (ms < this.state[slot * STATE + FRONT_MS] - lateMs) return false;
    const known = this.phoneMs[slot];
    if (known.includes(ms)) return true; // phones send again what the broker may have lost
    if (known.push(ms) > PHONE_BATCHES) known.shift();
    this.releaseDue(slot, now);
    while (this.state[slot * STATE + FIRST_STEP] <= ms / tickMs) this.#takeFirst(slot, now);
    this.#take(slot, ms, heard, now);
    return true;
  }

  /**
   * One gateway's reading of one tag.
   * @param {number} slot @param {number} ms event time @param {number} source @param {number} rssi @param {number} raw
   * @param {number} tag @param {Now} now @returns {boolean} false when it is late
   */
  addGatewayReading(slot, ms, source, rssi, raw, tag, now) {
    const { state, settings: { tickMs, holdMs, lateMs } } = this;
    const at = slot * STATE;
    if (ms < state[at + FRONT_MS] - lateMs) return false;
    this.releaseDue(slot, now);
    const step = Math.max(Math.floor(ms / tickMs), Math.floor(state[at + TAKEN_MS] / tickMs) + 1);
    this.#wait(slot, step, Math.max((step + 1) * tickMs, now.nowMs) + holdMs, ms, source, rssi, raw, tag);
    if (ms > state[at + FRONT_MS]) state[at + FRONT_MS] = ms;
    this.releaseDue(slot, now);
    return true;
  }

  /**
   * @param {number} slot @param {number} step @param {number} dueMs @param {number} ms @param {number} source @param {number} rssi
   * @param {number} raw @param {number} tag
   */
  #wait(slot, step, dueMs, ms, source, rssi, raw, tag) {
    const many = this.state[slot * STATE + WAITING];
    if (many === this.places) this.#widen();
    const at = (slot * this.places + many) * ITEMS;
    if (at >= this.waiting.length) this.waiting = grown(this.waiting, at + this.places * ITEMS);
    const { waiting } = this;
    waiting[at + STEP] = step;
    waiting[at + IS_DUE_MS] = dueMs;
    waiting[at + MS] = ms;
    waiting[at + SOURCE] = source;
    waiting[at + RSSI] = rssi;
    waiting[at + RAW] = raw;
    waiting[at + TAG] = tag;
    this.state[slot * STATE + WAITING] = many + 1;
    this.#awaits(slot * STATE, step, dueMs);
  }

  /** Twice as many places for everybody. */
  #widen() {
    const { waiting } = this;
    const width = this.places * ITEMS;
    this.places *= 2;
    this.waiting = new Float64Array(2 * waiting.length);
    for (let from = 0; from < waiting.length; from += width) this.waiting.set(waiting.subarray(from, from + width), 2 * from);
  }

  /** The first step that waits, and when it is due. @param {number} at of the person @param {number} step @param {number} dueMs */
  #awaits(at, step, dueMs) {
    const { state } = this;
    if (step > state[at + FIRST_STEP] || (step === state[at + FIRST_STEP] && dueMs >= state[at + DUE_MS])) return;
    state[at + FIRST_STEP] = step;
    state[at + DUE_MS] = dueMs;
  }

  /** Takes the steps that waited long enough. @param {number} slot @param {Now} now */
  releaseDue(slot, now) {
    const { state, settings: { reorderMs, tickMs } } = this;
    const at = slot * STATE;
    const beforeMs = state[at + FRONT_MS] - reorderMs;
    while (state[at + DUE_MS] <= now.nowMs || (state[at + FIRST_STEP] + 1) * tickMs <= beforeMs) this.#takeFirst(slot, now);
  }

  /** Takes all that waits. @param {number} slot @param {Now} now */
  flush(slot, now) { while (this.state[slot * STATE + WAITING] > 0) this.#takeFirst(slot, now); }

  /** Takes the first step that waits. @param {number} slot @param {Now} now */
  #takeFirst(slot, now) {
    const { state, waiting, together } = this;
    const person = slot * STATE;
    const from = slot * this.places * ITEMS;
    const end = from + state[person + WAITING] * ITEMS;
    const first = state[person + FIRST_STEP];
    let ms = 0;
    let left = from;
    state[person + FIRST_STEP] = state[person + DUE_MS] = Infinity;
    together.clear();
    for (let at = from; at < end; at += ITEMS) {
      if (waiting[at + STEP] === first) {
        together.add(waiting[at + SOURCE], waiting[at + RSSI], waiting[at + RAW], waiting[at + TAG]);
        if (waiting[at + MS] > ms) ms = waiting[at + MS];
      } else {
        if (left < at) waiting.copyWithin(left, at, at + ITEMS);
        this.#awaits(person, waiting[left + STEP], waiting[left + IS_DUE_MS]);
        left += ITEMS;
      }
    }
    state[person + WAITING] = (left - from) / ITEMS;
    this.#take(slot, ms, together, now);
  }

  /** @param {number} slot @param {number} ms @param {Heard} heard @param {Now} now */
  #take(slot, ms, heard, now) {
    const { state } = this;
    if (ms > state[slot * STATE + FRONT_MS]) state[slot * STATE + FRONT_MS] = ms;
    if (ms > state[slot * STATE + TAKEN_MS]) state[slot * STATE + TAKEN_MS] = ms;
    now.take(slot, ms, heard);
  }
}

/** The list, or where it is shorter than that a longer one. @param {Float64Array<ArrayBuffer>} list @param {number} least */
function grown(list, least) {
  if (list.length >= least) return list;
  const longer = new Float64Array(Math.max(2 * list.length, 2 * least));
  longer.set(list);
  return longer;
}

/** For another locator, where sources and tags have other numbers. @param {Saved} saved @param {(source: number) => number} sourceOf
 * @param {(tag: number) => number} tagOf @returns {Saved} */
const renumbered = (saved, sourceOf, tagOf) => ({ ...saved, waiting: saved.waiting.map((value, n) => (
  n % ITEMS === SOURCE ? sourceOf(value) : n % ITEMS === TAG ? tagOf(value) : value)) });

module.exports = { ReorderBuffer, grown, renumbered };
