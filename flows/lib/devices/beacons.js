// @ts-check
'use strict';

/**
 * The last reading of each beacon: of registered beacons always, of unregistered ones the 256 that were received last
 * (random addresses that pass by push out each other, not a beacon that is received every second).
 * @typedef {import('../building').Building} Building
 * @typedef {object} Sighting times in epoch ms, by the receiver's clock but never ahead of ours
 * @property {number} first_ms first reading since the start
 * @property {number} heard_ms last reading with an RSSI; 0: none
 * @property {'gateway'|'phone'} kind of the receiver
 * @property {string} receiver
 * @property {number} rssi dBm of the last reading
 * @property {number} count readings since the start
 * @property {number|null} measured_ms last time that one of the following came; null: none of them counts
 * @property {number|null} battery_mv
 * @property {number|null} temperature_c
 * @property {number|null} humidity_pct
 * @property {number[]} said_ms when each of these came last
 * @property {number[]} unsaid readings since then, of each of these
 */

/** Values that a beacon says of itself, in the order of `said_ms` and `unsaid`. */
const VALUES = /** @type {const} */ (['battery_mv', 'temperature_c', 'humidity_pct']);
/** A value that it has not said for an hour, though it was heard so often, is forgotten: agents repeat values once a minute. */
const UNSAID_MS = 3_600_000;
const UNSAID_READINGS = 600;

const UNREGISTERED_MAX = 256;
/** When a beacon was heard last is said within a day (`/api/v1/beacons`). */
const KEPT_MS = 24 * 3_600_000;

function createBeacons() {
  /** @type {Map<string, Sighting>} registered ones, by beacon id */
  const known = new Map();
  /** @type {Map<string, Sighting>} the one silent for longest first */
  const unregistered = new Map();

  /**
   * @param {import('../live/readings').Batch} batch
   * @param {Building} building
   * @param {number} nowMs
   * @returns {number} how many of its readings are of unregistered beacons
   */
  function addBatch({ kind, receiver, ts, readings, measured = [] }, building, nowMs) {
    const heardMs = Math.min(ts, nowMs);
    let unregisteredCount = 0;
    for (const reading of readings) {
      const { beacon } = reading;
      let sighting = known.get(beacon);
      if (!sighting) {
        const registered = building.isRegistered(beacon);
        if (registered && nowMs - heardMs > KEPT_MS) continue; // a batch of days ago does not say that it is silent now
        sighting = (registered ? undefined : unregistered.get(beacon)) ?? fresh(heardMs);
        if (registered) known.set(beacon, sighting);
        else {
          unregisteredCount += 1;
          unregistered.delete(beacon);
          unregistered.set(beacon, sighting);
          if (unregistered.size > UNREGISTERED_MAX) unregistered.delete(/** @type {string} */ (unregistered.keys().next().value));
        }
      }
      sighting.count += 1;
      if (heardMs < sighting.heard_ms) continue; // from a backlog: the present stays
      sighting.heard_ms = heardMs;
      sighting.kind = kind;
      sighting.receiver = receiver;
      sighting.rssi = reading.rssi;
      measure(sighting, reading, heardMs);
    }
    for (const one of measured) addMeasured(one, building, heardMs);
    return unregisteredCount;
  }

  /** Takes what a registered beacon says of itself in a reading without RSSI. @param {import('../live/readings').Measured} measured
   * @param {Building} building @param {number} ts */
  function addMeasured(measured, building, ts) {
    const { beacon } = measured;
    if (!building.isRegistered(beacon)) return;
    const sighting = known.get(beacon) ?? { ...fresh(ts), heard_ms: 0 };
    known.set(beacon, sighting);
    if (ts >= Math.max(sighting.heard_ms, sighting.measured_ms ?? 0)) measure(sighting, measured, ts);
  }

  /** Moves beacons whose registration changed; their data stays. @param {Building} building */
  function setBuilding(building) {
    for (const [from, to, registered] of /** @type {const} */ ([[known, unregistered, false], [unregistered, known, true]])) {
      for (const [id, sighting] of from) {
        if (building.isRegistered(id) !== registered) continue;
        from.delete(id);
        to.set(id, sighting);
      }
    }
    while (unregistered.size > UNREGISTERED_MAX) unregistered.delete(/** @type {string} */ (unregistered.keys().next().value));
  }

  /**
   * Takes over the last readings from before the start; newer readings stay.
   * @param {Building} building
   * @param {{beacon: string, ts: number, kind: 'gateway'|'phone', receiver: string, rssi: number}[]} rows
   */
  function restore(building, rows) {
    for (const { beacon, ts, kind, receiver, rssi } of rows) {
      if (!building.isRegistered(beacon)) continue;
      const sighting = known.get(beacon);
      if (!sighting) known.set(beacon, { ...fresh(ts), kind, receiver, rssi });
      else if (ts > sighting.heard_ms) Object.assign(sighting, { heard_ms: ts, kind, receiver, rssi });
    }
  }

  return {
    addBatch,
    setBuilding,
    restore,
    /** A registered beacon. @param {string} beacon @returns {Readonly<Sighting>|null} null: no reading yet */
    of: (beacon) => known.get(beacon) ?? null,
    /** Whether it is heard, and has not spoken of its battery for so long that what it said is forgotten. @param {string} beacon */
    isWithoutBattery(beacon) {
      const sighting = known.get(beacon);
      return sighting !== undefined && sighting.battery_mv === null && isForgotten(sighting, 0, sighting.heard_ms);
    },
    /** @returns {({beacon: string} & Readonly<Sighting>)[]} the last received first */
    unregistered: () => [...unregistered].map(([beacon, sighting]) => ({ beacon, ...sighting })).reverse(),
  };
}

/** @param {number} ts @returns {Sighting} */
const fresh = (ts) => ({
  first_ms: ts, heard_ms: ts, kind: 'phone', receiver: '', rssi: 0, count: 0,
  measured_ms: null, battery_mv: null, temperature_c: null, humidity_pct: null, said_ms: [ts, ts, ts], unsaid: [0, 0, 0],
});

/** @param {Sighting} sighting @param {number} n of the value @param {number} ts */
const isForgotten = ({ said_ms: saidMs, unsaid }, n, ts) => Number(unsaid[n]) >= UNSAID_READINGS && ts - Number(saidMs[n]) > UNSAID_MS;

/** @param {Sighting} sighting @param {import('../live/readings').Measured} reading @param {number} ts */
function measure(sighting, reading, ts) {
  VALUES.forEach((key, n) => {
    const value = reading[key];
    if (value !== undefined) {
      sighting[key] = value;
      sighting.measured_ms = sighting.said_ms[n] = ts;
      sighting.unsaid[n] = 0;
      return;
    }
    sighting.unsaid[n] = Number(sighting.unsaid[n]) + 1;
    if (sighting[key] === null || !isForgotten(sighting, n, ts)) return;
    sighting[key] = null;
    if (VALUES.every((one) => sighting[one] === null)) sighting.measured_ms = null;
  });
}

module.exports = { createBeacons };
