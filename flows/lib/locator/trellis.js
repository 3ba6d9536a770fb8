// @ts-check
'use strict';

/**
 * How well each room explains what was heard of a person: the max-sum form of a hidden Markov model over rooms in which every
 * change costs the same (A. J. Viterbi, 1967). The score of a room is that of the best way that ends there, in dB · scans below
 * the best of all. A room stays on its own way as long as it is less than the cost of a change behind; else its way is that of the
 * best room and a change. So all changes come from the best room, and a room of which nothing is heard needs no entry.
 */
class Trellis {
  constructor() {
    /** Rooms by number; the others below are in the same order. @type {number[]} */
    this.rooms = [];
    /** At most 0. @type {number[]} */
    this.scores = [];
    /** When the way entered the room, epoch ms. @type {number[]} */
    this.enteredMs = [];
    /** Where the way was at the end of the second before. @type {number[]} */
    this.from = [];
    /** Score of every room without an entry: at first all are as likely. */
    this.rest = 0;
    this.startMs = 0;
  }

  /** Knows nothing any more, or that somebody is in a room. @param {number} ms @param {number} [room] @param {number} [changeDb] */
  reset(ms, room = -1, changeDb = 0) {
    this.rooms = room < 0 ? [] : [room];
    this.scores = room < 0 ? [] : [0];
    this.enteredMs = room < 0 ? [] : [ms];
    this.from = room < 0 ? [] : [room];
    this.rest = room < 0 ? 0 : -changeDb;
    this.startMs = ms;
  }

  /** The same as another one. @param {Trellis} other */
  copy(other) {
    for (const name of /** @type {const} */ (['rooms', 'scores', 'enteredMs', 'from'])) this[name] = other[name].slice();
    this.rest = other.rest;
    this.startMs = other.startMs;
    return this;
  }

  /** Index of the best room, -1: none. Of equals the one with the lower number, whatever order they came in. */
  best() {
    let best = -1;
    for (let i = 0; i < this.rooms.length; i += 1) {
      if (best < 0 || this.scores[i] > this.scores[best]
        || (this.scores[i] === this.scores[best] && this.rooms[i] < this.rooms[best])) best = i;
    }
    return best;
  }

  /** @param {number} room by number */
  scoreOf(room) {
    const at = this.rooms.indexOf(room);
    return at < 0 ? this.rest : this.scores[at];
  }

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
    const best = this.best();
    const [wayFrom, floor] = [best < 0 ? -1 : this.from[best], -changeDb * kept];
    if (this.rest < floor) this.rest = floor;
    for (const room of rooms) {
      if (this.rooms.includes(room)) continue;
      const fresh = this.rest > floor || best < 0;
      this.rooms.push(room);
      this.scores.push(this.rest);
      this.from.push(fresh ? room : wayFrom);
      this.enteredMs.push(fresh ? this.startMs : ms);
    }
    let top = -Infinity;
    for (let i = 0; i < this.rooms.length; i += 1) {
      const room = this.rooms[i];
      if (this.scores[i] < floor) {
        this.scores[i] = floor;
        this.from[i] = wayFrom;
        this.enteredMs[i] = ms;
      }
      const known = levels[room];
      const lessDb = topDbm - (known === known ? known : floorDbm);
      this.scores[i] -= (lessDb < capDb ? lessDb : capDb) * scans;
      if (this.scores[i] > top) top = this.scores[i];
    }
    this.#prune(top, -changeDb, levels, keep);
    this.rest = Math.max(-changeDb, this.rest - capDb * scans - Math.min(0, top));
  }

  /**
   * Takes scores against the best, and drops rooms that are out of it and not heard.
   * @param {number} top @param {number} floor @param {Float64Array} levels @param {number} keep
   */
  #prune(top, floor, levels, keep) {
    let left = 0;
    for (let i = 0; i < this.rooms.length; i += 1) {
      const room = this.rooms[i];
      const score = this.scores[i] - top;
      if (score < floor && room !== keep && levels[room] !== levels[room]) continue;
      this.rooms[left] = room;
      this.scores[left] = score;
      this.from[left] = this.from[i];
      this.enteredMs[left] = this.enteredMs[i];
      left += 1;
    }
    this.rooms.length = this.scores.length = this.from.length = this.enteredMs.length = left;
  }

  /** Rooms are no more. @param {(room: number) => boolean} isGone */
  drop(isGone) {
    const kept = this.rooms.flatMap((room, i) => (isGone(room) ? [] : [i]));
    this.from = kept.map((i) => (isGone(this.from[i]) ? this.rooms[i] : this.from[i]));
    for (const name of /** @type {const} */ (['scores', 'enteredMs', 'rooms'])) this[name] = kept.map((i) => this[name][i]);
    const top = Math.max(...this.scores);
    if (kept.length > 0) this.scores = this.scores.map((score) => score - top);
  }

  /**
   * The second is over.
   * @returns {readonly number[]} rooms of which the way was elsewhere before it: room, where, room, where …
   */
  endSecond() {
    /** @type {readonly number[]} */
    let changed = NONE;
    for (let i = 0; i < this.rooms.length; i += 1) {
      if (this.from[i] === this.rooms[i]) continue;
      if (changed === NONE) changed = [];
      /** @type {number[]} */ (changed).push(this.rooms[i], this.from[i]);
      this.from[i] = this.rooms[i];
    }
    return changed;
  }

  /**
   * How likely somebody is in each room, or was before some seconds.
   * @param {boolean} isBefore whether before the second that is not over yet
   * @param {readonly (readonly number[])[]} changes by `endSecond`, of the seconds before that one, newest first
   * @param {import('./settings').Settings} settings @param {Odds} into
   */
  odds(isBefore, changes, { natDb }, into) {
    const { rooms, scores } = into;
    rooms.length = scores.length = 0;
    for (let i = 0; i < this.rooms.length; i += 1) {
      let room = isBefore ? this.from[i] : this.rooms[i];
      for (let n = 0; n < changes.length; n += 1) room = before(changes[n], room);
      const at = isBefore ? rooms.indexOf(room) : -1;
      if (at < 0) {
        rooms.push(room);
        scores.push(this.scores[i]);
      } else if (scores[at] < this.scores[i]) scores[at] = this.scores[i];
    }
    into.sum = 0;
    into.room = into.other = -1;
    into.score = into.otherScore = -Infinity;
    for (let i = 0; i < rooms.length; i += 1) {
      const [room, score] = [rooms[i], scores[i]];
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

/** Where a way was before a second. @param {readonly number[]} changed @param {number} room */
function before(changed, room) {
  for (let k = 0; k < changed.length; k += 2) if (changed[k] === room) return changed[k + 1];
  return room;
}

/** @type {readonly number[]} */
const NONE = Object.freeze([]);

/** How likely a room of this score is. @param {number} score @param {Odds} odds @param {import('./settings').Settings} settings */
const shareOf = (score, { sum }, { natDb, lapse }) => ((1 - lapse) * Math.exp(score / natDb)) / sum;

/** @returns {Odds} */
const newOdds = () => ({ room: -1, score: -Infinity, other: -1, otherScore: -Infinity, sum: 0, rooms: [], scores: [] });

module.exports = { Trellis, newOdds, shareOf };
