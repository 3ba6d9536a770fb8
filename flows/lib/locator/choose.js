// @ts-check
'use strict';

/**
 * When to believe that somebody changed the room, and since when: a challenger gathers evidence until it has enough. Pure.
 * @typedef {{room: number, sinceMs: number, guess: boolean, sureMs: number, rival: number, nats: number,
 *   rivalMs: number, last: number, doubts: number}} Choice room, rival and last (the room before) are indices, -1 for none;
 *   sinceMs: when the room was entered; guess: it is the first one after nothing was known of them; sureMs: when
 *   the room was last beyond doubt; nats: the rival's evidence; rivalMs: since when it leads; doubts: how often somebody
 *   changed the room who seemed to stand
 * @typedef {{touched: boolean, stood: number, windowMs: number}} Signs touched: a beacon was, on purpose; stood: how surely
 *   they did not walk of late, 0 to 1; windowMs: over which time the readings were taken
 * @typedef {{storey: number, open: boolean}} Place open: part of an open area, without walls
 */

/**
 * @param {Choice} choice is updated
 * @param {Float64Array} chances of each room
 * @param {number} best the likeliest room
 * @param {number} ms event time
 * @param {Signs} signs
 * @param {Place[]} rooms
 * @param {import('./tuning').Tuning} tuning
 * @returns {boolean} whether the room changed; then sinceMs is since when
 */
function choose(choice, chances, best, ms, signs, rooms, tuning) {
  if (choice.room < 0) {
    choice.guess = true;
    choice.doubts = tuning.firstDoubts;
    return move(choice, best, ms, ms);
  }
  if (chances[choice.room] >= tuning.sureShare) choice.sureMs = ms;
  if (best === choice.room) {
    choice.rival = -1;
    return false;
  }
  if (signs.touched) {
    choice.guess = false;
    return move(choice, best, ms, ms);
  }
  if (best !== choice.rival) Object.assign(choice, { rival: best, nats: 0, rivalMs: ms });
  choice.nats += Math.log((chances[best] + tuning.least) / (chances[choice.room] + tuning.least));
  choice.nats -= doubt(rooms[choice.room], rooms[best], signs.stood, tuning);
  if (choice.nats <= 0) {
    choice.rival = -1;
    return false;
  }
  if (choice.nats < needed(choice, best, ms, signs.stood, rooms, tuning)) return false;
  choice.doubts = doubtsAfter(choice, best, ms, signs.stood, tuning);
  const sinceMs = changedMs(choice, ms, signs.windowMs, tuning);
  return move(choice, best, sinceMs, choice.guess ? sinceMs : ms); // a guess that is corrected is not beyond doubt yet
}

/** Whether somebody appeared so short a time ago that their first room was a guess. @param {Choice} choice @param {number} ms
 * @param {import('./tuning').Tuning} tuning */
const settling = ({ guess, sinceMs }, ms, { settleMs }) => guess && ms - sinceMs <= settleMs;

/**
 * When the change happened: before the new room began to lead, since that took evidence; after the old one was beyond doubt
 * (the estimate of a change point by cumulative sums: Page, "Continuous Inspection Schemes", Biometrika 41, 1954).
 * @param {Choice} choice @param {number} ms @param {number} windowMs @param {import('./tuning').Tuning} tuning
 */
function changedMs(choice, ms, windowMs, tuning) {
  const { sinceMs, sureMs, rivalMs } = choice;
  if (settling(choice, ms, tuning)) return sinceMs;
  choice.guess = false;
  const doubtMs = rivalMs - Math.max(sureMs, rivalMs - tuning.lookBackMs);
  return Math.round(Math.max(sinceMs, rivalMs - doubtMs * tuning.dateShare - windowMs / 2));
}

/** @param {Place} from @param {Place} to */
const areOpen = (from, to) => from.open && to.open;

/** By how much a challenger must lead to gain, in nats. @param {Place} from @param {Place} to @param {number} stood
 * @param {import('./tuning').Tuning} tuning */
const doubt = (from, to, stood, { doubtNats, walkNats }) => (areOpen(from, to) ? doubtNats : walkNats + stood * (doubtNats - walkNats));

/** Whether the first room was never beyond doubt as yet. @param {Choice} choice */
const isUnsure = ({ guess, sinceMs, sureMs }) => guess && sureMs <= sinceMs;

/** Doubts that count. @param {Choice} choice @param {number} ms @param {import('./tuning').Tuning} tuning */
const doubtsAt = (choice, ms, { doubtMs }) => (isUnsure(choice) || ms - choice.sinceMs >= doubtMs ? 0 : choice.doubts);

/**
 * Whoever comes back after a moment, or without having walked, was never away: two rooms are hard to tell apart from where
 * they stand. Another room than the last one tells of a walk.
 * @param {Choice} choice @param {number} best @param {number} ms @param {number} stood @param {import('./tuning').Tuning} tuning
 */
function doubtsAfter(choice, best, ms, stood, tuning) {
  if (isUnsure(choice)) return choice.doubts;
  const doubts = doubtsAt(choice, ms, tuning);
  if (best !== choice.last) return doubts * tuning.doubtsKept;
  const soon = choice.rivalMs - choice.sinceMs < tuning.backMs;
  return Math.min(tuning.doubtsAtMost, doubts + (soon ? 1 : stood * stood));
}

/**
 * Evidence for a change to `best`, in nats.
 * @param {Choice} choice @param {number} best @param {number} ms @param {number} stood @param {Place[]} rooms
 * @param {import('./tuning').Tuning} tuning
 */
function needed(choice, best, ms, stood, rooms, tuning) {
  const { winNats, openNats, stickyNats, stickyS, backNats, levelNats } = tuning;
  const [from, to] = [rooms[choice.room], rooms[best]];
  const stayedS = Math.max(0, ms - choice.sinceMs) / 1000;
  const sticky = stickyNats * Math.log1p(stayedS / stickyS);
  if (areOpen(from, to)) return openNats + stood * sticky;
  const level = from.storey === to.storey ? 0 : levelNats;
  return winNats + level + stood * (sticky + backNats * doubtsAt(choice, ms, tuning));
}

/** @param {Choice} choice @param {number} room @param {number} sinceMs @param {number} sureMs */
function move(choice, room, sinceMs, sureMs) {
  Object.assign(choice, { last: choice.room, room, sinceMs, sureMs, rival: -1, nats: 0 });
  return true;
}

module.exports = { choose, settling };
