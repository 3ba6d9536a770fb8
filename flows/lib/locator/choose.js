// @ts-check
'use strict';

/**
 * When to say that somebody changed the room, and since when. Pure.
 * @typedef {{room: number, sinceMs: number, guess: boolean, last: number, lastSinceMs: number}} Choice room and last (the room
 *   before) are indices, -1 for none; sinceMs, lastSinceMs: when each was entered; guess: it is the first room after nothing
 *   was known of them, so short a time ago that it may have been wrong
 * @typedef {'none'|'moved'|'returned'} Change returned: they are back before they can have been away
 */

/**
 * @param {Choice} choice is updated
 * @param {Float64Array} chances of each room
 * @param {number} best the likeliest room
 * @param {number} ms event time
 * @param {boolean} touched whether a beacon was touched on purpose
 * @param {import('./constants').Settings} settings
 * @returns {Change} whether the room changed; then sinceMs is since when
 */
function choose(choice, chances, best, ms, touched, settings) {
  const delayMs = delayOf(settings);
  if (choice.guess && ms - choice.sinceMs > 2 * delayMs) choice.guess = false;
  if (choice.room < 0) {
    Object.assign(choice, { room: best, sinceMs: ms, guess: true, last: -1, lastSinceMs: ms });
    return 'moved';
  }
  if (best === choice.room) return 'none';
  if (!touched && leadOf(chances, best, choice.room, settings) <= settings.changeNats) return 'none';
  const { room, sinceMs, guess } = choice;
  if (guess) { // the first readings named a wrong room: they were here all along
    choice.room = best;
    return 'moved';
  }
  if (best === choice.last && ms - sinceMs <= 2 * delayMs) {
    Object.assign(choice, { room: best, sinceMs: choice.lastSinceMs, last: room, lastSinceMs: sinceMs });
    return 'returned';
  }
  const enteredMs = touched ? ms : Math.max(sinceMs, ms - delayMs);
  Object.assign(choice, { room: best, sinceMs: enteredMs, last: room, lastSinceMs: sinceMs });
  return 'moved';
}

/** By how much one room is likelier than another, nats. @param {Float64Array} chances @param {number} room @param {number} other
 * @param {import('./constants').Settings} settings */
const leadOf = (chances, room, other, { least }) => Math.log((chances[room] + least) / (chances[other] + least));

/**
 * How long after a step through a door the belief follows: half a window, the mean age of what is averaged, and until half
 * of the evidence is from behind the door.
 * @param {import('./constants').Settings} settings @returns {number} milliseconds
 */
const delayOf = ({ windowMs, hearingS, memoryS }) => Math.round(windowMs / 2 + 1000 * (hearingS + memoryS * Math.LN2));

module.exports = { choose, delayOf, leadOf };
