// @ts-check
'use strict';

const { ID, BEACON } = require('../building/ids');
const { OddNumber, parse } = require('../shared/json');

/** The contract's bounds on one message. */
const BOUNDS = Object.freeze({
  payloadBytes: 65_664, // of a packet (broker/mosquitto.conf): what passes the broker is no larger, and ingest takes it
  readings: 500,
  rssiMin: -126,
  rssiMax: -1,
  pastMs: (7 * 24 * 60 - 1) * 60 * 1000, // a minute less than the database keeps: what it drops on arrival would block the rest
  aheadMs: 5 * 60 * 1000,
});

/** RSSIs that radios and phones report where they measured nothing: controllers 127 and -128, BlueZ -127, iOS 0, some drivers 1 to 20. */
const UNKNOWN_RSSI = new Set([-128, -127, 127, ...Array.from({ length: 21 }, (_, dbm) => dbm)]);

const TOPIC = /^sda\/v1\/(gateway|phone)\/([^/]+)\/readings$/;
/** Optional values and what they may be; the same bounds as in `ingest/`. @type {[Optional, number, number][]} */
const OPTIONAL = [
  ['n', 0, 1_000_000],
  ['tx', -127, 20],
  ['battery_mv', 0, 65_535],
  ['temperature_c', -100, 200],
  ['humidity_pct', 0, 100],
];

/**
 * @typedef {'n'|'tx'|'battery_mv'|'temperature_c'|'humidity_pct'} Optional
 * @typedef {{beacon: string, rssi: number, n?: number, tx?: number, battery_mv?: number, temperature_c?: number,
 *   humidity_pct?: number}} Reading rssi and tx in dBm
 * @typedef {Omit<Reading, 'rssi'>} Measured what a beacon says of itself, of a reading whose RSSI is not known
 * @typedef {{kind: 'gateway'|'phone', receiver: string, ts: number, readings: Reading[], measured?: Measured[], simulated?: true}} Batch
 *   ts: epoch ms on the receiver's clock; simulated: a simulator has made it up
 * @typedef {'not_json'|'not_a_batch'|'too_large'|'too_many_readings'|'version'|'ts_missing'|'ts_invalid'|'ts_too_old'|
 *   'ts_ahead'|'beacon_invalid'|'rssi_invalid'|'rssi_unknown'|'optional_invalid'} Reason
 * @typedef {{kind: string, receiver: string, reason: Reason, detail: string, count: number}} Rejection count: readings
 *   refused, or 1 where it is the whole message
 */

/**
 * Check one message. Good readings are kept whatever their neighbours are.
 * @param {string} topic
 * @param {Buffer} payload
 * @param {number} nowMs
 * @returns {{batch: Batch|null, rejections: Rejection[]}}
 */
function readMessage(topic, payload, nowMs) {
  const match = TOPIC.exec(topic);
  const kind = /** @type {'gateway'|'phone'} */ (match?.[1] ?? 'unknown');
  const receiver = match?.[2] ?? 'unknown';
  /** @param {Reason} reason @param {string} detail */
  const refuse = (reason, detail) => ({ batch: null, rejections: [{ kind, receiver, reason, detail, count: 1 }] });

  if (!match || !ID.test(receiver)) return refuse('not_a_batch', `"${topic}" is no topic of readings`);
  const { data, fault } = open(payload, nowMs);
  if (fault) return refuse(...fault);

  /** @type {Map<Reason, Rejection>} */
  const rejections = new Map();
  /** @param {Reason} reason @param {string} detail */
  const refuseOne = (reason, detail) => {
    const earlier = rejections.get(reason);
    if (earlier) earlier.count += 1;
    else rejections.set(reason, { kind, receiver, reason, detail, count: 1 });
  };
  /** @type {Reading[]} */
  const kept = [];
  /** @type {Measured[]} */
  const measured = [];
  for (const reading of data.readings) {
    const good = readOne(reading, refuseOne);
    if (good && 'rssi' in good) kept.push(good);
    else if (good) measured.push(good);
  }
  /** @type {Batch} */
  const batch = { kind, receiver, ts: data.ts, readings: kept };
  if (measured.length > 0) batch.measured = measured;
  if (data.simulated === true) batch.simulated = true;
  return { batch, rejections: [...rejections.values()] };
}

/**
 * The envelope of a message.
 * @param {Buffer} payload
 * @param {number} nowMs
 * @returns {{data?: any, fault?: [Reason, string]}}
 */
function open(payload, nowMs) {
  if (payload.length > BOUNDS.payloadBytes) {
    return { fault: ['too_large', `${payload.length} bytes, at most ${BOUNDS.payloadBytes} are taken`] };
  }
  let data;
  try {
    data = parse(payload);
  } catch (error) {
    return { fault: ['not_json', error instanceof Error ? error.message : String(error)] };
  }
  if (data === null || typeof data !== 'object' || Array.isArray(data)) return { fault: ['not_a_batch', 'not a JSON object'] };
  if (data.v !== undefined && data.v !== 1) return { fault: ['version', `version ${show(data.v)} is not 1`] };
  const late = timeFault(data.ts, nowMs);
  if (late) return { fault: late };
  if (!Array.isArray(data.readings)) return { fault: ['not_a_batch', 'readings is not a list'] };
  if (data.readings.length > BOUNDS.readings) {
    return { fault: ['too_many_readings', `${data.readings.length} readings, at most ${BOUNDS.readings} are taken`] };
  }
  return { data };
}

/** @param {any} ts @param {number} nowMs @returns {[Reason, string]|null} */
function timeFault(ts, nowMs) {
  if (ts === undefined || ts === null) return ['ts_missing', 'there is no ts'];
  if (!Number.isInteger(ts)) return ['ts_invalid', `ts is ${show(ts)}, not a whole number of milliseconds`];
  if (ts < nowMs - BOUNDS.pastMs) return ['ts_too_old', `ts ${ts} is more than 7 days (less a minute) ago`];
  if (ts > nowMs + BOUNDS.aheadMs) return ['ts_ahead', `ts ${ts} is more than 5 minutes ahead`];
  return null;
}

/**
 * @param {any} reading
 * @param {(reason: Reason, detail: string) => void} refuse
 * @returns {Reading|Measured|null} without `rssi` where it is not known
 */
function readOne(reading, refuse) {
  const beacon = reading?.beacon;
  const rssi = reading?.rssi;
  if (typeof beacon !== 'string' || !BEACON.test(beacon)) {
    refuse('beacon_invalid', `beacon ${show(beacon)} is no beacon id`);
    return null;
  }
  /** @type {Reading|Measured} */
  const good = isMeasured(rssi) ? { beacon, rssi } : { beacon };
  if (UNKNOWN_RSSI.has(rssi)) {
    refuse('rssi_unknown', `rssi ${rssi} of ${beacon} says that it was not measured, which ${BOUNDS.rssiMin} to ${BOUNDS.rssiMax} dBm are`);
  } else if (!isMeasured(rssi)) {
    refuse('rssi_invalid', `rssi ${show(rssi)} of ${beacon} is no whole number from ${BOUNDS.rssiMin} to ${BOUNDS.rssiMax}`);
    return null;
  }
  takeOptional(reading, good, refuse);
  return good;
}

/** @param {any} rssi dBm */
const isMeasured = (rssi) => Number.isInteger(rssi) && rssi >= BOUNDS.rssiMin && rssi <= BOUNDS.rssiMax;

/** @param {any} reading @param {Measured} good gets the values @param {(reason: Reason, detail: string) => void} refuse */
function takeOptional(reading, good, refuse) {
  const { beacon } = good;
  for (const [key, min, max] of OPTIONAL) {
    const written = reading[key];
    if (written === undefined || written === null) continue;
    const value = written instanceof OddNumber ? Number(written.source) : written;
    if (typeof value === 'number' && value >= min && value <= max) {
      if (key !== 'battery_mv') good[key] = value;
      else if (value >= 1) good[key] = Math.trunc(value); // Eddystone: 0 is not measured
    } else refuse('optional_invalid', `${key} ${show(value)} of ${beacon} is no number from ${min} to ${max}`);
  }
}

/** A value as it appears in a message to people. @param {unknown} value */
function show(value) {
  if (value === undefined) return 'missing';
  return (value instanceof OddNumber ? value.source : JSON.stringify(value)).slice(0, 80);
}

/**
 * A probe is a batch without readings, which the flows publish and receive again. It takes the way of readings, and their order is kept:
 * when it is stored, all before it is stored (`past/background.js`), and when it comes back here, all before it has come
 * (`past/lost-readings.js`). No receiver has its id.
 */
const PROBE_TOPIC = 'sda/v1/phone/_flows/readings';

/** @param {number} ms when it is sent, epoch ms */
const probeMessage = (ms) => ({ topic: PROBE_TOPIC, payload: JSON.stringify({ v: 1, ts: ms, readings: [] }) });

/** When a probe was sent, epoch ms; null: it is none of ours. @param {Buffer} payload @returns {number|null} */
function probeMs(payload) {
  const digits = /^\{"v":1,"ts":(\d{1,15}),/.exec(payload.toString('latin1', 0, 64))?.[1];
  return digits === undefined ? null : Number(digits);
}

const RECEIVERS_MAX = 256;

/**
 * A count by reason, and for the 256 receivers of the last refusals their count, time and newest reason. Readings whose
 * RSSI is not known are counted apart: some phones have them among others at all times, which is no fault of theirs.
 * @typedef {{receiver: string, kind: string, count: number, last_ms: number, reason: Reason,
 *   detail: string}} Refused
 *   count: readings since the start; a message that was refused as a whole counts 1
 * @typedef {Refused & {since_ms: number|null}} Unmeasured since_ms: since when every RSSI of it is unknown; null: not every one is
 */
class Refusals {
  /** @type {Map<string, number>} */
  #byReason = new Map();
  /** @type {Map<string, Refused>} the oldest refusal first */
  #byReceiver = new Map();
  /** @type {Map<string, Unmeasured>} the oldest first */
  #unmeasured = new Map();

  /** @param {Rejection} rejection @param {number} nowMs */
  add({ kind, receiver: from, reason, detail, count }, nowMs) {
    const receiver = ID.test(from) ? from : 'unknown';
    this.#byReason.set(reason, (this.#byReason.get(reason) ?? 0) + count);
    const isUnknown = reason === 'rssi_unknown';
    const earlier = (isUnknown ? this.#unmeasured : this.#byReceiver).get(receiver)?.count ?? 0;
    const refused = { receiver, kind, count: earlier + count, last_ms: nowMs, reason, detail };
    if (isUnknown) putLast(this.#unmeasured, receiver, { ...refused, since_ms: this.#unmeasured.get(receiver)?.since_ms ?? nowMs });
    else putLast(this.#byReceiver, receiver, refused);
  }

  /** A receiver has measured some RSSI. @param {string} receiver */
  measured(receiver) {
    const known = this.#unmeasured.size > 0 && this.#unmeasured.get(receiver);
    if (known) known.since_ms = null;
  }

  /** Receivers with readings whose RSSI is not known, the latest first. @returns {Readonly<Unmeasured>[]} */
  unmeasured() {
    return [...this.#unmeasured.values()].reverse();
  }

  /** @returns {Record<string, number>} since the start */
  byReason() {
    return Object.fromEntries(this.#byReason);
  }

  /** @returns {Readonly<Refused>[]} the latest first */
  latest() {
    return [...this.#byReceiver.values()].reverse();
  }

  /** @param {string} receiver @returns {Readonly<Refused>|null} */
  of(receiver) {
    return this.#byReceiver.get(receiver) ?? null;
  }
}

/** @template T @param {Map<string, T>} map @param {string} key @param {T} value */
function putLast(map, key, value) {
  map.delete(key);
  map.set(key, value);
  if (map.size > RECEIVERS_MAX) map.delete(/** @type {string} */ (map.keys().next().value));
}

module.exports = { readMessage, isMeasured, BOUNDS, PROBE_TOPIC, probeMessage, probeMs, Refusals };
