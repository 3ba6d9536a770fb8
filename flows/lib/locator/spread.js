// @ts-check
'use strict';

const { expectedIn } = require('./source');

/**
 * Where the person at work may be, spread out over all cells: each second it moves along the ways through the building. There is
 * one for everybody; what it says of a person is stored by `beliefs.js`.
 * @param {Pick<import('./model').Model, 'cells'|'radio'|'settings'>} model
 */
function createSpread({ cells, radio, settings }) {
  const mass = new Float64Array(cells.all.length);
  const next = new Float64Array(cells.all.length);
  const at = new Int32Array(cells.all.length);
  const nextAt = new Int32Array(cells.all.length);

  /** A second goes by. */
  function step() {
    const { start, target, share: shares } = cells;
    let found = 0;
    for (let k = 0; k < spread.count; k += 1) {
      const from = at[k];
      const weight = mass[from];
      mass[from] = 0;
      for (let s = start[from]; s < start[from + 1]; s += 1) {
        const to = target[s];
        if (next[to] === 0) nextAt[found++] = to;
        next[to] += weight * shares[s];
      }
    }
    spread.count = 0;
    for (let k = 0; k < found; k += 1) {
      const to = nextAt[k];
      if (next[to] > settings.keptShare * 0.1) {
        mass[to] = next[to];
        at[spread.count++] = to;
      }
      next[to] = 0;
    }
  }

  /** People may appear near what they are heard by. @param {number[]} sources @param {number} total */
  function stray(sources, total) {
    for (const source of sources) {
      const { near } = radio.sources[source];
      for (const c of near) {
        if (mass[c] === 0) at[spread.count++] = c;
        mass[c] += total / (near.length * sources.length);
      }
    }
  }

  /** Of somebody unknown: anywhere where the strongest source may be heard as it is. @param {import('./sightings').Heard} heard
   * @param {number} meanDb what is known of the level of their tag or phone */
  function appear({ sources, rssis }, meanDb) {
    const source = radio.sources[sources[0]];
    const least = rssis[0] - settings.appearDb - meanDb;
    for (let c = source.from; c < source.to; c += 1) if (expectedIn(source, c, settings.weakestDbm) > least) at[spread.count++] = c;
    for (let k = 0; k < spread.count; k += 1) mass[at[k]] = 1 / spread.count;
    if (spread.count === 0) stray(sources, 1);
  }

  /** Nobody is at work any more. */
  function clear() {
    for (let k = 0; k < spread.count; k += 1) mass[at[k]] = 0;
    spread.count = 0;
  }

  /** `mass`: probability of each cell; `at`: the first `count` are those above 0. */
  const spread = { mass, at, count: 0, step, stray, appear, clear };
  return spread;
}

module.exports = { createSpread };
