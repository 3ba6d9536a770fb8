// @ts-check
'use strict';

const { Heard } = require('./hearing');

/**
 * Event time: which readings are taken together, in which order, and when. What one phone says is complete and is
 * taken at once; what gateways say of a tag is gathered in steps of `tickMs`, so that their order of arrival does not
 * matter and several weigh together. Pure.
 * @typedef {import('./settings').Settings} Settings
 */
class Buffered {
  constructor() {
    /** Event time of the newest reading. */
    this.frontMs = -Infinity;
    /** Event time of the newest reading taken: kept by who takes them. */
    this.ms = -Infinity;
    /** Readings of gateways, ITEMS numbers each. @type {number[]} */
    this.waiting = [];
    /** The first step that waits, Infinity: none, … */
    this.firstStep = Infinity;
    /** … and when it is taken at the latest, by our clock. */
    this.dueMs = Infinity;
    /** The latest batches of a phone, by its clock. @type {number[]|null} */
    this.phoneMs = null;
  }
}

/**
 * Our clock, and what to do with what was heard at a moment.
 * @template {Buffered} L
 * @typedef {{nowMs: number, settings: Settings, take: (buffered: L, ms: number, heard: Heard) => void}} Now heard is valid until take returns
 */

/** What stands in `waiting` of each reading; DUE_MS: by our clock; RSSI: as if the tag had the default power. */
const [STEP, MS, DUE_MS, SOURCE, RSSI, RAW, TAG, ITEMS] = [0, 1, 2, 3, 4, 5, 6, 7];
const PHONE_BATCHES = 5; // no more come within lateMs, and older ones are late anyway

/**
 * @template {Buffered} L
 * @param {L} buffered @param {number} ts the phone's clock @param {Heard} heard @param {Now<L>} now
 * @returns {boolean} false when the readings are late: they belong to a time that is over
 */
function addPhoneBatch(buffered, ts, heard, now) {
  const { nowMs, settings: { aheadMs, lateMs, tickMs } } = now;
  const ms = ts > nowMs + aheadMs ? nowMs : ts;
  if (ms < buffered.frontMs - lateMs) return false;
  if (buffered.phoneMs?.includes(ts)) return true; // phones send again what the broker may have lost
  buffered.phoneMs = buffered.phoneMs ? buffered.phoneMs.slice(1 - PHONE_BATCHES).concat(ts) : [ts]; // exactly as long as it needs to be
  releaseDue(buffered, now);
  release(buffered, -Infinity, Math.floor(ms / tickMs) + 1, now);
  buffered.frontMs = Math.max(buffered.frontMs, ms);
  now.take(buffered, ms, heard);
  return true;
}

/**
 * One gateway's reading of one tag.
 * @template {Buffered} L
 * @param {L} buffered @param {number} ts the gateway's clock @param {number} source @param {number} rssi @param {number} raw
 * @param {number} tag @param {Now<L>} now
 * @returns {boolean} false when it is late
 */
function addGatewayReading(buffered, ts, source, rssi, raw, tag, now) {
  const { nowMs, settings: { tickMs, holdMs, lateMs } } = now;
  const ms = Math.min(ts, nowMs); // one of many: a clock ahead must not pull the others along
  if (ms < buffered.frontMs - lateMs) return false;
  releaseDue(buffered, now);
  const step = Math.max(Math.floor(ms / tickMs), Math.floor(buffered.ms / tickMs) + 1);
  const dueMs = Math.max((step + 1) * tickMs, nowMs) + holdMs;
  buffered.waiting.push(step, ms, dueMs, source, rssi, raw, tag);
  if (step < buffered.firstStep || (step === buffered.firstStep && dueMs < buffered.dueMs)) {
    buffered.firstStep = step;
    buffered.dueMs = dueMs;
  }
  buffered.frontMs = Math.max(buffered.frontMs, ms);
  releaseDue(buffered, now);
  return true;
}

/**
 * Take the steps that waited long enough.
 * @template {Buffered} L
 * @param {L} buffered @param {Now<L>} now
 */
function releaseDue(buffered, now) {
  if (buffered.firstStep === Infinity) return;
  const { reorderMs, tickMs } = now.settings;
  release(buffered, now.nowMs, Math.floor((buffered.frontMs - reorderMs) / tickMs), now);
}

const together = new Heard('gateway');

/**
 * @template {Buffered} L
 * @param {L} buffered
 * @param {number} dueMs steps due by then go
 * @param {number} before and steps before this one
 * @param {Now<L>} now
 */
function release(buffered, dueMs, before, now) {
  while (buffered.firstStep < before || buffered.dueMs <= dueMs) {
    const { waiting, firstStep } = buffered;
    together.clear();
    let ms = 0;
    let kept = 0;
    buffered.firstStep = buffered.dueMs = Infinity;
    for (let at = 0; at < waiting.length; at += ITEMS) {
      const its = waiting[at + STEP];
      if (its === firstStep) {
        together.add(waiting[at + SOURCE], waiting[at + RSSI], waiting[at + RAW], waiting[at + TAG]);
        if (waiting[at + MS] > ms) ms = waiting[at + MS];
        continue;
      }
      if (its < buffered.firstStep || (its === buffered.firstStep && waiting[at + DUE_MS] < buffered.dueMs)) {
        buffered.firstStep = its;
        buffered.dueMs = waiting[at + DUE_MS];
      }
      if (kept < at) for (let n = 0; n < ITEMS; n += 1) waiting[kept + n] = waiting[at + n];
      kept += ITEMS;
    }
    waiting.length = kept;
    now.take(buffered, ms, together);
  }
}

/**
 * Take all that waits.
 * @template {Buffered} L
 * @param {L} buffered @param {Now<L>} now
 */
const flush = (buffered, now) => release(buffered, -Infinity, Infinity, now);

/**
 * Readings that wait, for another locator.
 * @param {readonly number[]} waiting @param {(source: number) => number} sourceOf @param {(tag: number) => number} tagOf
 */
const translated = (waiting, sourceOf, tagOf) => waiting.map((value, n) => (
  n % ITEMS === SOURCE ? sourceOf(value) : n % ITEMS === TAG ? tagOf(value) : value));

const LATEST = 16; // batches of a gateway; older ones are late anyway

/** The latest batches of each gateway: gateways send again what the broker may have lost. */
function createResends() {
  /** @type {Map<string, string[]>} */
  const latest = new Map();

  return {
    /**
     * Whether it came before.
     * @param {string} gateway @param {import('../intake/readings').Batch} batch parts of one window differ in their beacons
     */
    knows(gateway, { ts, readings }) {
      const key = `${ts} ${readings[0]?.beacon}`;
      const known = latest.get(gateway) ?? [];
      if (known.includes(key)) return true;
      latest.set(gateway, [...known.slice(1 - LATEST), key]);
      return false;
    },
    /** @returns {[string, string[]][]} */
    save: () => [...latest],
    /** What was known elsewhere, beside what is known here. @param {[string, string[]][]} before */
    restore(before) {
      for (const [gateway, keys] of before) latest.set(gateway, [...new Set([...keys, ...latest.get(gateway) ?? []])].slice(-LATEST));
    },
  };
}

module.exports = { Buffered, addGatewayReading, addPhoneBatch, createResends, flush, releaseDue, translated };
