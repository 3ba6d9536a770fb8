// @ts-check
'use strict';

/**
 * Offsets of one receiver's clock. Which one holds follows from the stamp alone, so that a reading has the same time live, in a rebuild and
 * when it is sent again. Where a clock was set back its stamps come twice: `but` lists those of the first time. Pure.
 * @typedef {object} Version
 * @property {number} from_ms first stamp for which it holds, epoch ms by the receiver's clock
 * @property {number} offset_ms is added to a stamp; negative: the clock is ahead
 * @property {number} noticed_ms by our clock
 * @property {number[]} but stamps since `from_ms` for which an earlier version holds
 */

/** A clock that drifts has another version each half a minute at most; of the oldest the offset is forgotten. */
const MOST = 500;

class Versions {
  /** @param {Version[]} [list] in the order in which they were noticed */
  constructor(list = []) {
    this.list = list;
  }

  /** @param {number} ts @returns {number} ms, to be added */
  offsetOf(ts) {
    for (let at = this.list.length - 1; at >= 0; at -= 1) {
      const { from_ms: fromMs, offset_ms: offsetMs, but } = /** @type {Version} */ (this.list[at]);
      if (ts >= fromMs && !but.includes(ts)) return offsetMs;
    }
    return 0;
  }

  last() { return this.list.at(-1); }

  /** @param {Version} version */
  add(version) {
    this.list.push(version);
    if (this.list.length > MOST) this.list.shift();
  }

  /** Forgets what holds for no stamp since then. @param {number} beforeMs */
  prune(beforeMs) {
    while ((this.list[1]?.from_ms ?? Infinity) < beforeMs) this.list.shift();
    if (this.list.length === 1 && this.list[0]?.offset_ms === 0 && this.list[0].noticed_ms < beforeMs) this.list.length = 0;
  }

  /** Offsets other than 0 that hold for some stamp of a time. @param {number} fromMs @param {number} toMs exclusive @returns {number[]} */
  offsetsIn(fromMs, toMs) {
    return this.list.flatMap(({ from_ms: since, offset_ms: offsetMs }, at) => {
      const untilMs = Math.max(this.list[at + 1]?.from_ms ?? Infinity, ...this.list.slice(at + 1).flatMap(({ but }) => but.at(-1) ?? []));
      return offsetMs !== 0 && since < toMs && untilMs >= fromMs ? [offsetMs] : [];
    });
  }
}

/** @param {any} one @returns {one is Version} */
const isVersion = (one) => [one?.from_ms, one?.offset_ms, one?.noticed_ms].every(Number.isFinite)
  && Array.isArray(one.but) && one.but.every(Number.isFinite);

module.exports = { Versions, isVersion };
