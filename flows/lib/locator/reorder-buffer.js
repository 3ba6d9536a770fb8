// @ts-check
'use strict';

const { addReading } = require('./sightings');

/**
 * Event time: which readings are taken together, in which order, and when. What one phone says is complete and is
 * taken at once; what gateways say of a tag is gathered in steps of `tickMs`, so that their order of arrival does not
 * matter and several weigh together. Pure.
 * @typedef {import('./sightings').Heard} Heard
 * @typedef {import('./constants').Settings} Settings
 * @typedef {Heard & {tick: number, ms: number, dueMs: number, next: Step|null}} Step ms: of its newest reading; dueMs: our
 *   clock; next: a later one (a list, since thousands of people have one or two waiting)
 * @typedef {{ms: number, waiting: Step|null, phoneMs: number[]|null}} Buffered ms: event time of the newest reading taken (kept
 *   by `take`); waiting: the earliest step; phoneMs: the latest batches of a phone
 */

/**
 * @template {Buffered} L
 * @typedef {(buffered: L, ms: number, heard: Heard) => void} Take
 */

const PHONE_BATCHES = 5; // no more come within lateMs, and older ones are late anyway

/** Event time of the newest reading. @param {Buffered} buffered */
function frontMs({ ms, waiting }) {
  let last = waiting;
  while (last?.next) last = last.next;
  return last && last.ms > ms ? last.ms : ms;
}

/**
 * @template {Buffered} L
 * @param {L} buffered
 * @param {number} ts the phone's clock
 * @param {Heard} heard
 * @param {number} nowMs
 * @param {Settings} settings
 * @param {Take<L>} take
 * @returns {boolean} false when the readings are late: they belong to a time that is over
 */
function addPhoneBatch(buffered, ts, heard, nowMs, settings, take) {
  const ms = ts > nowMs + settings.aheadMs ? nowMs : ts;
  if (ms < frontMs(buffered) - settings.lateMs) return false;
  if (buffered.phoneMs?.includes(ts)) return true; // phones send again what the broker may have lost
  buffered.phoneMs = buffered.phoneMs ? buffered.phoneMs.slice(1 - PHONE_BATCHES).concat(ts) : [ts]; // exactly as long as it needs to be
  releaseDue(buffered, nowMs, settings, take);
  release(buffered, -Infinity, Math.floor(ms / settings.tickMs) + 1, take);
  take(buffered, ms, heard);
  return true;
}

/**
 * One gateway's reading of one tag.
 * @template {Buffered} L
 * @param {L} buffered
 * @param {number} ts the gateway's clock
 * @param {{source: number, rssi: number, tag: string}} reading
 * @param {number} nowMs
 * @param {Settings} settings
 * @param {Take<L>} take
 * @returns {boolean} false when it is late
 */
function addGatewayReading(buffered, ts, { source, rssi, tag }, nowMs, settings, take) {
  const ms = Math.min(ts, nowMs); // one of many: a clock ahead must not pull the others along
  if (ms < frontMs(buffered) - settings.lateMs) return false;
  releaseDue(buffered, nowMs, settings, take);
  const tick = Math.max(Math.floor(ms / settings.tickMs), Math.floor(buffered.ms / settings.tickMs) + 1);
  const step = stepOf(buffered, tick, nowMs, settings);
  step.ms = Math.max(step.ms, ms);
  addReading(step, source, rssi);
  if (step.sources[0] === source) step.tag = tag;
  releaseDue(buffered, nowMs, settings, take);
  return true;
}

/**
 * The step of a tick; a new one where there is none.
 * @param {Buffered} buffered @param {number} tick @param {number} nowMs @param {Settings} settings
 */
function stepOf(buffered, tick, nowMs, { tickMs, holdMs }) {
  /** @type {Step|null} */
  let before = null;
  let next = buffered.waiting;
  while (next && next.tick < tick) {
    before = next;
    next = next.next;
  }
  if (next?.tick === tick) return next;
  const dueMs = Math.max((tick + 1) * tickMs, nowMs) + holdMs;
  /** @type {Step} */
  const step = { kind: 'gateway', sources: [], rssis: [], tag: '', tick, ms: 0, dueMs, next };
  if (before) before.next = step;
  else buffered.waiting = step;
  return step;
}

/**
 * Take the steps that waited long enough.
 * @template {Buffered} L
 * @param {L} buffered @param {number} nowMs @param {Settings} settings @param {Take<L>} take
 */
function releaseDue(buffered, nowMs, settings, take) {
  if (buffered.waiting) release(buffered, nowMs, Math.floor((frontMs(buffered) - settings.reorderMs) / settings.tickMs), take);
}

/**
 * @template {Buffered} L
 * @param {L} buffered
 * @param {number} dueMs steps due by then go
 * @param {number} before and steps before this one
 * @param {Take<L>} take
 */
function release(buffered, dueMs, before, take) {
  for (let step = buffered.waiting; step; step = buffered.waiting) {
    if (step.dueMs > dueMs && step.tick >= before) return;
    buffered.waiting = step.next;
    take(buffered, step.ms, step);
  }
}

/**
 * Take all that waits.
 * @template {Buffered} L
 * @param {L} buffered @param {Take<L>} take
 */
const flush = (buffered, take) => release(buffered, Infinity, Infinity, take);

module.exports = { addGatewayReading, addPhoneBatch, flush, releaseDue };
