// @ts-check
'use strict';

/**
 * Which sources should be loudest in each cell. Pure.
 * @typedef {{who: Int32Array, dbm: Int16Array}} Loudest of each cell the `quietSources` strongest sources, strongest
 *   first (-1: no more), and how strong they should be
 */

const UNHEARD_DBM = -999;

/**
 * @param {number[]} which ascending; of equals the first is first
 * @param {import('./source').Source[]} sources
 * @param {import('./model').Levels} building
 * @returns {import('../shared/pieces').Work<Loudest>}
 */
function* loudestOf(which, sources, { cells: { all, firstOf }, settings: { quietSources: most, weakestDbm } }) {
  const who = new Int32Array(all.length * most).fill(-1);
  const dbm = new Int16Array(all.length * most).fill(UNHEARD_DBM);
  const weakest = Math.round(weakestDbm);
  for (const source of which) {
    const { first, expected } = sources[source];
    for (let k = 0; k < expected.length; k += 1) {
      const level = Math.round(expected[k]);
      const end = (first + k + 1) * most;
      if (level <= weakest || level <= dbm[end - 1]) continue;
      let at = end - 1;
      for (; at > end - most && level > dbm[at - 1]; at -= 1) {
        who[at] = who[at - 1];
        dbm[at] = dbm[at - 1];
      }
      who[at] = source;
      dbm[at] = level;
    }
    yield;
  }
  // Where fewer are heard, those follow that are as weak as can be.
  for (const [storey, firstCell] of firstOf.slice(0, -1).entries()) {
    const reaching = which.filter((source) => sources[source].from <= firstCell && firstCell < sources[source].to);
    for (let cell = firstCell; cell < firstOf[storey + 1]; cell += 1) {
      const end = (cell + 1) * most;
      let at = end;
      while (at > end - most && who[at - 1] < 0) at -= 1;
      for (let n = 0; n < reaching.length && at < end; n += 1) {
        if (isAmong(who, end - most, at, reaching[n])) continue;
        who[at] = reaching[n];
        dbm[at] = weakest;
        at += 1;
      }
      if (cell % 256 === 0) yield;
    }
  }
  return { who, dbm };
}

/** @param {Int32Array} who @param {number} from @param {number} to @param {number} source */
function isAmong(who, from, to, source) {
  for (let k = from; k < to; k += 1) if (who[k] === source) return true;
  return false;
}

module.exports = { loudestOf, UNHEARD_DBM };
