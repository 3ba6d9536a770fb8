// @ts-check
'use strict';

/**
 * Times of which readings came when they were over already, because a receiver sent a backlog. They are located again from
 * the database when no more comes. Pure.
 * @typedef {{fromMs: number, toMs: number, staff: Set<string>, sinceMs: number, lastMs: number}} LateTime
 *   sinceMs, lastMs: our clock at the first and the last of its readings
 */

const QUIET_MS = 15_000; // a backlog is through, and stored
const LONGEST_MS = 5 * 60_000; // … and who sends one that never ends is not waited for
const APART_MS = 10 * 60_000; // nearer ones are one: what it takes to get into the state of then is read once
const ASIDE_MS = 2 * 60_000; // so long before and after it is decided otherwise, too, hardly ever for longer
const TIMES = 64;

function createLateTimes() {
  /** @type {LateTime[]} */
  let times = [];

  /** @param {string} staffId @param {number} ts @param {number} nowMs */
  function add(staffId, ts, nowMs) {
    const near = times.find(({ fromMs, toMs }) => ts > fromMs - APART_MS && ts < toMs + APART_MS) ??
      (times.length >= TIMES ? times[0] : undefined);
    if (!near) {
      times.push({ fromMs: ts, toMs: ts, staff: new Set([staffId]), sinceMs: nowMs, lastMs: nowMs });
      return;
    }
    Object.assign(near, { fromMs: Math.min(near.fromMs, ts), toMs: Math.max(near.toMs, ts), lastMs: nowMs });
    near.staff.add(staffId);
  }

  /** Those that are to be located now; they are not given again. @param {number} nowMs */
  function due(nowMs) {
    const ready = times.filter(({ sinceMs, lastMs }) => nowMs - lastMs >= QUIET_MS || nowMs - sinceMs >= LONGEST_MS);
    times = times.filter((time) => !ready.includes(time));
    return ready.map((time) => ({ fromMs: beginOf(time), toMs: Math.min(time.toMs + ASIDE_MS, nowMs), staff: time.staff }));
  }

  return { add, due, /** The earliest of all. */ fromMs: () => times.reduce((ms, time) => Math.min(ms, beginOf(time)), Infinity) };
}

/** A location may carry the beginning of its second. @param {LateTime} time @returns {number} epoch ms */
const beginOf = ({ fromMs }) => Math.floor((fromMs - ASIDE_MS) / 1000) * 1000;

/** Whom a batch concerns. @param {import('../readings').Batch} batch @param {import('../building').Building} building */
function staffIn({ kind, receiver, readings }, { gateways, tagOwner }) {
  if (kind === 'phone') return new Set([receiver]);
  return new Set(gateways.has(receiver) ? readings.flatMap(({ beacon }) => tagOwner.get(beacon) ?? []) : []);
}

module.exports = { createLateTimes, staffIn };
