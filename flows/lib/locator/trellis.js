// @ts-check
'use strict';

const { truncate } = require('../shared/truncate');
const { Rows } = require('./rows');

/** How many rooms have an entry, the score of every other room (at first all are as likely), and since when, epoch ms. */
const [REST, START_MS, HEAD] = [1, 2, 4];

/**
 * Of a room: its number, its score (at most 0), when the way entered it (epoch ms), and where the way was at the end of the second before.
 */
const [ROOM, SCORE, ENTERED_MS, FROM, WAY] = [0, 1, 2, 3, 4];

/** The second, a room, and where its way was before. */
const CHANGE = 3;

/**
 * How well each room explains what was heard of a person: the max-sum form of a hidden Markov model over rooms in which every
 * change costs the same (A. J. Viterbi, 1967). The score of a room is that of the best way that ends there, in dB · scans below
 * the best of all. A room stays on its own way as long as it is less than the cost of a change behind; else its way is that of the
 * best room and a change. So all changes come from the best room, and a room of which nothing is heard needs no entry.
 * @typedef {{ways: number[], changes: number[]}} Saved
 */
class Trellis {
  /** @param {Rows} rows by `Trellis.rows` @param {number} slot of the person @param {Saved} [saved] */
  constructor(rows, slot, { ways, changes } = { ways: [0, 0, 0, 0], changes: [] }) {
    this.rows = rows;
    this.slot = slot;
    rows.set(slot, ways);
    /** CHANGE numbers of each, ascending: what history, which is some seconds behind, goes back by. @type {number[]} */
    this.changes = changes.slice();
  }

  /** Of everybody. */
  static rows() { return new Rows(HEAD, WAY, 8); }

  /** @returns {Saved} */
  save() { return { ways: this.rows.get(this.slot), changes: this.changes.slice() }; }

  /** Knows nothing any more, or that somebody is in a room. @param {number} ms @param {number} [room] @param {number} [changeDb] */
  reset(ms, room = -1, changeDb = 0) {
    this.rows.set(this.slot, room < 0 ? [0, 0, ms, 0] : [1, -changeDb, ms, 0, room, 0, ms, room]);
    this.changes = [];
  }

  #first() { return this.rows.startOf(this.slot) + HEAD; }

  /** Where the entry of the best room begins, -1: none. Of equals the one with the lower number, whatever order they came in. */
  #best() {
    const { rows: { list }, slot } = this;
    const end = this.rows.endOf(slot);
    let best = -1;
    for (let at = this.#first(); at < end; at += WAY) {
      if (best < 0 || list[at + SCORE] > list[best + SCORE]
        || (list[at + SCORE] === list[best + SCORE] && list[at] < list[best])) best = at;
    }
    return best;
  }

  /** The best room by number, -1: none. */
  best() {
    const at = this.#best();
    return at < 0 ? -1 : this.rows.list[at];
  }

  /** @param {number} room by number */
  #entryOf(room) {
    const { rows: { list }, slot } = this;
    const end = this.rows.endOf(slot);
    for (let at = this.#first(); at < end; at += WAY) if (list[at] === room) return at;
    return -1;
  }

  /** @param {number} room by number */
  scoreOf(room) {
    const at = this.#entryOf(room);
    return this.rows.list[at < 0 ? this.rows.startOf(this.slot) + REST : at + SCORE];
  }

  /** When the way entered a room that has an entry, epoch ms. @param {number} room by number */
  enteredMsOf(room) { return this.rows.list[this.#entryOf(room) + ENTERED_MS]; }

  /** Rooms that have an entry, by number. */
  rooms() { return this.rows.get(this.slot).slice(HEAD).filter((_, n) => n % WAY === ROOM); }

  /**
   * Takes what was heard within a part of a scan.
   * @param {{rooms: number[], levels: Float64Array, topDbm: number, floorDbm: number}} evidence rooms: of which anything is known;
   *   levels: dBm,
   *   by room; floorDbm: of all others
   * @param {number} scans how much of a scan that is @param {number} ms event time
   * @param {number} kept which share of the cost of a change holds: nobody was heard meanwhile, so a change is less surprising
   * @param {number} keep a room that keeps its entry @param {import('./settings').Settings} settings
   */
  step({ rooms, levels, topDbm, floorDbm }, scans, ms, kept, keep, { capDb, changeDb }) {
    const { rows: ways, slot } = this;
    const best = this.#best();
    const wayFrom = best < 0 ? -1 : ways.list[best + FROM];
    const floor = -changeDb * kept;
    const first = ways.startOf(slot);
    const rest = Math.max(floor, ways.list[first + REST]);
    const isFresh = rest > floor || best < 0;
    const startMs = ways.list[first + START_MS];
    for (let n = 0; n < rooms.length; n += 1) {
      if (this.#entryOf(rooms[n]) >= 0) continue;
      const at = ways.append(slot);
      ways.list[at + ROOM] = rooms[n];
      ways.list[at + SCORE] = rest;
      ways.list[at + ENTERED_MS] = isFresh ? startMs : ms;
      ways.list[at + FROM] = isFresh ? rooms[n] : wayFrom;
    }
    const { list } = ways;
    const end = ways.endOf(slot);
    let top = -Infinity;
    for (let at = this.#first(); at < end; at += WAY) {
      if (list[at + SCORE] < floor) {
        list[at + SCORE] = floor;
        list[at + FROM] = wayFrom;
        list[at + ENTERED_MS] = ms;
      }
      const known = levels[list[at]];
      const lessDb = topDbm - (known === known ? known : floorDbm);
      list[at + SCORE] -= (lessDb < capDb ? lessDb : capDb) * scans;
      if (list[at + SCORE] > top) top = list[at + SCORE];
    }
    this.#prune(top, -changeDb, levels, keep);
    list[ways.startOf(slot) + REST] = Math.max(-changeDb, rest - capDb * scans - Math.min(0, top));
  }

  /**
   * Takes scores against the best, and drops rooms that are out of it and not heard.
   * @param {number} top @param {number} floor @param {Float64Array} levels @param {number} keep
   */
  #prune(top, floor, levels, keep) {
    const { rows: { list }, slot } = this;
    const end = this.rows.endOf(slot);
    let left = this.#first();
    for (let at = left; at < end; at += WAY) {
      const room = list[at];
      list[at + SCORE] -= top;
      if (list[at + SCORE] < floor && room !== keep && levels[room] !== levels[room]) continue;
      if (left < at) for (let n = 0; n < WAY; n += 1) list[left + n] = list[at + n];
      left += WAY;
    }
    if (left < end) this.rows.cut(slot, left);
  }

  /** Rooms are no more. @param {(room: number) => boolean} isGone */
  drop(isGone) {
    const { rows: { list }, slot } = this;
    const end = this.rows.endOf(slot);
    let left = this.#first();
    for (let at = left; at < end; at += WAY) {
      if (isGone(list[at])) continue;
      list.copyWithin(left, at, at + WAY);
      if (isGone(list[left + FROM])) list[left + FROM] = list[left];
      left += WAY;
    }
    this.rows.cut(slot, left);
    const top = this.scoreOf(this.best());
    for (let at = this.#first(); at < left; at += WAY) list[at + SCORE] -= top;
  }

  /** Rooms have other numbers from now on. @param {(room: number) => number} numberOf */
  renumber(numberOf) {
    const { rows: { list }, slot } = this;
    for (let at = this.#first(); at < this.rows.endOf(slot); at += WAY) for (const n of [ROOM, FROM]) list[at + n] = numberOf(list[at + n]);
    this.changes = this.changes.map((value, n) => (n % CHANGE === 0 ? value : numberOf(value)));
  }

  /**
   * A second is over: of rooms of which the way was elsewhere before it, that is noted.
   * @param {number} second since the epoch @param {number} untilS nobody goes back to this one and those before any more
   */
  endSecond(second, untilS) {
    const { rows: { list }, slot, changes } = this;
    const end = this.rows.endOf(slot);
    let from = 0;
    while (from < changes.length && changes[from] <= untilS) from += CHANGE;
    for (let n = from; from > 0 && n < changes.length; n += 1) changes[n - from] = changes[n];
    if (from > 0) truncate(changes, changes.length - from);
    for (let at = this.#first(); at < end; at += WAY) {
      if (list[at + FROM] === list[at]) continue;
      changes.push(second, list[at], list[at + FROM]);
      list[at + FROM] = list[at];
    }
  }

  /** Where an entry's way was at the end of a second. @param {number} at @param {number} second @param {number} newestS not over yet */
  #before(at, second, newestS) {
    const { rows: { list }, changes } = this;
    let room = newestS > second ? list[at + FROM] : list[at];
    let changedS = newestS; // once a second
    for (let n = changes.length - CHANGE; n >= 0 && changes[n] > second; n -= CHANGE) {
      if (changes[n] === changedS || changes[n + 1] !== room) continue;
      changedS = changes[n];
      room = changes[n + 2];
    }
    return room;
  }

  /**
   * How likely somebody is in each room, or was in a second.
   * @param {import('./settings').Settings} settings @param {Odds} into
   * @param {number} [second] its end; not given: now @param {number} [newestS] the one that is not over yet
   */
  odds({ natDb }, into, second = Infinity, newestS = second) {
    const { rows: { list }, slot } = this;
    const end = this.rows.endOf(slot);
    into.sum = 0;
    into.room = into.other = -1;
    into.score = into.otherScore = -Infinity;
    if (second === Infinity) {
      for (let at = this.#first(); at < end; at += WAY) addRoom(into, list[at], list[at + SCORE], natDb);
      return;
    }
    truncate(ROOMS, 0);
    truncate(SCORES, 0);
    for (let at = this.#first(); at < end; at += WAY) {
      const room = this.#before(at, second, newestS);
      const known = ROOMS.indexOf(room);
      if (known < 0) {
        ROOMS.push(room);
        SCORES.push(list[at + SCORE]);
      } else if (SCORES[known] < list[at + SCORE]) SCORES[known] = list[at + SCORE];
    }
    for (let n = 0; n < ROOMS.length; n += 1) addRoom(into, ROOMS[n], SCORES[n], natDb);
  }
}

/** Rooms where ways were, and the best score of each. @type {[number[], number[]]} */
const [ROOMS, SCORES] = [[], []];

/**
 * The likeliest room and the next one, with their scores, and the sum of exp(score / natDb) of all rooms.
 * @typedef {{room: number, score: number, other: number, otherScore: number, sum: number}} Odds
 */

/** One room more. @param {Odds} into @param {number} room @param {number} score @param {number} natDb */
function addRoom(into, room, score, natDb) {
  into.sum += score === 0 ? 1 : Math.exp(score / natDb);
  if (score > into.score || (score === into.score && room < into.room)) {
    into.other = into.room;
    into.otherScore = into.score;
    into.room = room;
    into.score = score;
  } else if (score > into.otherScore || (score === into.otherScore && room < into.other)) {
    into.other = room;
    into.otherScore = score;
  }
}

/** How likely a room of this score is. @param {number} score @param {Odds} odds @param {import('./settings').Settings} settings */
const shareOf = (score, { sum }, { natDb, lapse }) => ((1 - lapse) * Math.exp(score / natDb)) / sum;

/** @returns {Odds} */
const newOdds = () => ({ room: -1, score: -Infinity, other: -1, otherScore: -Infinity, sum: 0 });

module.exports = { Trellis, newOdds, shareOf };
