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
 * @property {number|null} measured_ms last time that one of the following came
 * @property {number|null} battery_mv
 * @property {number|null} temperature_c
 * @property {number|null} humidity_pct
 */

const UNREGISTERED_MAX = 256;
/** When a beacon was heard last is said within a day (`/api/v1/beacons`). */
const KEPT_MS = 24 * 3_600_000;

function createBeacons() {
  /** @type {Map<string, Sighting>} registered ones, by beacon id */
  const known = new Map();
  /** @type {Map<string, Sighting>} the one silent for longest first */
  const unregistered = new Map();

  /**
   * @param {import('../intake/readings').Batch} batch
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

  /** Takes what a registered beacon says of itself in a reading without RSSI. @param {import('../intake/readings').Measured} measured
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
    /** @returns {({beacon: string} & Readonly<Sighting>)[]} the last received first */
    unregistered: () => [...unregistered].map(([beacon, sighting]) => ({ beacon, ...sighting })).reverse(),
  };
}

/** @param {number} ts @returns {Sighting} */
const fresh = (ts) => ({
  first_ms: ts, heard_ms: ts, kind: 'phone', receiver: '', rssi: 0, count: 0,
  measured_ms: null, battery_mv: null, temperature_c: null, humidity_pct: null,
});

/** @param {Sighting} sighting @param {import('../intake/readings').Measured} reading @param {number} ts */
function measure(sighting, { battery_mv: battery, temperature_c: temperature, humidity_pct: humidity }, ts) {
  if (battery === undefined && temperature === undefined && humidity === undefined) return;
  sighting.measured_ms = ts;
  if (battery !== undefined) sighting.battery_mv = battery;
  if (temperature !== undefined) sighting.temperature_c = temperature;
  if (humidity !== undefined) sighting.humidity_pct = humidity;
}

module.exports = { createBeacons };
