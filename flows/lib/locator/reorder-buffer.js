// @ts-check
'use strict';

const { addReading, clear, nothingHeard } = require('./sightings');

/**
 * Event time: which readings are taken together, in which order, and when. What one phone says is complete and is
 * taken at once; what gateways say of a tag is gathered in steps of `tickMs`, so that their order of arrival does not
 * matter and several weigh together. Pure.
 * @typedef {import('./sightings').Heard} Heard
 * @typedef {import('./settings').Settings} Settings
 * @typedef {{ms: number, waiting: number[], phoneMs: number[]|null}} Buffered ms: event time of the newest reading taken (kept by
 *   `take`); waiting: readings of gateways, ITEMS numbers each; phoneMs: the latest batches of a phone
 */

/**
 * @template {Buffered} L
 * @typedef {(buffered: L, ms: number, heard: Heard) => void} Take heard is valid until it returns
 */

/**
 * What stands in `waiting` of each reading; DUE_MS: by our clock; RSSI: as if the tag had the default power.
 */
const [STEP, MS, DUE_MS, SOURCE, RSSI, RAW, TAG, ITEMS] = [0, 1, 2, 3, 4, 5, 6, 7];
const PHONE_BATCHES = 5; // no more come within lateMs, and older ones are late anyway

/** Event time of the newest reading. @param {Buffered} buffered */
function frontMs({ ms, waiting }) {
  for (let at = 0; at < waiting.length; at += ITEMS) if (waiting[at + MS] > ms) ms = waiting[at + MS];
  return ms;
}

/**
 * @template {Buffered} L
 * @param {L} buffered
 * @param {number} ts event time
 * @param {Heard} heard
 * @param {number} nowMs
 * @param {Settings} settings
 * @param {Take<L>} take
 * @returns {boolean} false when the readings are late: they belong to a time that is over
 */
function addPhoneBatch(buffered, ts, heard, nowMs, settings, take) {
  if (ts < frontMs(buffered) - settings.lateMs) return false;
  if (buffered.phoneMs?.includes(ts)) return true; // phones send again what the broker may have lost
  buffered.phoneMs = buffered.phoneMs ? buffered.phoneMs.slice(1 - PHONE_BATCHES).concat(ts) : [ts]; // exactly as long as it needs to be
  releaseDue(buffered, nowMs, settings, take);
  release(buffered, -Infinity, Math.floor(ts / settings.tickMs) + 1, take);
  take(buffered, ts, heard);
  return true;
}

/**
 * One gateway's reading of one tag.
 * @template {Buffered} L
 * @param {L} buffered
 * @param {number} ms event time
 * @param {{source: number, rssi: number, raw: number, tag: number}} reading
 * @param {number} nowMs
 * @param {Settings} settings
 * @param {Take<L>} take
 * @returns {boolean} false when it is late
 */
function addGatewayReading(buffered, ms, { source, rssi, raw, tag }, nowMs, settings, take) {
  const { tickMs, holdMs, lateMs } = settings;
  const { waiting } = buffered;
  if (ms < frontMs(buffered) - lateMs) return false;
  if (waiting.length > 0) releaseDue(buffered, nowMs, settings, take);
  const step = Math.max(Math.floor(ms / tickMs), Math.floor(buffered.ms / tickMs) + 1);
  waiting.push(step, ms, Math.max((step + 1) * tickMs, nowMs) + holdMs, source, rssi, raw, tag);
  releaseDue(buffered, nowMs, settings, take);
  return true;
}

/**
 * Take the steps that waited long enough.
 * @template {Buffered} L
 * @param {L} buffered @param {number} nowMs @param {Settings} settings @param {Take<L>} take
 */
function releaseDue(buffered, nowMs, { reorderMs, tickMs }, take) {
  if (buffered.waiting.length > 0) release(buffered, nowMs, Math.floor((frontMs(buffered) - reorderMs) / tickMs), take);
}

const step = nothingHeard('gateway');

/**
 * @template {Buffered} L
 * @param {L} buffered
 * @param {number} dueMs steps due by then go
 * @param {number} before and steps before this one
 * @param {Take<L>} take
 */
function release(buffered, dueMs, before, take) {
  const { waiting } = buffered;
  while (waiting.length > 0) {
    let first = Infinity;
    for (let at = 0; at < waiting.length; at += ITEMS) if (waiting[at + STEP] < first) first = waiting[at + STEP];
    let itsDueMs = Infinity;
    for (let at = 0; at < waiting.length; at += ITEMS) {
      if (waiting[at + STEP] === first && waiting[at + DUE_MS] < itsDueMs) itsDueMs = waiting[at + DUE_MS];
    }
    if (itsDueMs > dueMs && first >= before) return;
    clear(step);
    let ms = 0;
    let kept = 0;
    for (let at = 0; at < waiting.length; at += ITEMS) {
      if (waiting[at + STEP] === first) {
        addReading(step, waiting[at + SOURCE], waiting[at + RSSI], waiting[at + RAW], waiting[at + TAG]);
        if (waiting[at + MS] > ms) ms = waiting[at + MS];
      } else {
        for (let n = 0; n < ITEMS; n += 1) waiting[kept + n] = waiting[at + n];
        kept += ITEMS;
      }
    }
    waiting.length = kept;
    take(buffered, ms, step);
  }
}

/**
 * Take all that waits.
 * @template {Buffered} L
 * @param {L} buffered @param {Take<L>} take
 */
const flush = (buffered, take) => release(buffered, Infinity, Infinity, take);

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

module.exports = { addGatewayReading, addPhoneBatch, createResends, flush, releaseDue, translated };
