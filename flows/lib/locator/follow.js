// @ts-check
'use strict';

const { SILENT_DBM } = require('./settings');
const { isHere, presenceOf, reportEvent, reportStay, roomId, rounded, stateAt, whoWhere } = require('./person');
const { createAdviser } = require('./advice');
const { isDeaf } = require('./model');
const { Trellis, newOdds, shareOf } = require('./trellis');

/**
 * What readings and the passing of time do to one person: levels, then the trellis, then what is said of it.
 * @typedef {import('./person').Person} Person
 * @typedef {import('../locator').Outcome} Outcome
 * @typedef {import('./sightings').Heard} Heard
 * @typedef {import('./settings').Settings} Settings
 * @typedef {{kind: 'phone'|'gateway', rooms: number[], levels: Float64Array, topDbm: number, floorDbm: number}} Evidence kind: what they are heard by;
 *   levels: dBm by room, NaN: not known
 * @typedef {{isOut: (source: number) => boolean, at: (ms: number) => import('./learned').Known,
 *   sampling: import('./samples').Sampling}} Around isOut: what is known of gateways; at: what was learned of
 *   devices, and where the plan speaks; sampling: who learns
 */
class Following {
  /** @param {import('./model').Model} model @param {Settings} settings @param {Around} around */
  constructor(model, settings, around) {
    this.model = model;
    this.settings = settings;
    this.around = around;
    this.adviser = model.plan && createAdviser(model, model.plan, settings);
    /** @type {Evidence} */
    this.evidence = { kind: 'phone', rooms: [], levels: new Float64Array(model.rooms.length).fill(NaN), topDbm: 0, floorDbm: SILENT_DBM };
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
    const touched = heard.raw[0] >= settings.touchDbm;
    if (person.room >= 0 && ms - person.ms > settings.lostMs) this.part(person, outcome);
    if (touched) this.finish(person, outcome);
    const isNewSecond = person.seconds.at(-1)?.second !== Math.floor(ms / 1000);
    const learns = this.around.sampling.includes(person, nowMs);
    const devices = this.believe(person, ms, heard, touched, learns);
    if (learns && isNewSecond) this.around.sampling.take(person, ms, this);
    const trellis = person.trellises[person.isAdvised ? 1 : 0];
    const before = { id: person.id, room: person.room, sinceMs: person.sinceMs };
    const change = choose(person, trellis, ms, touched, settings);
    if (person.room < 0) return; // heard by devices that stand in no room
    const state = stateAt(nowMs - ms, settings);
    const arriving = !isHere(person) && state !== 'lost';
    const moved = change !== 'none';
    const wasGuess = before.room >= 0 && person.guess;
    if (moved && before.room >= 0 && !(arriving && wasGuess)) reportEvent(before, 'leave', change === 'returned' ? ms : person.sinceMs, model, outcome);
    person.ms = ms;
    person.reported = false;
    trellis.odds(false, NOTHING, settings, this.odds);
    person.probability = shareOf(trellis.scoreOf(person.room), this.odds, settings);
    person.runnerUp = this.odds.room === person.room ? this.odds.other : this.odds.room;
    this.reportLocation(person, moved, heard, outcome);
    const sure = touched || (devices >= settings.sureDevices && person.probability >= settings.sureShare[heard.kind]);
    if (arriving && !sure && this.isEarly(person)) return;
    if (moved || arriving) reportEvent(person, 'enter', change === 'moved' || person.guess ? person.sinceMs : ms, model, outcome);
    if (person.state !== state || moved || this.crosses(person)) this.reportPresence(person, state, outcome);
  }

  /** Whether a presence would say otherwise how likely it is, and may. @param {Person} person */
  crosses({ probability, saidLikely, saidMs, ms }) {
    return probability >= this.settings.likelyShare !== saidLikely && ms - saidMs >= this.settings.sayAgainMs;
  }

  /**
   * The plan advises where it has shown its worth, and those who are learned from. Where it begins to speak it begins with what the rule knows,
   * so that it does not matter who was learned from.
   * @param {Person} person @param {number} ms @param {boolean} learns
   */
  ask(person, ms, learns) {
    const { trellises } = person;
    const [rule] = trellises;
    const best = rule.best();
    const speaks = best >= 0 && this.around.at(ms).plan.has(this.model.rooms[rule.rooms[best]]?.level ?? '');
    if (speaks ? !person.isAdvised : learns && trellises.length === 1) trellises[1] = new Trellis().copy(rule);
    else if (!speaks && !learns) trellises.length = 1;
    person.isAdvised = speaks;
  }

  /**
   * @param {Person} person @param {number} ms @param {Heard} heard @param {boolean} touched @param {boolean} learns whether it is learned from
   * @returns {number} by how many devices they are located
   */
  believe(person, ms, { kind, sources, rssis }, touched, learns) {
    const { settings, evidence, adviser } = this;
    const { hearing, trellises } = person;
    const isNew = person.ms === -Infinity || trellises[0].rooms.length === 0;
    const scans = person.ms === -Infinity ? (kind === 'phone' ? 1 : settings.tickMs / 1000) : Math.min(1, (ms - person.ms) / 1000);
    const second = Math.floor(ms / 1000);
    const last = person.seconds.at(-1);
    if (last && second > last.second) last.changes = trellises.map((trellis) => trellis.endSecond());
    if (touched) hearing.forget(Infinity); // what was heard elsewhere counts no more
    hearing.add(sources, rssis, ms, scans, settings);
    evidence.kind = kind;
    const devices = this.weigh(person, ms);
    if (isNew || touched) {
      const room = touched ? this.model.sources[sources[0]]?.room ?? -1 : -1;
      for (const trellis of trellises) trellis.reset(ms, room, settings.changeDb);
    }
    const counted = scans / hearing.period;
    if (adviser !== null) this.ask(person, ms, learns);
    trellises[0].step(evidence, counted, ms, person.room, settings);
    if (adviser !== null && trellises.length > 1) {
      adviser.apply(person, ms, second, this, evidence);
      trellises[1].step(evidence, counted, ms, person.room, settings);
    }
    for (const room of evidence.rooms) evidence.levels[room] = NaN;
    return devices;
  }

  /**
   * The level of each room: that of its loudest device.
   * @param {Person} person @param {number} ms @returns {number} how many devices are heard
   */
  weigh({ hearing, room: present }, ms) {
    const { evidence, settings, model, around } = this;
    const { sources, rooms } = model;
    const { silent } = around.at(ms);
    const { sources: heard } = hearing;
    let devices = 0;
    let loudest = -1;
    evidence.rooms.length = 0;
    evidence.topDbm = -Infinity;
    for (let k = 0; k < heard.length; k += 1) {
      const source = sources[heard[k]];
      if (source === undefined || source.room < 0 || around.isOut(source.number)) continue;
      const worth = hearing.worth(k, ms, source.graceS, settings);
      if (worth < LEAST_WORTH) continue;
      devices += 1;
      const dbm = hearing.levelOf(k, worth, settings);
      this.raise(source.room, dbm);
      if (loudest < 0 || dbm > evidence.topDbm) loudest = source.number;
      if (dbm > evidence.topDbm) evidence.topDbm = dbm;
    }
    const unheardDbm = hearing.usualDbm - settings.unheardDb;
    if (loudest >= 0) for (const room of sources[loudest]?.covers ?? NOTHING) this.raise(room, unheardDbm);
    // a room whose devices are dead does not say that nobody is there
    if (rooms[present]?.devices[evidence.kind].length && isDeaf(rooms[present], evidence.kind, silent, around.isOut)) this.raise(present, unheardDbm);
    return devices;
  }

  /** A room is at least so loud. @param {number} room @param {number} dbm */
  raise(room, dbm) {
    const { rooms, levels } = this.evidence;
    if (levels[room] !== levels[room]) {
      rooms.push(room);
      levels[room] = dbm;
    } else if (dbm > levels[room]) levels[room] = dbm;
  }

  /**
   * One location a second, and again when the room changed within it.
   * @param {Person} person @param {boolean} moved @param {Heard} heard @param {Outcome} outcome
   */
  reportLocation(person, moved, { sources, raw, tag }, outcome) {
    const { ms, room, seconds } = person;
    const second = Math.floor(ms / 1000);
    const last = seconds.at(-1);
    if (last?.second === second && !moved) return;
    const { sources: known } = this.model;
    const from = Math.max(0, sources.findIndex((source) => known[source]?.room === room));
    const location = { second, beacon: tag >= 0 ? this.tagIds[tag] : known[sources[from]]?.id ?? '', rssi: Math.round(raw[from]), room, changes: NOTHING };
    if (last?.second === second) seconds[seconds.length - 1] = location;
    else {
      if (person.stay.room < 0 && seconds.length === 0) person.stay.sinceMs = ms;
      seconds.push(location);
      while (seconds[0].second + this.settings.lookaheadS < second) this.decide(person, outcome);
    }
    outcome.locations.push(this.locationOf(person, location, room, person.probability, person.runnerUp));
  }

  /**
   * @param {Person} person @param {{second: number, beacon: string, rssi: number}} heard @param {number} room
   * @param {number} probability @param {number} other
   */
  locationOf({ id }, { second, beacon, rssi }, room, probability, other) {
    return { ts: second * 1000, ...whoWhere({ id, room }, this.model), beacon, rssi, probability: rounded(probability), runner_up: roomId(other, this.model) };
  }

  /** Decides the oldest second, by the way that is best now. @param {Person} person @param {Outcome} outcome */
  decide(person, outcome) {
    const { settings, model, odds } = this;
    const { seconds, stay } = person;
    const which = person.isAdvised ? 1 : 0;
    const [oldest] = seconds;
    const shownS = oldest.second + LATE_S;
    const changes = seconds.slice(1, -1).filter(({ second }) => second > shownS).map(({ changes: [rule, advised = rule] }) => (which ? advised : rule)).reverse();
    person.trellises[which].odds(/** @type {import('./person').Second} */ (seconds.at(-1)).second > shownS, changes, settings, odds);
    seconds.shift();
    const { room } = odds;
    const enteredMs = oldest.second * 1000;
    if (room !== oldest.room) {
      const location = this.locationOf(person, oldest, room, shareOf(odds.score, odds, settings), odds.other);
      outcome.locations.push({ ...location, corrected: true });
    }
    const before = { id: person.id, ...stay };
    const leaves = before.room >= 0 && room !== before.room;
    stay.room = room;
    if (leaves) stay.sinceMs = enteredMs;
    const agrees = room === person.room && person.sinceMs < enteredMs + 1000;
    if (agrees && leaves && Math.abs(person.sinceMs - enteredMs) < 1000) stay.sinceMs = person.sinceMs; // live knows it to the millisecond
    if (leaves) {
      reportStay(before, stay.sinceMs, model, outcome);
      person.first = false;
    }
    if (!agrees || person.sinceMs === stay.sinceMs) return;
    person.sinceMs = stay.sinceMs;
    if (isHere(person)) outcome.presences.push(presenceOf(person, model));
  }

  /** Nothing more is to be heard for now: what is open of history is decided. @param {Person} person @param {Outcome} outcome */
  finish(person, outcome) {
    while (person.seconds.length > 0) this.decide(person, outcome);
  }

  /** @param {Person} person @param {import('./person').State} state @param {Outcome} outcome */
  reportPresence(person, state, outcome) {
    const unseen = !isHere(person);
    person.state = state;
    // a drained backlog moves a lost person's history, which nobody watches live
    if (unseen && state === 'lost') return;
    person.saidLikely = person.probability >= this.settings.likelyShare;
    person.saidMs = person.ms;
    outcome.presences.push(presenceOf(person, this.model));
  }

  /**
   * The first readings may name a wrong room: gateways report a tag one after the other. Who was lost and is back does not wait.
   * @param {Person} person
   */
  isEarly({ guess, state, ms, sinceMs }) {
    return guess && state !== 'lost' && ms - sinceMs < this.settings.arriveMs;
  }

  /** Nothing was heard for too long: the stay ended with the last reading. @param {Person} person @param {Outcome} outcome */
  part(person, outcome) {
    this.finish(person, outcome);
    if (!person.reported) reportStay({ id: person.id, ...person.stay }, person.ms, this.model, outcome);
    if (isHere(person)) reportEvent(person, 'lost', person.ms + this.settings.lostMs, this.model, outcome);
    for (const trellis of person.trellises) trellis.reset(0);
    Object.assign(person, { room: -1, state: 'lost', first: false, stay: { room: -1, sinceMs: 0 } });
  }

  /** Nothing was heard of a person up to now. @param {Person} person @param {number} nowMs @param {Outcome} outcome */
  age(person, nowMs, outcome) {
    const { settings, model } = this;
    const state = stateAt(nowMs - person.ms, settings);
    if (state === 'lost' && !person.reported && nowMs - person.heardS * 1000 > settings.lateMs) this.rest(person, outcome);
    if (person.room < 0 || state === person.state) return;
    const unseen = !isHere(person); // a tag that was heard only once as yet
    if (unseen ? nowMs - person.ms < settings.arriveMs : state === 'present') return;
    if (unseen && state !== 'lost') reportEvent(person, 'enter', person.sinceMs, model, outcome);
    this.reportPresence(person, state, outcome);
    if (!unseen && state === 'lost') reportEvent(person, 'lost', person.ms + settings.lostMs, model, outcome);
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
}

/**
 * Where somebody is live: they stay until another room is ahead.
 * @param {Person} person is updated @param {import('./trellis').Trellis} trellis @param {number} ms event time
 * @param {boolean} touched whether a beacon was touched on purpose @param {Settings} settings
 * @returns {'none'|'moved'|'returned'} returned: the room shown until now was a mistake
 */
function choose(person, trellis, ms, touched, { arriveMs, lookaheadS }) {
  const best = trellis.best();
  if (best < 0) return 'none';
  if (person.guess && ms - person.sinceMs > arriveMs) person.guess = false;
  if (person.room < 0) {
    Object.assign(person, { room: trellis.rooms[best], sinceMs: ms, guess: true });
    return 'moved';
  }
  if (trellis.scoreOf(person.room) >= 0) return 'none';
  const enteredMs = trellis.enteredMs[best];
  const isReturn = !touched && !person.guess && enteredMs < person.sinceMs;
  person.room = trellis.rooms[best];
  if (person.guess) return 'moved'; // the first readings named a wrong room: they were here all along
  // so far back the latest locations are still at hand to be corrected
  person.sinceMs = touched ? ms : isReturn ? enteredMs : Math.max(enteredMs, ms - 1000 * lookaheadS);
  return isReturn ? 'returned' : 'moved';
}

const LEAST_WORTH = 1e-4; // readings: less is silence
const LATE_S = 1; // levels follow a step through a door about so much later
/** @type {any[]} */
const NOTHING = [];
Object.freeze(NOTHING);

module.exports = { Following };
