// @ts-check
'use strict';

const { Heard } = require('./hearing');
const { Rows, grown } = require('./rows');

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
 * step that waits (Infinity: none), and when it is taken at the latest, by our clock; when anything arrived, by our clock.
 */
const [FRONT_MS, TAKEN_MS, FIRST_STEP, DUE_MS, ARRIVED_MS, STATE] = [0, 1, 2, 3, 4, 8];

/** Of a reading that waits: IS_DUE_MS: by our clock; RSSI: as if the tag had the default power. */
const [STEP, IS_DUE_MS, MS, SOURCE, RSSI, RAW, TAG, ITEMS] = [0, 1, 2, 3, 4, 5, 6, 7];
const PHONE_BATCHES = 5; // no more come within lateMs, and older ones are late anyway

class ReorderBuffer {
  /** @param {import('./settings').Settings} settings */
  constructor(settings) {
    this.settings = settings;
    /** STATE numbers of each person, by slot. */
    this.state = new Float64Array(0);
    /** How many readings of a person wait, and these. */
    this.waiting = new Rows(1, ITEMS, 8);
    /** By slot: the latest batches of a phone. @type {number[][]} */
    this.phoneMs = [];
    this.together = new Heard('gateway');
  }

  /** Somebody begins, with nothing or with what was saved. @param {number} slot @param {Partial<Saved>} [saved] */
  begin(slot, { frontMs = -Infinity, takenMs = frontMs, phoneMs = [], waiting = [] } = {}) {
    this.state = grown(this.state, (slot + 1) * STATE);
    this.phoneMs[slot] = phoneMs;
    this.state.set([frontMs, takenMs, Infinity, Infinity, -Infinity], slot * STATE);
    this.waiting.set(slot, [0]);
    for (let at = 0; at < waiting.length; at += ITEMS) {
      const [step, dueMs, ms, source, rssi, raw, tag] = waiting.slice(at, at + ITEMS);
      this.#wait(slot, step, dueMs, ms, source, rssi, raw, tag);
    }
  }

  /** @param {number} slot @returns {Saved} */
  save(slot) {
    const { state, phoneMs } = this;
    const [frontMs, takenMs] = state.subarray(slot * STATE);
    return { frontMs, takenMs, phoneMs: phoneMs[slot], waiting: this.waiting.get(slot).slice(1) };
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
    const at = this.waiting.append(slot);
    const { list } = this.waiting;
    list[at + STEP] = step;
    list[at + IS_DUE_MS] = dueMs;
    list[at + MS] = ms;
    list[at + SOURCE] = source;
    list[at + RSSI] = rssi;
    list[at + RAW] = raw;
    list[at + TAG] = tag;
    this.#awaits(slot * STATE, step, dueMs);
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
  flush(slot, now) { while (this.state[slot * STATE + FIRST_STEP] < Infinity) this.#takeFirst(slot, now); }

  /** Takes the first step that waits. @param {number} slot @param {Now} now */
  #takeFirst(slot, now) {
    const { state, waiting, waiting: { list }, together } = this;
    const person = slot * STATE;
    const end = waiting.endOf(slot);
    const first = state[person + FIRST_STEP];
    let ms = 0;
    let left = waiting.startOf(slot) + 1;
    state[person + FIRST_STEP] = state[person + DUE_MS] = Infinity;
    together.clear();
    for (let at = left; at < end; at += ITEMS) {
      if (list[at + STEP] === first) {
        together.add(list[at + SOURCE], list[at + RSSI], list[at + RAW], list[at + TAG]);
        if (list[at + MS] > ms) ms = list[at + MS];
      } else {
        if (left < at) for (let n = 0; n < ITEMS; n += 1) list[left + n] = list[at + n];
        this.#awaits(person, list[left + STEP], list[left + IS_DUE_MS]);
        left += ITEMS;
      }
    }
    waiting.cut(slot, left);
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

/** For another locator, where sources and tags have other numbers. @param {Saved} saved @param {(source: number) => number} sourceOf
 * @param {(tag: number) => number} tagOf @returns {Saved} */
const renumbered = (saved, sourceOf, tagOf) => ({ ...saved, waiting: saved.waiting.map((value, n) => (
  n % ITEMS === SOURCE ? sourceOf(value) : n % ITEMS === TAG ? tagOf(value) : value)) });

module.exports = { ReorderBuffer, renumbered };
