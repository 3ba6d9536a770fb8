// @ts-check
'use strict';

const { createEvidence } = require('./evidence');
const { thresholdOf } = require('./sightings');
const { longer, slotsFor } = require('./slots');
const { createSpread } = require('./spread');

/**
 * Where everybody may be: for each person the likeliest cells with their probabilities, brought forward by the
 * forward algorithm of a hidden Markov model (cells are the states). People live in slots of shared arrays, so that
 * one costs some 170 bytes; what is spread out over all cells exists once, for whoever is at work.
 * @typedef {ReturnType<typeof createBeliefs>} Beliefs
 * @param {import('./model').Model} model
 * @param {(source: number, nowMs: number) => boolean} isAlive whether silence of a source says anything
 */
function createBeliefs({ cells, radio, settings }, isAlive) {
  const kept = settings.keptCells;
  const CellIndex = cells.all.length > 65535 ? Uint32Array : Uint16Array;
  let cell = new CellIndex(kept * 16);
  let share = new Uint8Array(kept * 16); // index into SHARES
  let held = new Uint8Array(16);
  let opened = 0;
  /** @type {number[]} */
  const free = [];

  const spread = createSpread({ cells, radio, settings });
  const { mass, at } = spread;
  /** Rooms that are possible at all, of the person asked about last. */
  const possible = { rooms: new Int32Array(kept), count: 0 };
  const evidence = createEvidence(radio, settings, mass, isAlive, cells.room);

  /** A slot for somebody about whose place nothing is known. @returns {number} */
  function open() {
    const slot = free.pop() ?? opened++;
    if (slot >= held.length) {
      const slots = slotsFor(slot);
      held = longer(held, new Uint8Array(slots));
      cell = longer(cell, new CellIndex(slots * kept));
      share = longer(share, new Uint8Array(slots * kept));
    }
    held[slot] = 0;
    return slot;
  }

  /** How many cells are at least so likely. @param {number} least */
  function likelier(least) {
    let many = 0;
    for (let k = 0; k < spread.count; k += 1) if (mass[at[k]] >= least) many += 1;
    return many;
  }

  /** What the shares of a slot add up to. @param {number} slot */
  function wholeOf(slot) {
    let whole = 0;
    for (let k = slot * kept; k < slot * kept + held[slot]; k += 1) whole += SHARES[share[k]];
    return whole;
  }

  /**
   * Write down the cells that are so likely.
   * @param {number} n where @param {number} first of the slot @param {number} least @param {number} below
   * @returns {number} where it ends
   */
  function take(n, first, least, below) {
    for (let k = 0; k < spread.count && n < first + kept; k += 1) {
      const c = at[k];
      if (mass[c] >= least && mass[c] < below) cell[n++] = c;
    }
    return n;
  }

  /** Keep the likeliest cells; at least one, however thinly probability is spread. @param {number} slot */
  function store(slot) {
    let largest = 0;
    for (let k = 0; k < spread.count; k += 1) largest = Math.max(largest, mass[at[k]]);
    let least = Math.min(settings.keptShare, largest);
    while (likelier(least) > kept && likelier(least * 2) > 0) least *= 2;
    const first = slot * kept;
    let n = take(first, first, least, Infinity);
    if (n < first + kept) n = take(n, first, Math.max(least / 2, settings.keptShare), least); // as many of the next ones as fit
    held[slot] = n - first;
    for (let k = first; k < n; k += 1) share[k] = Math.min(SHARES.length - 1, Math.round(Math.log2(largest / mass[cell[k]]) * FINE));
    spread.clear();
  }

  return {
    open,
    /** @param {number} slot */
    close: (slot) => { free.push(slot); },
    /** @returns {import('./slots').Arrays} */
    arrays: () => [[cell, kept], [share, kept], [held, 1]],
    /**
     * Bring a belief forward and weigh what was heard.
     * @param {number} slot
     * @param {{seconds: number, steps: number, touched: boolean, walks: boolean}} passed since the last time: seconds, how many
     *   whole ones ended, whether a beacon was touched on purpose (then nothing of before counts), and whether they moved
     * @param {import('./sightings').Heard} heard strongest first
     * @param {import('./hearing').Remembered} remembered what was heard up to now, these included
     * @param {import('./evidence').Common} common
     * @param {number} nowMs
     */
    update(slot, { seconds, steps, touched, walks }, heard, remembered, common, nowMs) {
      const whole = wholeOf(slot);
      for (let k = slot * kept; k < slot * kept + held[slot]; k += 1) {
        at[spread.count++] = cell[k];
        mass[cell[k]] = SHARES[share[k]] / whole;
      }
      const fresh = spread.count === 0 || seconds * 1000 > settings.forgetMs;
      if (fresh) {
        spread.clear();
        spread.appear(heard, common.meanDb);
      } else {
        for (let k = Math.min(steps, settings.stepsAtMost); k > 0; k -= 1) spread.step();
        const strayS = Math.min(touched ? 1 : seconds, settings.stepsAtMost);
        spread.stray(heard.sources.slice(0, settings.strayFrom), settings.strayShare * strayS);
      }
      const fades = fresh || touched ? 0 : Math.exp(-seconds / settings.memoryS);
      const looks = settings.looks * (walks ? settings.walkLooks : 1) * (1 - fades);
      const silence = { kind: heard.kind, thresholdDbm: thresholdOf(heard, settings.wholeReadings, settings.hearableDbm), nowMs };
      const found = evidence.weigh(at, spread.count, remembered, common, silence, fades, looks);
      store(slot);
      return found;
    },
    /** The cells somebody may be at, with their probabilities. @param {number} slot @returns {[cell: number, probability: number][]} */
    cells(slot) {
      const whole = wholeOf(slot);
      return Array.from({ length: held[slot] }, (_, k) => [cell[slot * kept + k], SHARES[share[slot * kept + k]] / whole]);
    },
    /** Somebody may be there. @param {number} slot @param {[cell: number, probability: number][]} places */
    restore(slot, places) {
      for (const [c, probability] of places) if ((mass[c] += probability) === probability) at[spread.count++] = c; // each once
      if (spread.count > 0) store(slot);
    },
    /** Which rooms `rooms` found to be possible. */
    possible,
    /** Undo `rooms`. @param {Float64Array} rooms */
    clear(rooms) {
      for (let n = 0; n < possible.count; n += 1) rooms[possible.rooms[n]] = 0;
    },
    /**
     * Probability of each room, added to `rooms` (which must be 0 everywhere).
     * @param {number} slot @param {Float64Array} rooms
     * @returns {number} the likeliest room
     */
    rooms(slot, rooms) {
      const whole = wholeOf(slot);
      let best = -1;
      possible.count = 0;
      for (let k = slot * kept; k < slot * kept + held[slot]; k += 1) {
        const room = cells.room[cell[k]];
        if (rooms[room] === 0) possible.rooms[possible.count++] = room;
        rooms[room] += SHARES[share[k]] / whole;
        if (best < 0 || rooms[room] > rooms[best]) best = room;
      }
      return best;
    },
  };
}

/** Shares against the likeliest cell, FINE steps to each half: 3 % exact, down to a 1,500th. */
const FINE = 24;
const SHARES = Float64Array.from({ length: 256 }, (_, k) => 2 ** (-k / FINE));

module.exports = { createBeliefs };
