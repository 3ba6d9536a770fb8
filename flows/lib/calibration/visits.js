// @ts-check
'use strict';

/**
 * Visits of rooms from the taps of a walk. Pure.
 * @typedef {{room: string, fromMs: number, toMs: number}} Visit half-open, epoch ms
 */

/** Around a tap somebody is between two rooms; those samples do not count. */
const MARGIN_MS = 2000;
const SECOND_MS = 1000;

/**
 * @param {readonly {ts: number, room: string|null}[]} taps in the order of their times; null: in no room
 * @param {number} endMs of the walk
 * @returns {Visit[]}
 */
const visitsOf = (taps, endMs) => taps.flatMap(({ ts, room }, i) => {
  const toMs = Math.min(endMs, taps[i + 1]?.ts ?? endMs);
  return room === null || toMs <= ts ? [] : [{ room, fromMs: ts, toMs }];
});

/** Index of the visit of a time, without the margins around taps; -1: none. @param {readonly Visit[]} visits @param {number} ms */
const visitAt = (visits, ms) => visits.findIndex(({ fromMs, toMs }) => ms >= fromMs + MARGIN_MS && ms < toMs - MARGIN_MS);

/** The scored seconds of a visit. @param {Visit} visit @returns {number[]} epoch s */
function secondsOf({ fromMs, toMs }) {
  const first = Math.ceil(fromMs / SECOND_MS);
  return Array.from({ length: Math.max(0, Math.ceil(toMs / SECOND_MS) - first) }, (_, i) => first + i);
}

module.exports = { visitsOf, visitAt, secondsOf };
