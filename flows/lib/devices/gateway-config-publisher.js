// @ts-check
'use strict';

const { gatewayConfigs } = require('./gateway-config');

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
    const { payloads, beacons, falsePositiveRate } = configs;
    const text = `${payloads.size} gateways are to report ${beacons} beacons`;
    if (falsePositiveRate === 0) log(text);
    else log(`${text}, sent as a filter that lets ${(falsePositiveRate * 100).toPrecision(2)} % of all others in as well`);
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

module.exports = { createGatewayConfigPublisher };
