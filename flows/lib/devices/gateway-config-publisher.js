// @ts-check
'use strict';

const { gatewayConfigs } = require('./gateway-config');

/**
 * Keeps what the broker holds for the gateways (retained) as the building in use wants it. What the broker holds it tells
 * itself, at each connection: so nothing is published that is there already, what a killed broker has forgotten is published
 * again, and what is held for a gateway that left the building is taken off, also when it left while we were away.
 * @typedef {import('../building').Building} Building
 */

/** How long after a connection, and after the last of what it brought, the broker has told all it holds. */
const SETTLE_MS = 2000;
const QUIET_MS = 1000;
/** So few are in the outbox at a time (of 64 KiB at most each) that they push nothing else out of it. */
const AT_ONCE = 20;
const TOPIC = /^sda\/v1\/gateway\/([^/]+)\/config$/;
const OTHER = '?'; // of what the broker holds it matters only whether it is what we want

/**
 * @param {object} edge
 * @param {() => Building} edge.building the one in use
 * @param {Pick<ReturnType<typeof import('../outbox').createOutbox>, 'put'|'connected'>} edge.outbox
 * @param {() => number} edge.clock epoch ms
 * @param {(made: ReturnType<typeof gatewayConfigs>) => void} [edge.announce] of each building that is taken over
 */
function createGatewayConfigKeeper({ building, outbox, clock, announce = () => {} }) {
  let madeFrom = building();
  let wanted = made();
  /** @type {Map<string, string>} by gateway id */
  const held = new Map();
  /** @type {Set<string>} gateways whose message is in the outbox: never two of one, since it forgets the older without a word */
  const underWay = new Set();
  /** @type {string[]} */
  let todo = [];
  let changed = true;
  let readyMs = Infinity;

  function made() {
    const configs = gatewayConfigs(madeFrom);
    announce(configs);
    return configs.payloads;
  }

  /**
   * A message of the topic; what is not retained is our own, coming back.
   * @param {{topic: string, payload: Buffer, retain?: boolean}} message
   */
  function tell({ topic, payload, retain = false }) {
    const [, id] = TOPIC.exec(topic) ?? [];
    if (id === undefined || !retain) return;
    const want = wanted.get(id);
    held.set(id, want !== undefined && payload.toString() === want ? want : OTHER);
    if (readyMs !== Infinity) readyMs = Math.max(readyMs, clock() + QUIET_MS);
    changed = true;
  }

  /** To be called twice a second, since a connection is away for a second at least. */
  function look() {
    if (building() !== madeFrom) {
      madeFrom = building();
      wanted = made();
      changed = true;
    }
    if (!outbox.connected()) {
      held.clear();
      todo = [];
      readyMs = Infinity;
      return;
    }
    if (readyMs === Infinity) {
      readyMs = clock() + SETTLE_MS;
      changed = true;
    }
    if (clock() < readyMs) return;
    if (changed) todo = [...new Set([...wanted.keys(), ...held.keys()])].reverse();
    changed = false;
    send();
  }

  function send() {
    while (underWay.size < AT_ONCE && todo.length > 0) {
      const id = /** @type {string} */ (todo.pop());
      const payload = wanted.get(id) ?? '';
      if ((held.get(id) ?? '') === payload || underWay.has(id)) continue;
      underWay.add(id);
      outbox.put({ topic: `sda/v1/gateway/${id}/config`, payload, retain: true }, clock(), (error) => {
        underWay.delete(id);
        if (error) changed = true; // it was pushed out: again at the next look
        else arrived(id, payload);
      });
    }
  }

  /** @param {string} id @param {string} payload */
  function arrived(id, payload) {
    if (payload === '') held.delete(id);
    else held.set(id, payload);
    if (payload !== (wanted.get(id) ?? '')) changed = true; // the building was changed meanwhile
    send();
  }

  return { tell, look };
}

module.exports = { createGatewayConfigKeeper };
