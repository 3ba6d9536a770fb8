// @ts-check
'use strict';

const { isProbable } = require('../shared/probable');
const { Belief } = require('./belief');
const { Decisions } = require('./decisions');
const { isHere, presenceOf, reportEvent, stateAt } = require('./person');
const { newOdds, shareOf } = require('./trellis');

/**
 * What readings and the passing of time do to one person, and what is said of it: locations, presences, events, stays.
 * @typedef {import('./person').Person} Person
 * @typedef {import('../locator').Outcome} Outcome
 * @typedef {import('./hearing').Heard} Heard
 * @typedef {import('./settings').Settings} Settings
 * @typedef {'none'|'moved'|'returned'} Change returned: the room shown until now was a mistake
 */
class Following {
  /**
   * @param {import('./model').Model} model @param {Settings} settings @param {import('./around').Around} around
   * @param {import('./trace').Sampling} sampling @param {import('./person').Memory} memory
   */
  constructor(model, settings, around, sampling, memory) {
    this.model = model;
    this.sampling = sampling;
    this.settings = settings;
    this.belief = new Belief(model, settings, around, memory);
    this.decisions = new Decisions(model, settings);
    this.odds = newOdds();
    this.tagIds = [...model.numbers.tags.keys()];
  }

  /**
   * Takes what was heard of a person at one moment.
   * @param {Person} person @param {number} heardMs event time @param {Heard} heard @param {number} nowMs @param {Outcome} outcome
   */
  take(person, heardMs, heard, nowMs, outcome) {
    const { settings, model } = this;
    const ms = Math.max(person.ms, heardMs); // a clock a little behind does not turn time back
    const touched = isTouch(person, heard, settings);
    if (person.room >= 0 && ms - person.ms > settings.lostMs) this.decisions.part(person, outcome);
    if (touched) this.decisions.finish(person, outcome);
    const devices = this.learn(person, ms, heard, touched, nowMs);
    const { trellis } = person;
    const { room, sinceMs } = person;
    const change = choose(person, trellis, ms, touched, settings);
    if (person.room < 0) return; // heard by devices that stand in no room
    const state = stateAt(nowMs - ms, settings);
    const isUnseen = !isHere(person) && state !== 'lost';
    if (change !== 'none' && room >= 0 && !(isUnseen && person.guess)) {
      reportEvent({ id: person.id, room, sinceMs }, 'leave', change === 'returned' ? ms : person.sinceMs, model, outcome);
    }
    person.ms = ms;
    person.reported = false;
    this.judge(person, trellis);
    this.reportLocation(person, change !== 'none', heard, outcome);
    if (!isUnseen || touched || !isUnclear(person, devices, heard.kind, settings)) this.report(person, change, isUnseen, state, outcome);
  }

  /**
   * What is new of a person for others.
   * @param {Person} person @param {Change} change @param {boolean} isUnseen whether it was not reported that they are there
   * @param {import('./person').State} state @param {Outcome} outcome
   */
  report(person, change, isUnseen, state, outcome) {
    const moved = change !== 'none';
    if (moved || isUnseen) {
      reportEvent(person, 'enter', change === 'moved' || person.guess ? person.sinceMs : person.ms, this.model, outcome);
    }
    if (person.state !== state || moved || this.crosses(person)) this.reportPresence(person, state, outcome);
  }

  /**
   * @param {Person} person @param {number} ms @param {Heard} heard @param {boolean} touched @param {number} nowMs
   * @returns {number} by how many devices they are located
   */
  learn(person, ms, heard, touched, nowMs) {
    const { belief, sampling } = this;
    const isNewSecond = person.newestS !== Math.floor(ms / 1000);
    const learns = sampling.includes(person, nowMs);
    const devices = belief.believe(person, ms, heard, touched, learns);
    if (learns && isNewSecond) sampling.take(person, ms, belief);
    return devices;
  }

  /** How likely the room is, and which one comes next. @param {Person} person @param {import('./trellis').Trellis} trellis */
  judge(person, trellis) {
    const { odds, settings } = this;
    trellis.odds(settings, odds);
    person.probability = shareOf(trellis.scoreOf(person.room), odds, settings);
    person.runnerUp = odds.room === person.room ? odds.other : odds.room;
  }

  /** Whether a presence would say otherwise how likely it is, and may. @param {Person} person */
  crosses({ probability, saidLikely, saidMs, ms }) {
    return !isProbable(probability) !== saidLikely && ms - saidMs >= this.settings.sayAgainMs;
  }

  /**
   * One location a second, and again when the room changed within it.
   * @param {Person} person @param {boolean} moved @param {Heard} heard @param {Outcome} outcome
   */
  reportLocation(person, moved, { size, sources, raw, tag }, outcome) {
    const { ms, room, seconds, newestS } = person;
    const second = Math.floor(ms / 1000);
    if (newestS === second && !moved) return;
    const { sources: known } = this.model;
    let from = 0; // the strongest that stands there, else of all
    while (from < size && known[sources[from]]?.room !== room) from += 1;
    if (from === size) from = 0;
    const beacon = tag >= 0 ? this.tagIds[tag] : known[sources[from]]?.id ?? '';
    const location = { second, beacon, rssi: Math.round(raw[from]), room };
    if (newestS === second) seconds[seconds.length - 1] = location;
    else {
      if (person.stay.room < 0 && seconds.length === 0) person.stay.sinceMs = ms;
      seconds.push(location);
      person.newestS = second;
      while (seconds[0].second + this.settings.lookaheadS < second) this.decisions.decide(person, outcome);
    }
    outcome.locations.push(this.decisions.locationOf(person, location, room, person.probability, person.runnerUp));
  }

  /** @param {Person} person @param {import('./person').State} state @param {Outcome} outcome */
  reportPresence(person, state, outcome) {
    const unseen = !isHere(person);
    person.state = state;
    // a drained backlog moves a lost person's history, which nobody watches live
    if (unseen && state === 'lost') return;
    person.saidLikely = !isProbable(person.probability);
    person.saidMs = person.ms;
    outcome.presences.push(presenceOf(person, this.model));
  }

  /**
   * Nothing was heard of a person up to now.
   * @param {Person} person @param {number} arrivedMs when anything of them arrived @param {number} nowMs @param {Outcome} outcome
   */
  age(person, arrivedMs, nowMs, outcome) {
    const { settings, model } = this;
    const state = stateAt(nowMs - person.ms, settings);
    if (state === 'lost' && !person.reported && nowMs - arrivedMs > settings.lateMs) this.decisions.rest(person, outcome);
    if (person.room < 0 || state === person.state) return;
    const unseen = !isHere(person); // a tag that was heard only once as yet
    if (unseen ? nowMs - person.ms < settings.arriveMs : state === 'present') return;
    if (unseen && state !== 'lost') reportEvent(person, 'enter', person.sinceMs, model, outcome);
    this.reportPresence(person, state, outcome);
    if (!unseen && state === 'lost') reportEvent(person, 'lost', person.ms + settings.lostMs, model, outcome);
  }
}

/**
 * Whether a phone was held to a beacon, or a tag to a gateway, on purpose.
 * @param {Person} person @param {Heard} heard @param {Settings} settings
 */
function isTouch({ hearing: { usualDbm } }, { kind, size, raw }, { touchDbm, touchAboveDb }) {
  if (!(raw[0] >= touchDbm)) return false;
  const elseDbm = kind === 'gateway' ? usualDbm : size > 1 ? raw[1] : NaN; // of gateways only some have reported yet
  return !(raw[0] < elseDbm + touchAboveDb);
}

/**
 * The first readings may name a wrong room: gateways report a tag one after the other. Who was lost and is back does not wait.
 * @param {Person} person @param {number} devices by how many they are located @param {Heard['kind']} kind @param {Settings} settings
 */
function isUnclear({ guess, state, ms, sinceMs, probability }, devices, kind, { arriveMs, sureDevices, sureShare }) {
  const isClear = devices >= sureDevices && probability >= sureShare[kind];
  return guess && !isClear && state !== 'lost' && ms - sinceMs < arriveMs;
}

/**
 * Where somebody is live: they stay until another room is ahead.
 * @param {Person} person is updated @param {import('./trellis').Trellis} trellis @param {number} ms event time
 * @param {boolean} touched whether a beacon was touched on purpose @param {Settings} settings
 * @returns {Change}
 */
function choose(person, trellis, ms, touched, { arriveMs, lookaheadS }) {
  const best = trellis.best();
  if (best < 0) return 'none';
  if (person.guess && ms - person.sinceMs > arriveMs) person.guess = false;
  if (person.room < 0) {
    Object.assign(person, { room: best, sinceMs: ms, guess: true });
    return 'moved';
  }
  if (trellis.scoreOf(person.room) >= 0) return 'none';
  const enteredMs = trellis.enteredMsOf(best);
  const isReturn = !touched && !person.guess && enteredMs < person.sinceMs;
  person.room = best;
  if (person.guess) return 'moved'; // the first readings named a wrong room: they were here all along
  // so far back the latest locations are still at hand to be corrected
  person.sinceMs = touched ? ms : isReturn ? enteredMs : Math.max(enteredMs, ms - 1000 * lookaheadS);
  return isReturn ? 'returned' : 'moved';
}

module.exports = { Following };
