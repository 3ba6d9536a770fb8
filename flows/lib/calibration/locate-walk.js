// @ts-check
'use strict';

const { createBuilding } = require('../building');
const { createLocator, emptyOutcome } = require('../locator');

/**
 * Locates a recorded walk again, with any building file. Pure: time is that of the readings.
 * @typedef {import('../building').BuildingFile} BuildingFile
 * @typedef {{ts: number, receiver: string, beacon: string, rssi: number}} Row a reading as it was sent; ts: epoch ms
 * @typedef {'gateway'|'phone'} Mode
 * @typedef {Map<number, string>} History the room of each second, epoch s, as /extractbeacon has it
 */

const TICK_MS = 250;
/** Time from the end of a window to its arrival. */
const LATENCY_MS = 30;
/** Time after the last reading, in which the locator settles open locations. */
const AFTER_MS = 15_000;
/** A record is valid until the next one, and no longer than somebody counts as present (docs/interfaces.md), s. */
const VALID_S = 60;

/**
 * @param {object} walk
 * @param {BuildingFile} walk.building with one person, the walker
 * @param {Mode} walk.mode
 * @param {readonly Row[]} walk.rows in the order of their times
 * @param {(trace: import('../locator').Trace, expectedIn: import('../locator').Locator['expectedIn']) => void} [onTrace] gets the
 *   trace of the
 *   walker each second
 * @param {string[]} [plan] levels where the measured plan advises
 * @returns {History}
 */
function locateWalk({ building, mode, rows }, onTrace = () => {}, plan = []) {
  const walker = building.staff[0]?.id ?? '';
  const locator = createLocator(createBuilding(building), {}, undefined, [{ from_ms: 0, offsets: [], plan }]);
  for (const { id } of building.gateways) locator.setGateway(id, true);
  const expectedIn = (/** @type {string} */ room) => locator.expectedIn(room);
  const outcome = emptyOutcome();
  /** @type {History} */
  const history = new Map();
  let nowMs = (rows[0]?.ts ?? 0) - TICK_MS;

  function collect() {
    for (const { ts, room } of outcome.locations) history.set(Math.floor(ts / 1000), room); // a later location replaces an earlier one
    for (const list of Object.values(outcome)) list.length = 0;
  }
  /** Lets time pass. @param {number} ms */
  function advanceTo(ms) {
    while (nowMs + TICK_MS <= ms) {
      const before = nowMs;
      nowMs += TICK_MS;
      locator.tick(nowMs, outcome);
      collect();
      const trace = Math.floor(nowMs / 1000) === Math.floor(before / 1000) ? null : locator.trace(walker);
      if (trace) onTrace(trace, expectedIn);
    }
  }

  for (const batch of batchesOf(rows)) {
    advanceTo(batch.ts + LATENCY_MS);
    locator.hear({ kind: mode, ...batch }, Math.max(nowMs, batch.ts + LATENCY_MS), outcome);
    collect();
  }
  advanceTo(nowMs + AFTER_MS);
  return history;
}

/**
 * Groups readings of one receiver and one time into batches.
 * @param {readonly Row[]} rows
 * @returns {{ts: number, receiver: string, readings: {beacon: string, rssi: number}[]}[]}
 */
function batchesOf(rows) {
  /** @type {ReturnType<typeof batchesOf>} */
  const batches = [];
  /** @type {Map<string, typeof batches[number]>} */
  const open = new Map();
  for (const { ts, receiver, ...reading } of rows) {
    let batch = open.get(receiver);
    if (batch?.ts !== ts) open.set(receiver, batches[batches.push(batch = { ts, receiver, readings: [] }) - 1] ?? batch);
    batch.readings.push(reading);
  }
  return batches;
}

/** The room of a second: that of the newest record up to it; '': none. @param {History} history @param {number} second */
function roomAt(history, second) {
  for (let at = second; at > second - VALID_S; at -= 1) {
    const room = history.get(at);
    if (room !== undefined) return room;
  }
  return '';
}

module.exports = { locateWalk, batchesOf, roomAt };
