// @ts-check
'use strict';

/**
 * What was last heard of each beacon: of registered ones as long as they are, of others the 256 that were heard last
 * (random addresses that pass by push out each other, not who is heard every second).
 * @typedef {import('../building').Building} Building
 * @typedef {object} Sighting times in epoch ms, by the receiver's clock but never ahead of ours
 * @property {number} first_ms first heard since the start
 * @property {number} heard_ms last heard
 * @property {'gateway'|'phone'} kind of who heard it then
 * @property {string} receiver
 * @property {number} rssi dBm, then
 * @property {number} count readings since the start
 * @property {number|null} measured_ms when one of the following came last
 * @property {number|null} battery_mv
 * @property {number|null} temperature_c
 * @property {number|null} humidity_pct
 */

const STRANGERS = 256;

function createBeacons() {
  /** @type {Map<string, Sighting>} by beacon id */
  const known = new Map();
  /** @type {Map<string, Sighting>} longest unheard first */
  const strangers = new Map();

  /**
   * @param {import('../intake/readings').Batch} batch
   * @param {Building} building
   * @param {number} nowMs
   * @returns {number} how many of its readings are of beacons that nobody registered
   */
  function hear({ kind, receiver, ts, readings }, building, nowMs) {
    const heardMs = Math.min(ts, nowMs);
    let unregistered = 0;
    for (const reading of readings) {
      const { beacon } = reading;
      let sighting = known.get(beacon);
      if (!sighting) {
        const registered = building.isRegistered(beacon);
        sighting = (registered ? undefined : strangers.get(beacon)) ?? fresh(heardMs);
        if (registered) known.set(beacon, sighting);
        else {
          unregistered += 1;
          strangers.delete(beacon);
          strangers.set(beacon, sighting);
          if (strangers.size > STRANGERS) strangers.delete(/** @type {string} */ (strangers.keys().next().value));
        }
      }
      sighting.count += 1;
      if (heardMs < sighting.heard_ms) continue; // out of a backlog: it does not move the present
      sighting.heard_ms = heardMs;
      sighting.kind = kind;
      sighting.receiver = receiver;
      sighting.rssi = reading.rssi;
      measure(sighting, reading, heardMs);
    }
    return unregistered;
  }

  /** Who was a stranger and is registered now keeps what is known, and the other way round. @param {Building} building */
  function setBuilding(building) {
    for (const [from, to, registered] of /** @type {const} */ ([[known, strangers, false], [strangers, known, true]])) {
      for (const [id, sighting] of from) {
        if (building.isRegistered(id) !== registered) continue;
        from.delete(id);
        to.set(id, sighting);
      }
    }
    while (strangers.size > STRANGERS) strangers.delete(/** @type {string} */ (strangers.keys().next().value));
  }

  /**
   * What the database knows from before the start; whatever was heard since counts for more.
   * @param {Building} building
   * @param {{beacon: string, ts: number, kind: 'gateway'|'phone', receiver: string, rssi: number}[]} rows
   */
  function recall(building, rows) {
    for (const { beacon, ts, kind, receiver, rssi } of rows) {
      if (!building.isRegistered(beacon)) continue;
      const sighting = known.get(beacon);
      if (!sighting) known.set(beacon, { ...fresh(ts), kind, receiver, rssi });
      else if (ts > sighting.heard_ms) Object.assign(sighting, { heard_ms: ts, kind, receiver, rssi });
    }
  }

  return {
    hear,
    setBuilding,
    recall,
    /** A registered one. @param {string} beacon @returns {Readonly<Sighting>|null} null: not heard */
    of: (beacon) => known.get(beacon) ?? null,
    /** @returns {({beacon: string} & Readonly<Sighting>)[]} last heard first */
    strangers: () => [...strangers].map(([beacon, sighting]) => ({ beacon, ...sighting })).reverse(),
  };
}

/** @param {number} ts @returns {Sighting} */
const fresh = (ts) => ({
  first_ms: ts, heard_ms: ts, kind: 'phone', receiver: '', rssi: 0, count: 0,
  measured_ms: null, battery_mv: null, temperature_c: null, humidity_pct: null,
});

/** @param {Sighting} sighting @param {import('../intake/readings').Reading} reading @param {number} ts */
function measure(sighting, { battery_mv: battery, temperature_c: temperature, humidity_pct: humidity }, ts) {
  if (battery === undefined && temperature === undefined && humidity === undefined) return;
  sighting.measured_ms = ts;
  if (battery !== undefined) sighting.battery_mv = battery;
  if (temperature !== undefined) sighting.temperature_c = temperature;
  if (humidity !== undefined) sighting.humidity_pct = humidity;
}

module.exports = { createBeacons, STRANGERS };
