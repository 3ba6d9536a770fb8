// @ts-check
'use strict';

const { isHere, presenceOf, reportEvent, reportStay, surenessOf } = require('./person');
const { newOdds, shareOf } = require('./trellis');

/**
 * History: the room of each second, decided by the way through the trellis that is best some seconds later, and the stays that follow.
 * @typedef {import('./person').Person} Person
 * @typedef {import('../locator').Outcome} Outcome
 */
class Decisions {
  /** @param {import('./model').Model} model @param {import('./settings').Settings} settings */
  constructor(model, settings) {
    this.model = model;
    this.settings = settings;
    this.odds = newOdds();
  }

  /**
   * @param {Person} person @param {{second: number, beacon: string, rssi: number}} heard @param {number} room
   * @param {number} probability @param {number} other
   */
  locationOf({ id }, { second, beacon, rssi }, room, probability, other) {
    const { level, id: where } = /** @type {import('./model').Room} */ (this.model.rooms[room]);
    const { probability: share, runner_up: runnerUp } = surenessOf(probability, other, this.model);
    return { ts: second * 1000, staff_id: id, level, room: where, beacon, rssi, probability: share, runner_up: runnerUp };
  }

  /** Decides the oldest second, by the way that is best now. @param {Person} person @param {Outcome} outcome */
  decide(person, outcome) {
    const { settings, model, odds } = this;
    const { seconds, stay, trellis, newestS } = person;
    const [oldest] = seconds;
    const shownS = oldest.second + LATE_S;
    trellis.odds(settings, odds, shownS, newestS);
    const { room } = odds;
    const enteredMs = oldest.second * 1000;
    if (room !== oldest.room) {
      const location = this.locationOf(person, oldest, room, shareOf(odds.score, odds, settings), odds.other);
      outcome.locations.push({ ...location, corrected: true });
    }
    seconds.shift();
    if (seconds.length === 0) person.newestS = -1;
    const leaves = stay.room >= 0 && room !== stay.room;
    const agrees = room === person.room && person.sinceMs < enteredMs + 1000;
    if (leaves) {
      const before = { id: person.id, ...stay };
      stay.sinceMs = agrees && Math.abs(person.sinceMs - enteredMs) < 1000 ? person.sinceMs : enteredMs; // live knows it to the millisecond
      reportStay(before, stay.sinceMs, model, outcome);
      person.first = false;
    }
    stay.room = room;
    if (!agrees || person.sinceMs === stay.sinceMs) return;
    person.sinceMs = stay.sinceMs;
    if (isHere(person)) outcome.presences.push(presenceOf(person, model));
  }

  /** Nothing more is to be heard for now: what is open of history is decided. @param {Person} person @param {Outcome} outcome */
  finish(person, outcome) {
    while (person.seconds.length > 0) this.decide(person, outcome);
  }

  /** Nothing was heard for too long: the stay ended with the last reading. @param {Person} person @param {Outcome} outcome */
  part(person, outcome) {
    this.finish(person, outcome);
    if (!person.reported) reportStay({ id: person.id, ...person.stay }, person.ms, this.model, outcome);
    if (isHere(person)) reportEvent(person, 'lost', person.ms + this.settings.lostMs, this.model, outcome);
    for (const trellis of person.trellises) trellis.reset(0);
    Object.assign(person, { room: -1, state: 'lost', first: false, stay: { room: -1, sinceMs: 0 } });
  }

  /**
   * The stay is kept open: should a backlog show that it went on, it is sent again with its true end.
   * @param {Person} person @param {Outcome} outcome
   */
  rest(person, outcome) {
    this.finish(person, outcome);
    reportStay({ id: person.id, ...person.stay }, person.ms, this.model, outcome);
    person.reported = true;
  }

  /**
   * Some rooms are no more: who is there has left.
   * @param {Person} person @param {(room: number) => boolean} isGone @param {Outcome} outcome
   */
  leave(person, isGone, outcome) {
    const { model, settings } = this;
    this.finish(person, outcome);
    const { room, sinceMs, stay, ms } = person;
    if (isGone(stay.room) && !person.reported) reportStay({ id: person.id, ...stay }, ms, model, outcome);
    if (isGone(room) && isHere(person)) reportEvent(person, 'leave', ms, model, outcome);
    const known = isGone(stay.room) ? { room, sinceMs } : stay;
    person.stay = isGone(known.room) ? { room: -1, sinceMs: 0 } : { ...known };
    person.advice = null;
    person.runnerUp = -1;
    if (!isGone(room)) {
      for (const trellis of person.trellises) trellis.drop(isGone);
      return;
    }
    Object.assign(person, { room: person.stay.room, state: 'new', reported: true, guess: false });
    for (const trellis of person.trellises) trellis.reset(ms, person.room, settings.changeDb);
  }
}

/** Whether any of these rooms is among what is known of somebody. @param {Person} person @param {(room: number) => boolean} isAny */
const knowsAny = ({ room, stay, seconds, trellises }, isAny) => isAny(room) || isAny(stay.room)
  || seconds.some((one) => isAny(one.room)) || trellises.some((trellis) => trellis.rooms().some(isAny));

const LATE_S = 1; // levels follow a step through a door about so much later

module.exports = { Decisions, knowsAny };
