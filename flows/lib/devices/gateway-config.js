// @ts-check
'use strict';

const { createHash } = require('node:crypto');

/**
 * Keeps the retained configs of the gateways in line with the building in use. The broker sends its retained messages at each
 * connection. So an unchanged config is not published again, a config that a killed broker lost is published again, and the
 * config of a gateway that left the building is cleared, also when it left while we were away.
 * @typedef {import('../building').Building} Building
 */

/** All retained messages have arrived this long after the connection, and this long after the last of them. */
const SETTLE_MS = 2000;
const QUIET_MS = 1000;
/** Messages in the outbox at a time; they have 64 KiB at most each and must not push out others. */
const IN_FLIGHT_MAX = 20;
const TOPIC = /^sda\/v1\/gateway\/([^/]+)\/config$/;
const OTHER = '?'; // a retained config that is not the wanted one; its content does not matter

/**
 * @param {object} options
 * @param {() => Building} options.building in use
 * @param {Pick<import('../broker/outbox').Outbox, 'put'>} options.outbox
 * @param {() => boolean} options.connected to the broker, to publish and to receive
 * @param {() => number} options.clock epoch ms
 * @param {(text: string) => void} [options.log]
 */
function createGatewayConfigPublisher({ building, outbox, connected, clock, log = () => {} }) {
  let madeFrom = building();
  let made = configsOf();
  /** @type {Map<string, string>} by gateway id */
  const retained = new Map();
  /** @type {Set<string>} gateways with a message in the outbox: one each, since a newer one replaces it without a callback */
  const inFlight = new Set();
  /** @type {string[]} */
  let pending = [];
  let changed = true;
  let readyMs = Infinity;

  function configsOf() {
    const configs = gatewayConfigs(madeFrom);
    const { payloads, beacons, falsePositiveRate: share } = configs;
    const text = `${payloads.size} gateways are to report ${beacons} beacons`;
    if (share === 0) log(text);
    else log(`${text}, sent as a filter that lets ${(share * 100).toPrecision(2)} % of all others in as well`);
    return configs;
  }

  /**
   * Takes a message of the topic. A message without the retain flag is our own, coming back.
   * @param {{topic: string, payload: Buffer, retain?: boolean}} message
   */
  function handleMessage({ topic, payload, retain = false }) {
    const [, id] = TOPIC.exec(topic) ?? [];
    if (id === undefined || !retain) return;
    const want = made.payloads.get(id);
    retained.set(id, want !== undefined && payload.toString() === want ? want : OTHER);
    if (readyMs !== Infinity) readyMs = Math.max(readyMs, clock() + QUIET_MS);
    changed = true;
  }

  /** Publishes what differs; called twice a second, since a lost connection takes a second at least. */
  function sync() {
    if (building() !== madeFrom) {
      madeFrom = building();
      made = configsOf();
      changed = true;
    }
    if (!connected()) {
      retained.clear();
      pending = [];
      readyMs = Infinity;
      return;
    }
    if (readyMs === Infinity) {
      readyMs = clock() + SETTLE_MS;
      changed = true;
    }
    if (clock() < readyMs) return;
    if (changed) pending = [...new Set([...made.payloads.keys(), ...retained.keys()])].reverse();
    changed = false;
    publish();
  }

  function publish() {
    while (inFlight.size < IN_FLIGHT_MAX && pending.length > 0) {
      const id = /** @type {string} */ (pending.pop());
      const payload = made.payloads.get(id) ?? '';
      if ((retained.get(id) ?? '') === payload || inFlight.has(id)) continue;
      inFlight.add(id);
      outbox.put({ topic: `sda/v1/gateway/${id}/config`, payload, retain: true }, clock(), (error) => {
        inFlight.delete(id);
        if (error) changed = true; // the outbox was full: try again at the next sync
        else acknowledged(id, payload);
      });
    }
  }

  /** @param {string} id @param {string} payload */
  function acknowledged(id, payload) {
    if (payload === '') retained.delete(id);
    else retained.set(id, payload);
    if (payload !== (made.payloads.get(id) ?? '')) changed = true; // the building was changed meanwhile
    publish();
  }

  return { handleMessage, sync, /** For the building in use. */ made: () => made };
}

/**
 * The settings of each gateway of the building: payloads of `sda/v1/gateway/<id>/config`. Pure.
 *
 * `rssi_offset` is not sent: the locator adds the building's, and a gateway that added it too would count it twice.
 */

/** A longer list is sent as a Bloom filter: the broker holds one payload for each of thousands of gateways. */
const LIST_BYTES = 16 * 1024;
/** The contract's bounds of `min_rssi`, dBm. */
const RSSI = { min: -127, max: 20 };

/**
 * @param {Building} building
 * @param {number} [listBytes]
 * @returns {{payloads: Map<string, string>, beacons: number, falsePositiveRate: number}} payloads by gateway id, the same for the
 *   same building; beacons: how many ids they allow; falsePositiveRate: share of other beacons that pass, 0 with a list of ids
 */
function gatewayConfigs({ gateways, beacons, tagOwner }, listBytes = LIST_BYTES) {
  const ids = [...new Set([...beacons.keys(), ...tagOwner.keys()])].sort();
  const list = JSON.stringify(ids);
  const filter = list.length > listBytes ? createFilter(ids) : null;
  const allowed = filter ? `"allow_bloom":${JSON.stringify(filter)}` : `"allow":${list}`;
  /** @type {Map<string, string>} payload by own settings: gateways with the same settings share one string */
  const texts = new Map();
  const payloads = new Map([...gateways].map(([id, gateway]) => {
    const own = ownSettings(gateway);
    if (!texts.has(own)) texts.set(own, `{"v":1,${own}${allowed}}`);
    return [id, /** @type {string} */ (texts.get(own))];
  }));
  return { payloads, beacons: ids.length, falsePositiveRate: filter ? falsePositiveRate(filter) : 0 };
}

/** @param {import('../building').Gateway} gateway @returns {string} settings of this gateway alone, as members of a JSON object */
function ownSettings({ window_ms: window, min_rssi: least, rssi_offset: offset = 0 }) {
  return (window === undefined ? '' : `"window_ms":${window},`) + (least === undefined ? '' : `"min_rssi":${weakestSent(least, offset)},`);
}

/**
 * The weakest whole RSSI that the locator accepts after adding the offset; the gateway compares RSSI without it.
 * @param {number} least dBm @param {number} offset dB
 */
function weakestSent(least, offset) {
  const near = Math.ceil(least - offset);
  // The locator compares the sum: a difference of fractions may be rounded to the other side of a whole number.
  const whole = [near - 1, near].find((rssi) => rssi + offset >= least) ?? near + 1;
  return Math.min(RSSI.max, Math.max(RSSI.min, whole));
}

/**
 * A set of ids in a few bits each: a Bloom filter (B. H. Bloom, Communications of the ACM 13, 1970). Ids of the set always match;
 * a small share of other ids matches as well. docs/interfaces.md says how a filter is read.
 * @typedef {{ids: number, k: number, bits: string}} Filter ids: how many ids it holds; k: bits of each id; bits: base64
 */

/** For a false positive rate of 0.1 %. The fewest bits for a rate p are −log2(p) / ln 2 (the same paper). */
const BITS_PER_ID = 14.4;
/** 60,000 letters in base64. With more than 25,000 ids the false positive rate grows. */
const MAX_BYTES = 45_000;
const MAX_K = 32;

/**
 * Where an id's bits are: double hashing (A. Kirsch, M. Mitzenmacher: Less Hashing, Same Performance, 2006).
 * @param {string} id @param {number} k @param {number} bits
 */
function places(id, k, bits) {
  const hash = createHash('sha256').update(id).digest();
  const [start, step] = [hash.readUInt32BE(0), (hash.readUInt32BE(4) | 1) >>> 0];
  return Array.from({ length: k }, (_, i) => (start + i * step) % bits);
}

/** @param {string[]} ids @returns {Filter} */
function createFilter(ids) {
  const bytes = Buffer.alloc(Math.min(MAX_BYTES, Math.max(1, Math.ceil(ids.length * BITS_PER_ID / 8))));
  const bits = bytes.length * 8;
  const k = Math.min(MAX_K, Math.max(1, Math.round(bits / Math.max(1, ids.length) * Math.LN2)));
  for (const id of ids) {
    for (const place of places(id, k, bits)) bytes[place >> 3] = Number(bytes[place >> 3]) | 1 << (place & 7);
  }
  return { ids: ids.length, k, bits: bytes.toString('base64') };
}

/** @param {Filter} filter @returns {number} 0 … 1, share of other ids that match: all k places of the id are taken */
function falsePositiveRate({ ids, k, bits }) {
  return (1 - Math.exp(-k * ids / (Buffer.byteLength(bits, 'base64') * 8))) ** k;
}

module.exports = { createGatewayConfigPublisher, gatewayConfigs, createFilter, falsePositiveRate };
