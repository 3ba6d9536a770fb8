// @ts-check
'use strict';

/**
 * Times of which readings came when they were over already, because a receiver sent a backlog. They are located again from
 * the database when no more comes, those of phones apart from those of gateways: each from its own receivers. Pure.
 * @typedef {{fromMs: number, toMs: number, staff: Set<string>, gateways: boolean, sinceMs: number, lastMs: number}} LateTime
 *   gateways: whether their readings concern these people; sinceMs, lastMs: our clock at the first and the last of its readings
 * @typedef {{fromMs: number, toMs: number, staff: string[], gateways: boolean}} KeptTime as it is kept over a restart
 */

const QUIET_MS = 15_000; // a backlog is through, and stored
const LONGEST_MS = 5 * 60_000; // … and who sends one that never ends is not waited for
const APART_MS = 10 * 60_000; // nearer ones are one: what it takes to get into the state of then is read once
const ASIDE_MS = 2 * 60_000; // so long before and after it is decided otherwise, too, hardly ever for longer
const TIMES = 64;

function createLateTimes() {
  /** @type {LateTime[]} */
  let times = [];
  /** Given to a job that is not over, by its id. @type {Map<number, LateTime>} */
  const given = new Map();

  /** @param {string} staffId @param {boolean} gateways @param {number} ts @param {number} nowMs @returns {boolean} whether that is new */
  function add(staffId, gateways, ts, nowMs) {
    const alike = times.filter((time) => time.gateways === gateways);
    const near = alike.find(({ fromMs, toMs }) => ts > fromMs - APART_MS && ts < toMs + APART_MS) ??
      (times.length >= TIMES ? alike[0] : undefined);
    if (!near) {
      times.push({ fromMs: ts, toMs: ts, staff: new Set([staffId]), gateways, sinceMs: nowMs, lastMs: nowMs });
      return true;
    }
    const known = ts >= near.fromMs && ts <= near.toMs && near.staff.has(staffId);
    Object.assign(near, { fromMs: Math.min(near.fromMs, ts), toMs: Math.max(near.toMs, ts), lastMs: nowMs });
    near.staff.add(staffId);
    return !known;
  }

  /** Those that are to be located now; they are not given again. @param {number} nowMs */
  function due(nowMs) {
    const ready = times.filter(({ sinceMs, lastMs }) => nowMs - lastMs >= QUIET_MS || nowMs - sinceMs >= LONGEST_MS);
    times = times.filter((time) => !ready.includes(time));
    return ready.map((time) => ({ fromMs: beginOf(time), toMs: Math.min(time.toMs + ASIDE_MS, nowMs), time }));
  }

  return {
    add,
    due,
    /** A job locates it. @param {number} jobId @param {LateTime} time */
    give: (jobId, time) => { given.set(jobId, time); },
    /** @param {number} jobId */
    ofJob: (jobId) => given.get(jobId) ?? null,
    /** That job is over. @param {number} jobId @returns {boolean} whether it was such a one */
    over: (jobId) => given.delete(jobId),
    /** All that are not located yet. @returns {KeptTime[]} */
    kept: () => [...given.values(), ...times].map(({ fromMs, toMs, staff, gateways }) => ({ fromMs, toMs, staff: [...staff], gateways })),
    /** Those of before a restart. @param {KeptTime[]} before @param {number} nowMs */
    restore(before, nowMs) {
      times.push(...before.map((time) => ({ ...time, staff: new Set(time.staff), sinceMs: nowMs, lastMs: nowMs })));
    },
  };
}

/** A location may carry the beginning of its second. @param {LateTime} time @returns {number} epoch ms */
const beginOf = ({ fromMs }) => Math.floor((fromMs - ASIDE_MS) / 1000) * 1000;

/** Whom a batch concerns. @param {import('../intake/readings').Batch} batch @param {import('../building').Building} building */
function staffIn({ kind, receiver, readings }, { gateways, tagOwner }) {
  if (kind === 'phone') return new Set([receiver]);
  return new Set(gateways.has(receiver) ? readings.flatMap(({ beacon }) => tagOwner.get(beacon) ?? []) : []);
}

/** Whether gateways hear somebody. @param {import('../building').Building} building @param {string} staffId */
const hasTags = ({ staff }, staffId) => (staff.get(staffId)?.tags?.length ?? 0) > 0;

module.exports = { createLateTimes, hasTags, staffIn };
