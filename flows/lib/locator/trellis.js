// @ts-check
'use strict';

const { truncate } = require('../shared/truncate');

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
 */
class Trellis {
  constructor() {
    /** WAY numbers of each room that has an entry. @type {number[]} */
    this.ways = [];
    /** CHANGE numbers of each, ascending: what history, which is some seconds behind, goes back by. @type {number[]} */
    this.changes = [];
    /** Score of every room without an entry: at first all are as likely. */
    this.rest = 0;
    this.startMs = 0;
  }

  /** Knows nothing any more, or that somebody is in a room. @param {number} ms @param {number} [room] @param {number} [changeDb] */
  reset(ms, room = -1, changeDb = 0) {
    this.ways = room < 0 ? [] : [room, 0, ms, room];
    this.changes = [];
    this.rest = room < 0 ? 0 : -changeDb;
    this.startMs = ms;
  }

  /** The same as another one. @param {Trellis} other */
  copy({ ways, changes, rest, startMs }) { return Object.assign(this, { ways: ways.slice(), changes: changes.slice(), rest, startMs }); }

  /** Where the entry of the best room begins, -1: none. Of equals the one with the lower number, whatever order they came in. */
  #best() {
    const { ways } = this;
    let best = -1;
    for (let at = 0; at < ways.length; at += WAY) {
      if (best < 0 || ways[at + SCORE] > ways[best + SCORE]
        || (ways[at + SCORE] === ways[best + SCORE] && ways[at] < ways[best])) best = at;
    }
    return best;
  }

  /** The best room by number, -1: none. */
  best() {
    const at = this.#best();
    return at < 0 ? -1 : this.ways[at];
  }

  /** @param {number} room by number */
  #entryOf(room) {
    const { ways } = this;
    for (let at = 0; at < ways.length; at += WAY) if (ways[at] === room) return at;
    return -1;
  }

  /** @param {number} room by number */
  scoreOf(room) {
    const at = this.#entryOf(room);
    return at < 0 ? this.rest : this.ways[at + SCORE];
  }

  /** When the way entered a room that has an entry, epoch ms. @param {number} room by number */
  enteredMsOf(room) { return this.ways[this.#entryOf(room) + ENTERED_MS]; }

  /** Rooms that have an entry, by number. */
  rooms() { return this.ways.filter((_, n) => n % WAY === ROOM); }

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
    const { ways } = this;
    const best = this.#best();
    const [wayFrom, floor] = [best < 0 ? -1 : ways[best + FROM], -changeDb * kept];
    if (this.rest < floor) this.rest = floor;
    const isFresh = this.rest > floor || best < 0;
    for (const room of rooms) {
      if (this.#entryOf(room) < 0) ways.push(room, this.rest, isFresh ? this.startMs : ms, isFresh ? room : wayFrom);
    }
    let top = -Infinity;
    for (let at = 0; at < ways.length; at += WAY) {
      if (ways[at + SCORE] < floor) {
        ways[at + SCORE] = floor;
        ways[at + FROM] = wayFrom;
        ways[at + ENTERED_MS] = ms;
      }
      const known = levels[ways[at]];
      const lessDb = topDbm - (known === known ? known : floorDbm);
      ways[at + SCORE] -= (lessDb < capDb ? lessDb : capDb) * scans;
      if (ways[at + SCORE] > top) top = ways[at + SCORE];
    }
    this.#prune(top, -changeDb, levels, keep);
    this.rest = Math.max(-changeDb, this.rest - capDb * scans - Math.min(0, top));
  }

  /**
   * Takes scores against the best, and drops rooms that are out of it and not heard.
   * @param {number} top @param {number} floor @param {Float64Array} levels @param {number} keep
   */
  #prune(top, floor, levels, keep) {
    const { ways } = this;
    let left = 0;
    for (let at = 0; at < ways.length; at += WAY) {
      const room = ways[at];
      ways[at + SCORE] -= top;
      if (ways[at + SCORE] < floor && room !== keep && levels[room] !== levels[room]) continue;
      if (left < at) for (let n = 0; n < WAY; n += 1) ways[left + n] = ways[at + n];
      left += WAY;
    }
    truncate(ways, left);
  }

  /** Rooms are no more. @param {(room: number) => boolean} isGone */
  drop(isGone) {
    const { ways } = this;
    this.ways = [];
    for (let at = 0; at < ways.length; at += WAY) {
      const [room, score, enteredMs, from] = ways.slice(at, at + WAY);
      if (!isGone(room)) this.ways.push(room, score, enteredMs, isGone(from) ? room : from);
    }
    const top = this.scoreOf(this.best());
    for (let at = SCORE; at < this.ways.length; at += WAY) this.ways[at] -= top;
  }

  /** Rooms have other numbers from now on. @param {(room: number) => number} numberOf */
  renumber(numberOf) {
    this.ways = this.ways.map((value, n) => (n % WAY === ROOM || n % WAY === FROM ? numberOf(value) : value));
    this.changes = this.changes.map((value, n) => (n % CHANGE === 0 ? value : numberOf(value)));
  }

  /**
   * A second is over: of rooms of which the way was elsewhere before it, that is noted.
   * @param {number} second since the epoch @param {number} untilS nobody goes back to this one and those before any more
   */
  endSecond(second, untilS) {
    const { ways, changes } = this;
    let from = 0;
    while (from < changes.length && changes[from] <= untilS) from += CHANGE;
    for (let n = from; from > 0 && n < changes.length; n += 1) changes[n - from] = changes[n];
    truncate(changes, changes.length - from);
    for (let at = 0; at < ways.length; at += WAY) {
      if (ways[at + FROM] === ways[at]) continue;
      changes.push(second, ways[at], ways[at + FROM]);
      ways[at + FROM] = ways[at];
    }
  }

  /** Where an entry's way was at the end of a second. @param {number} at @param {number} second @param {number} newestS not over yet */
  #before(at, second, newestS) {
    const { ways, changes } = this;
    let room = newestS > second ? ways[at + FROM] : ways[at];
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
    const { ways } = this;
    const { rooms, scores } = into;
    truncate(rooms, 0);
    truncate(scores, 0);
    for (let at = 0; at < ways.length; at += WAY) {
      const room = second === Infinity ? ways[at] : this.#before(at, second, newestS);
      const known = second === Infinity ? -1 : rooms.indexOf(room);
      if (known < 0) {
        rooms.push(room);
        scores.push(ways[at + SCORE]);
      } else if (scores[known] < ways[at + SCORE]) scores[known] = ways[at + SCORE];
    }
    into.sum = 0;
    into.room = into.other = -1;
    into.score = into.otherScore = -Infinity;
    for (let i = 0; i < rooms.length; i += 1) {
      const room = rooms[i];
      const score = scores[i];
      into.sum += Math.exp(score / natDb);
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
  }
}

/**
 * The likeliest room and the next one, with their scores; all rooms with their scores, and the sum of exp(score / natDb).
 * @typedef {{room: number, score: number, other: number, otherScore: number, sum: number, rooms: number[], scores: number[]}} Odds
 */

/** How likely a room of this score is. @param {number} score @param {Odds} odds @param {import('./settings').Settings} settings */
const shareOf = (score, { sum }, { natDb, lapse }) => ((1 - lapse) * Math.exp(score / natDb)) / sum;

/** @returns {Odds} */
const newOdds = () => ({ room: -1, score: -Infinity, other: -1, otherScore: -Infinity, sum: 0, rooms: [], scores: [] });

module.exports = { Trellis, newOdds, shareOf };
