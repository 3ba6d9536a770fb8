// @ts-check
'use strict';

/**
 * When to say that somebody changed the room, and since when. Pure.
 * @typedef {{room: number, sinceMs: number, guess: boolean, last: number, lastStayMs: number, rival: number,
 *   rivalAfterMs: number}} Choice room, last (the room before) and rival (the likeliest) are indices, -1 for none; sinceMs: when
 *   the room was entered; lastStayMs: how long before that the last one was; rivalAfterMs: how long after it the rival became
 *   the likeliest; guess: it is the first room after nothing
 *   was known of them, so short a time ago that it may have been wrong
 * @typedef {'none'|'moved'|'returned'} Change returned: they are back before they can have been away
 */

/**
 * @param {Choice} choice is updated
 * @param {Float64Array} chances of each room
 * @param {number} best the likeliest room
 * @param {{ms: number, touched: boolean, gapS: number}} now event time; whether a beacon was touched on purpose; mean time
 *   between the seconds with readings, up to now
 * @param {import('./constants').Settings} settings
 * @returns {Change} whether the room changed; then sinceMs is since when
 */
function choose(choice, chances, best, { ms, touched, gapS }, settings) {
  const delayMs = delayOf(settings);
  if (choice.guess && ms - choice.sinceMs > 2 * delayMs) choice.guess = false;
  if (choice.room < 0) {
    Object.assign(choice, { room: best, sinceMs: ms, guess: true, last: -1, lastStayMs: 0, rival: best, rivalAfterMs: 0 });
    return 'moved';
  }
  if (best !== choice.rival) Object.assign(choice, { rival: best, rivalAfterMs: Math.round(ms - choice.sinceMs) });
  if (best === choice.room) return 'none';
  if (!touched && leadOf(chances, best, choice.room, settings) <= neededLiveOf(choice, ms, gapS, settings)) return 'none';
  const { room, sinceMs, guess } = choice;
  if (guess) { // the first readings named a wrong room: they were here all along
    choice.room = best;
    return 'moved';
  }
  if (best === choice.last && choice.lastStayMs > 0 && ms - sinceMs <= 2 * delayMs) {
    Object.assign(choice, { room: best, sinceMs: sinceMs - choice.lastStayMs, last: room, lastStayMs: 0 });
    return 'returned';
  }
  // twice the delay: so far back the latest locations are still at hand to be corrected
  const enteredMs = touched ? ms : Math.max(sinceMs, sinceMs + choice.rivalAfterMs - delayMs, ms - 2 * delayMs);
  Object.assign(choice, { room: best, sinceMs: enteredMs, last: room, lastStayMs: enteredMs - sinceMs });
  return 'moved';
}

/**
 * By how much another room must lead in history: the longer somebody stayed, the less likely they leave within the next second
 * (stays are log-normal), and the more often chance had an opportunity to name another room. The mean lead of few seconds is less
 * sure than that of many.
 * @param {{sinceMs: number}} stay @param {number} ms @param {number} seconds with readings, of which the lead is the mean
 * @param {import('./constants').Settings} settings @returns {number} nats
 */
const neededOf = (stay, ms, seconds, settings) => settings.changeNats * (1 + 1 / seconds) + settledOf(stay, ms, settings);

/**
 * By how much it must lead live: history corrects what live says too early, so live waits for less, but for more of who is heard
 * rarely, where it hangs on single readings.
 * @param {{sinceMs: number}} stay @param {number} ms @param {number} gapS mean time between the seconds with readings
 * @param {import('./constants').Settings} settings @returns {number} nats
 */
function neededLiveOf(stay, ms, gapS, settings) {
  const gaps = Math.min(settings.liveGaps, Math.max(1, (gapS * 1000) / settings.windowMs));
  return settings.liveShare * settings.changeNats * gaps + settledOf(stay, ms, settings);
}

/** @param {{sinceMs: number}} stay @param {number} ms @param {import('./constants').Settings} settings @returns {number} nats */
const settledOf = ({ sinceMs }, ms, { settledNats }) => settledNats * Math.log1p(Math.max(0, ms - sinceMs) / 60_000);

/** By how much one room is likelier than another, nats. @param {Float64Array} chances @param {number} room @param {number} other
 * @param {import('./constants').Settings} settings */
const leadOf = (chances, room, other, { least }) => Math.log((chances[room] + least) / (chances[other] + least));

/**
 * How long after a step through a door the new room leads: half a window, and the mean age of what is averaged.
 * @param {import('./constants').Settings} settings @returns {number} milliseconds
 */
const delayOf = ({ windowMs, hearingS }) => Math.round(windowMs / 2 + 1000 * hearingS);

module.exports = { choose, delayOf, leadOf, neededLiveOf, neededOf };
