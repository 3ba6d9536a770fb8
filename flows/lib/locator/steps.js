// @ts-check
'use strict';

const { addReading, nothingHeard } = require('./sightings');

/**
 * Event time: which readings are taken together, in which order, and when. What one phone says is complete and is
 * taken at once; what gateways say of a tag is gathered in steps of `tickMs`, so that their order of arrival does not
 * matter and several weigh together. Pure.
 * @typedef {import('./sightings').Heard} Heard
 * @typedef {import('./tuning').Tuning} Tuning
 * @typedef {{tick: number, ms: number, dueMs: number, heard: Heard}} Step ms: of its newest reading; dueMs: our clock
 * @typedef {{ms: number, waiting: Step[], phoneMs: number[]|null}} Line ms: event time of the newest reading taken (kept
 *   by `take`); waiting: ascending; phoneMs: the latest batches of a phone
 */

/**
 * @template {Line} L
 * @typedef {(line: L, ms: number, heard: Heard) => void} Take
 */

const PHONE_BATCHES = 5; // no more come within lateMs, and older ones are late anyway
/** Most people have nothing waiting most of the time; they share it. @type {Step[]} */
const NOTHING = [];

/** Event time of the newest reading. @param {Line} line */
const frontMs = ({ ms, waiting }) => (waiting.length > 0 ? Math.max(ms, waiting[waiting.length - 1].ms) : ms);

/**
 * @template {Line} L
 * @param {L} line
 * @param {number} ts the phone's clock
 * @param {Heard} heard
 * @param {number} nowMs
 * @param {Tuning} tuning
 * @param {Take<L>} take
 * @returns {boolean} false when the readings are late: they belong to a time that is over
 */
function joinPhone(line, ts, heard, nowMs, tuning, take) {
  const ms = ts > nowMs + tuning.aheadMs ? nowMs : ts;
  if (ms < frontMs(line) - tuning.lateMs) return false;
  if (line.phoneMs?.includes(ts)) return true; // phones send again what the broker may have lost
  line.phoneMs = [...line.phoneMs?.slice(1 - PHONE_BATCHES) ?? [], ts];
  pass(line, nowMs, tuning, take);
  leave(line, -Infinity, Math.floor(ms / tuning.tickMs) + 1, take);
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
 * @param {Tuning} tuning
 * @param {Take<L>} take
 * @returns {boolean} false when it is late
 */
function joinGateway(line, ts, { source, rssi, tag }, nowMs, tuning, take) {
  const ms = Math.min(ts, nowMs); // one of many: a clock ahead must not pull the others along
  if (ms < frontMs(line) - tuning.lateMs) return false;
  pass(line, nowMs, tuning, take);
  const tick = Math.max(Math.floor(ms / tuning.tickMs), Math.floor(line.ms / tuning.tickMs) + 1);
  let at = line.waiting.length;
  while (at > 0 && line.waiting[at - 1].tick > tick) at -= 1;
  let step = line.waiting[at - 1];
  if (step?.tick !== tick) {
    const dueMs = Math.max((tick + 1) * tuning.tickMs, nowMs) + tuning.holdMs;
    step = { tick, ms, dueMs, heard: nothingHeard('gateway') };
    line.waiting = line.waiting.toSpliced(at, 0, step);
  }
  step.ms = Math.max(step.ms, ms);
  addReading(step.heard, source, rssi);
  if (step.heard.sources[0] === source) step.heard.tag = tag;
  pass(line, nowMs, tuning, take);
  return true;
}

/**
 * Take the steps that waited long enough.
 * @template {Line} L
 * @param {L} line @param {number} nowMs @param {Tuning} tuning @param {Take<L>} take
 */
function pass(line, nowMs, tuning, take) {
  if (line.waiting.length > 0) leave(line, nowMs, Math.floor((frontMs(line) - tuning.reorderMs) / tuning.tickMs), take);
}

/**
 * @template {Line} L
 * @param {L} line
 * @param {number} dueMs steps due by then go
 * @param {number} before and steps before this one
 * @param {Take<L>} take
 */
function leave(line, dueMs, before, take) {
  while (line.waiting.length > 0) {
    const { tick, ms, dueMs: due, heard } = line.waiting[0];
    if (due > dueMs && tick >= before) return;
    line.waiting = line.waiting.length > 1 ? line.waiting.slice(1) : NOTHING;
    take(line, ms, heard);
  }
}

/**
 * Take all that waits.
 * @template {Line} L
 * @param {L} line @param {Take<L>} take
 */
const flush = (line, take) => leave(line, Infinity, Infinity, take);

module.exports = { NOTHING_WAITS: NOTHING, flush, joinGateway, joinPhone, pass };
