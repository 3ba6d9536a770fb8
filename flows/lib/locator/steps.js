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
 * @typedef {{ms: number, waiting: Step|null, phoneMs: number[]|null}} Line ms: event time of the newest reading taken (kept
 *   by `take`); waiting: the earliest step; phoneMs: the latest batches of a phone
 */

/**
 * @template {Line} L
 * @typedef {(line: L, ms: number, heard: Heard) => void} Take
 */

const PHONE_BATCHES = 5; // no more come within lateMs, and older ones are late anyway

/** Event time of the newest reading. @param {Line} line */
function frontMs({ ms, waiting }) {
  let last = waiting;
  while (last?.next) last = last.next;
  return last && last.ms > ms ? last.ms : ms;
}

/**
 * @template {Line} L
 * @param {L} line
 * @param {number} ts the phone's clock
 * @param {Heard} heard
 * @param {number} nowMs
 * @param {Settings} settings
 * @param {Take<L>} take
 * @returns {boolean} false when the readings are late: they belong to a time that is over
 */
function joinPhone(line, ts, heard, nowMs, settings, take) {
  const ms = ts > nowMs + settings.aheadMs ? nowMs : ts;
  if (ms < frontMs(line) - settings.lateMs) return false;
  if (line.phoneMs?.includes(ts)) return true; // phones send again what the broker may have lost
  line.phoneMs = line.phoneMs ? line.phoneMs.slice(1 - PHONE_BATCHES).concat(ts) : [ts]; // exactly as long as it needs to be
  pass(line, nowMs, settings, take);
  leave(line, -Infinity, Math.floor(ms / settings.tickMs) + 1, take);
  take(line, ms, heard);
  return true;
}

/**
 * One gateway's reading of one tag.
 * @template {Line} L
 * @param {L} line
 * @param {number} ts the gateway's clock
 * @param {{source: number, rssi: number, tag: string}} reading
 * @param {number} nowMs
 * @param {Settings} settings
 * @param {Take<L>} take
 * @returns {boolean} false when it is late
 */
function joinGateway(line, ts, { source, rssi, tag }, nowMs, settings, take) {
  const ms = Math.min(ts, nowMs); // one of many: a clock ahead must not pull the others along
  if (ms < frontMs(line) - settings.lateMs) return false;
  pass(line, nowMs, settings, take);
  const tick = Math.max(Math.floor(ms / settings.tickMs), Math.floor(line.ms / settings.tickMs) + 1);
  const step = stepOf(line, tick, nowMs, settings);
  step.ms = Math.max(step.ms, ms);
  addReading(step, source, rssi);
  if (step.sources[0] === source) step.tag = tag;
  pass(line, nowMs, settings, take);
  return true;
}

/**
 * The step of a tick; a new one where there is none.
 * @param {Line} line @param {number} tick @param {number} nowMs @param {Settings} settings
 */
function stepOf(line, tick, nowMs, { tickMs, holdMs }) {
  /** @type {Step|null} */
  let before = null;
  let next = line.waiting;
  while (next && next.tick < tick) {
    before = next;
    next = next.next;
  }
  if (next?.tick === tick) return next;
  const dueMs = Math.max((tick + 1) * tickMs, nowMs) + holdMs;
  /** @type {Step} */
  const step = { kind: 'gateway', sources: [], rssis: [], tag: '', tick, ms: 0, dueMs, next };
  if (before) before.next = step;
  else line.waiting = step;
  return step;
}

/**
 * Take the steps that waited long enough.
 * @template {Line} L
 * @param {L} line @param {number} nowMs @param {Settings} settings @param {Take<L>} take
 */
function pass(line, nowMs, settings, take) {
  if (line.waiting) leave(line, nowMs, Math.floor((frontMs(line) - settings.reorderMs) / settings.tickMs), take);
}

/**
 * @template {Line} L
 * @param {L} line
 * @param {number} dueMs steps due by then go
 * @param {number} before and steps before this one
 * @param {Take<L>} take
 */
function leave(line, dueMs, before, take) {
  for (let step = line.waiting; step; step = line.waiting) {
    if (step.dueMs > dueMs && step.tick >= before) return;
    line.waiting = step.next;
    take(line, step.ms, step);
  }
}

/**
 * Take all that waits.
 * @template {Line} L
 * @param {L} line @param {Take<L>} take
 */
const flush = (line, take) => leave(line, Infinity, Infinity, take);

module.exports = { flush, joinGateway, joinPhone, pass };
