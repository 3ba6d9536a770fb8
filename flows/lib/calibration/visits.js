// @ts-check
'use strict';

/**
 * The taps of a walk as visits: which room from when to when. Pure.
 * @typedef {{room: string, fromMs: number, toMs: number}} Visit half-open, epoch ms
 */

/** Next to a tap somebody is in a door: nothing is learned there. */
const DOOR_MS = 2000;
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

/** Which visit a moment lies in, away from its doors; -1: none. @param {readonly Visit[]} visits @param {number} ms */
const visitAt = (visits, ms) => visits.findIndex(({ fromMs, toMs }) => ms >= fromMs + DOOR_MS && ms < toMs - DOOR_MS);

/** The whole seconds of a visit, which are scored. @param {Visit} visit @returns {number[]} epoch s */
function secondsOf({ fromMs, toMs }) {
  const first = Math.ceil(fromMs / SECOND_MS);
  return Array.from({ length: Math.max(0, Math.ceil(toMs / SECOND_MS) - first) }, (_, i) => first + i);
}

module.exports = { visitsOf, visitAt, secondsOf };
