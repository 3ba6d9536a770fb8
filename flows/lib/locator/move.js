// @ts-check
'use strict';

const { isHere, reportEvent, reportStay } = require('./person');
const { keyOf } = require('./plan');

/**
 * People from one state of the building into the next: whoever is in a room that still exists stays there, and may be where it was
 * thought possible before. Pure.
 * @typedef {import('./parts').Parts} Parts
 * @typedef {import('./person').Person} Person
 */

/**
 * Index in another building of the room that somebody is in.
 * @param {{room: number}} place @param {Parts} from where they are followed @param {Parts} into @returns {number} -1: there is none
 */
function roomIn({ room }, { model: { plan: { rooms } } }, { model: { plan } }) {
  if (room < 0 || rooms === plan.rooms) return room;
  return plan.indexOf.get(keyOf(rooms[room])) ?? -1;
}

/**
 * @param {Person} person @param {Parts} from @param {Parts} into
 * @param {Int32Array} cellOf each cell in the other building, by `linkCells`
 * @param {import('./person').Outcome} outcome
 */
function move(person, from, into, cellOf, outcome) {
  const { rooms } = from.model.plan;
  const staying = from.following.stayingOf(person);
  const room = roomIn(person, from, into);
  const stays = roomIn(staying, from, into);
  if (stays < 0 && staying.room >= 0 && !person.reported) reportStay(staying, person.ms, rooms, outcome);
  if (room < 0 && person.room >= 0) {
    if (isHere(person)) reportEvent(person, 'leave', person.ms, rooms, outcome);
    person.reported = true;
  }
  const [known, sinceMs] = stays < 0 ? [room, person.sinceMs] : [stays, staying.sinceMs];
  const slot = into.open(from.learnedStrengths.of(person.slot), known, sinceMs);
  into.beliefs.restore(slot, from.beliefs.cells(person.slot).flatMap(([cell, probability]) => (
    cellOf[cell] < 0 ? [] : [[cellOf[cell], probability]])));
  const runnerUp = roomIn({ room: person.runnerUp }, from, into);
  Object.assign(person, { room, runnerUp, last: -1, lastStayMs: 0, rival: room, rivalAfterMs: 0, slot });
}

/**
 * The cell of another building where each cell is: the same one, or the nearest of its room.
 * @param {import('./model').Model} from @param {import('./model').Model} into @returns {Int32Array} -1: its room is gone
 */
function linkCells(from, into) {
  const cellOf = new Int32Array(from.cells.all.length).fill(-1);
  const firstIn = firstCells(into.cells);
  const firstFrom = firstCells(from.cells);
  const others = from.plan.rooms.map((room) => into.plan.indexOf.get(keyOf(room)) ?? -1);
  from.cells.room.forEach((r, cell) => {
    if (others[r] < 0) return;
    cellOf[cell] = nearest(from.cells.all[cell], into.cells, firstIn[others[r]], cell - firstFrom[r]);
  });
  return cellOf;
}

/** @param {import('./cells').Cells} cells @returns {number[]} by room */
function firstCells({ room }) {
  /** @type {number[]} */
  const first = [];
  room.forEach((r, cell) => { first[r] ??= cell; });
  return first;
}

/**
 * @param {import('./cells').Cell} place @param {import('./cells').Cells} cells @param {number} first of a room
 * @param {number} likely which of them it is where the room is as it was
 */
function nearest(place, { all, room }, first, likely) {
  const same = first + likely;
  if (room[same] === room[first] && all[same].x === place.x && all[same].y === place.y) return same;
  let best = first;
  let bestM = Infinity;
  for (let cell = first; room[cell] === room[first]; cell += 1) {
    const metres = Math.hypot(all[cell].x - place.x, all[cell].y - place.y);
    if (metres < bestM) [best, bestM] = [cell, metres];
  }
  return best;
}

module.exports = { linkCells, move, roomIn };
