// @ts-check
'use strict';

const { createEvidence } = require('./evidence');

/**
 * Where everybody may be: for each person the likeliest cells with their probabilities, brought forward by the
 * forward algorithm of a hidden Markov model (cells are the states). People live in slots of shared arrays, so that
 * one costs some 300 bytes; what is spread out over all cells exists once, for whoever is at work.
 * @typedef {ReturnType<typeof createBeliefs>} Beliefs
 * @param {import('./model').Model} model
 * @param {(source: number, nowMs: number) => boolean} listening whether silence of a source means anything
 */
function createBeliefs({ cells, radio, tuning }, listening) {
  const kept = tuning.keptCells;
  const CellIndex = cells.all.length > 65535 ? Uint32Array : Uint16Array;
  let cell = new CellIndex(kept * 16);
  let share = new Float32Array(kept * 16);
  let held = new Uint8Array(16);
  let opened = 0;
  /** @type {number[]} */
  const free = [];

  /** Probability of each cell for the person at work; `at` lists those above 0. */
  const mass = new Float64Array(cells.all.length);
  const next = new Float64Array(cells.all.length);
  const at = new Int32Array(cells.all.length);
  const nextAt = new Int32Array(cells.all.length);
  let count = 0;
  const evidence = createEvidence(radio, tuning, mass, listening);

  /** A slot for somebody of whom nothing is known. @returns {number} */
  function open() {
    const slot = free.pop() ?? opened++;
    if (slot >= held.length) {
      held = grown(held, Uint8Array);
      cell = grown(cell, CellIndex, held.length * kept);
      share = grown(share, Float32Array, held.length * kept);
    }
    held[slot] = 0;
    return slot;
  }

  /** A second goes by. */
  function step() {
    const { start, target, share: shares } = cells;
    let found = 0;
    for (let k = 0; k < count; k += 1) {
      const from = at[k];
      const weight = mass[from];
      mass[from] = 0;
      for (let s = start[from]; s < start[from + 1]; s += 1) {
        const to = target[s];
        if (next[to] === 0) nextAt[found++] = to;
        next[to] += weight * shares[s];
      }
    }
    count = 0;
    for (let k = 0; k < found; k += 1) {
      const to = nextAt[k];
      if (next[to] > tuning.keptShare * 0.1) {
        mass[to] = next[to];
        at[count++] = to;
      }
      next[to] = 0;
    }
  }

  /** People may appear near what they are heard by. @param {number[]} sources @param {number} total */
  function stray(sources, total) {
    for (const source of sources) {
      const { near } = radio.sources[source];
      for (const c of near) {
        if (mass[c] === 0) at[count++] = c;
        mass[c] += total / (near.length * sources.length);
      }
    }
  }

  /** Of somebody unknown: anywhere where the strongest source may be heard as it is. @param {import('./sightings').Heard} heard */
  function appear({ sources, rssis }) {
    const { first, expected } = radio.sources[sources[0]];
    for (let k = 0; k < expected.length; k += 1) if (expected[k] > rssis[0] - tuning.appearDb) at[count++] = first + k;
    for (let k = 0; k < count; k += 1) mass[at[k]] = 1 / count;
    if (count === 0) stray(sources, 1);
  }

  /** How many cells are at least so likely. @param {number} least */
  function likelier(least) {
    let many = 0;
    for (let k = 0; k < count; k += 1) if (mass[at[k]] >= least) many += 1;
    return many;
  }

  /** Keep the likeliest cells; at least one, however thinly probability is spread. @param {number} slot */
  function store(slot) {
    let largest = 0;
    for (let k = 0; k < count; k += 1) largest = Math.max(largest, mass[at[k]]);
    let least = Math.min(tuning.keptShare, largest);
    while (likelier(least) > kept && likelier(least * 2) > 0) least *= 2;
    let total = 0;
    let n = slot * kept;
    for (let k = 0; k < count; k += 1) {
      const c = at[k];
      if (mass[c] >= least && n < (slot + 1) * kept) {
        cell[n] = c;
        share[n] = mass[c];
        total += mass[c];
        n += 1;
      }
      mass[c] = 0;
    }
    count = 0;
    held[slot] = n - slot * kept;
    for (let k = slot * kept; k < n; k += 1) share[k] /= total;
  }

  return {
    open,
    /** @param {number} slot */
    close: (slot) => { free.push(slot); },
    /**
     * Bring a belief forward and weigh what was heard.
     * @param {number} slot
     * @param {number} seconds since the last time, whole
     * @param {import('./sightings').Heard} heard strongest first
     * @param {number[]|null} before the gateways that heard something in the second that is over
     * @param {number} nowMs
     */
    update(slot, seconds, heard, before, nowMs) {
      for (let k = slot * kept; k < slot * kept + held[slot]; k += 1) {
        at[count++] = cell[k];
        mass[cell[k]] = share[k];
      }
      if (count === 0 || seconds * 1000 > tuning.forgetMs) {
        while (count > 0) mass[at[--count]] = 0;
        appear(heard);
      } else if (seconds > 0) {
        if (before) evidence.quiet(at, count, 'gateway', before, tuning.hearableDbm, nowMs);
        for (let k = Math.min(seconds, tuning.stepsAtMost); k > 0; k -= 1) step();
      }
      const strays = Math.min(heard.rssis[0] >= tuning.touchDbm ? Math.max(1, seconds) : seconds, tuning.stepsAtMost);
      if (strays > 0) stray(heard.sources.slice(0, tuning.strayFrom), tuning.strayShare * strays);
      if (heard.kind === 'phone') {
        // A phone may report its strongest beacons only: then silence says no more than "weaker than those".
        const cut = heard.sources.length >= tuning.wholeReadings;
        evidence.quiet(at, count, 'phone', heard.sources, cut ? heard.rssis[heard.rssis.length - 1] : tuning.hearableDbm, nowMs);
      }
      evidence.weigh(at, count, heard);
      store(slot);
    },
    /** Undo `rooms`. @param {number} slot @param {Float64Array} rooms */
    clear(slot, rooms) {
      for (let k = slot * kept; k < slot * kept + held[slot]; k += 1) rooms[cells.room[cell[k]]] = 0;
    },
    /**
     * Probability of each room, added to `rooms` (which must be 0 everywhere).
     * @param {number} slot
     * @param {Float64Array} rooms
     * @returns {number} the likeliest room
     */
    rooms(slot, rooms) {
      let best = -1;
      for (let k = slot * kept; k < slot * kept + held[slot]; k += 1) {
        const room = cells.room[cell[k]];
        rooms[room] += share[k];
        if (best < 0 || rooms[room] > rooms[best]) best = room;
      }
      return best;
    },
  };
}

/**
 * @template {Uint8Array|Uint16Array|Uint32Array|Float32Array} T
 * @param {T} array
 * @param {new (length: number) => T} Kind
 * @param {number} [length] by default a quarter more: people come in thousands, and each costs
 * @returns {T}
 */
function grown(array, Kind, length = Math.ceil(array.length * 1.25)) {
  const longer = new Kind(length);
  longer.set(array);
  return longer;
}

module.exports = { createBeliefs };
