// @ts-check
'use strict';

/**
 * When to believe that somebody changed the room, and since when: a challenger gathers evidence until it has enough. Pure.
 * @typedef {{room: number, sinceMs: number, guess: boolean, sureMs: number, rival: number, nats: number,
 *   rivalMs: number, last: number, doubts: number}} Choice room, rival and last (the room before) are indices, -1 for none;
 *   sinceMs: when the room was entered; guess: it is the first one after nothing was known of them; sureMs: when
 *   the room was last beyond doubt; nats: the rival's evidence; rivalMs: since when it leads; doubts: how often somebody
 *   came back after a moment
 * @typedef {{touched: boolean, still: number, windowMs: number}} Signs touched: a beacon was, on purpose; still: the
 *   probability of standing; windowMs: over which time the readings were taken
 * @typedef {{storey: number, open: boolean}} Place open: part of an open area, without walls
 */

const DOUBTS_AT_MOST = 5;

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
  choice.nats -= doubt(rooms[choice.room], rooms[best], signs.still, tuning);
  if (choice.nats <= 0) {
    choice.rival = -1;
    return false;
  }
  if (choice.nats < needed(choice, best, ms, signs.still, rooms, tuning)) return false;
  const wasS = (choice.rivalMs - choice.sinceMs) / 1000;
  if (best === choice.last && wasS < tuning.backS) choice.doubts = Math.min(DOUBTS_AT_MOST, choice.doubts + 1);
  else if (wasS > 5 * tuning.backS) choice.doubts = 0;
  return move(choice, best, changedMs(choice, ms, signs.windowMs, tuning), ms);
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

/** By how much a challenger must lead to gain, in nats. @param {Place} from @param {Place} to @param {number} still
 * @param {import('./tuning').Tuning} tuning */
const doubt = (from, to, still, { doubtNats, walkNats }) => (from.open && to.open ? doubtNats : walkNats + still * (doubtNats - walkNats));

/**
 * Evidence for a change to `best`, in nats.
 * @param {Choice} choice @param {number} best @param {number} ms @param {number} still @param {Place[]} rooms
 * @param {import('./tuning').Tuning} tuning
 */
function needed({ room, sinceMs, doubts }, best, ms, still, rooms, { winNats, stickyNats, stickyS, backNats, levelNats }) {
  const stayedS = Math.max(0, ms - sinceMs) / 1000;
  const level = rooms[best].storey === rooms[room].storey ? 0 : levelNats;
  return winNats + level + still * (stickyNats * Math.log1p(stayedS / stickyS) + backNats * doubts);
}

/** @param {Choice} choice @param {number} room @param {number} sinceMs @param {number} ms */
function move(choice, room, sinceMs, ms) {
  Object.assign(choice, { last: choice.room, room, sinceMs, sureMs: ms, rival: -1, nats: 0 });
  return true;
}

module.exports = { choose, settling };
