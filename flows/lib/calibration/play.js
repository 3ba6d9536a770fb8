// @ts-check
'use strict';

const { createBuilding } = require('../building');
const { createLocator, emptyOutcome } = require('../locator');

/**
 * A walk once more through the locator, as it would be located with some building file. Pure: the clock is the readings' own.
 * @typedef {import('../building').BuildingFile} BuildingFile
 * @typedef {{ts: number, receiver: string, beacon: string, rssi: number, tx?: number}} Row a reading as it was sent; ts: epoch ms
 * @typedef {'gateway'|'phone'} Mode
 * @typedef {Map<number, string>} History the room of each second, epoch s, as /extractbeacon has it
 */

const TICK_MS = 250;
/** From the end of a window to its arrival. */
const LATENCY_MS = 30;
/** After the last reading what is still open is decided. */
const AFTER_MS = 15_000;
/** A record counts until the next one, but no longer than somebody counts as present (docs/interfaces.md), s. */
const KEPT_S = 60;

/**
 * @param {object} what
 * @param {BuildingFile} what.building of one person, the walker
 * @param {Mode} what.mode
 * @param {readonly Row[]} what.rows in the order of their times
 * @param {(trace: import('../locator').Trace) => void} [look] each second: why the walker is said to be where they are
 * @returns {History}
 */
function play({ building, mode, rows }, look = () => {}) {
  const walker = building.staff[0]?.id ?? '';
  const locator = createLocator(createBuilding(building));
  for (const { id } of building.gateways) locator.setGateway(id, true);
  const outcome = emptyOutcome();
  /** @type {History} */
  const history = new Map();
  let nowMs = (rows[0]?.ts ?? 0) - TICK_MS;

  function collect() {
    for (const { ts, room } of outcome.locations) history.set(Math.floor(ts / 1000), room); // the last word counts
    for (const list of Object.values(outcome)) list.length = 0;
  }
  /** @param {number} ms */
  function pass(ms) {
    while (nowMs + TICK_MS <= ms) {
      const before = nowMs;
      nowMs += TICK_MS;
      locator.tick(nowMs, outcome);
      collect();
      const trace = Math.floor(nowMs / 1000) === Math.floor(before / 1000) ? null : locator.trace(walker);
      if (trace) look(trace);
    }
  }

  for (const batch of batchesOf(rows)) {
    pass(batch.ts + LATENCY_MS);
    locator.hear({ kind: mode, ...batch }, Math.max(nowMs, batch.ts + LATENCY_MS), outcome);
    collect();
  }
  pass(nowMs + AFTER_MS);
  return history;
}

/**
 * Readings of one receiver and one time are one message.
 * @param {readonly Row[]} rows
 * @returns {{ts: number, receiver: string, readings: {beacon: string, rssi: number, tx?: number}[]}[]}
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

/** The room that history has for a second: that of the newest record up to it; '': none. @param {History} history @param {number} second */
function roomAt(history, second) {
  for (let at = second; at > second - KEPT_S; at -= 1) {
    const room = history.get(at);
    if (room !== undefined) return room;
  }
  return '';
}

module.exports = { play, batchesOf, roomAt };
