// @ts-check
'use strict';

const { readLine } = require('./broker-log');

/**
 * Sessions that one connection takes from another: a broker keeps one connection for each client id, so two devices with one account
 * throw each other out for ever, and what they send is mixed. Read from the broker's log;
 * clients of MQTT 3.1.1 are not told why they were disconnected.
 *
 * A single device takes its own session where its old connection has died unnoticed; so one or two say nothing.
 * @typedef {import('./broker-log').Endpoint} Endpoint
 * @typedef {object} Takeover
 * @property {string} id the client id, which is the account's name for receivers
 * @property {number} count how often within the last ten minutes
 * @property {number} since epoch ms, the first of these
 * @property {number} last_ms
 * @property {boolean} shared whether two devices use the account
 * @property {Endpoint} thrown_out at the last time
 * @property {Endpoint} connected the one that has the session since
 * @property {string[]} addresses all within the last ten minutes, the latest first
 * @typedef {ReturnType<typeof createTakeovers>} Takeovers
 */

/** Who waits longer between two attempts to connect is not recognised. */
const WINDOW_MS = 600_000;
/** A phone that changes its network and comes back takes its session twice. */
const SHARED_FROM = 3;
/** The two lines of a takeover follow each other at once. */
const PAIR_MS = 5000;
const KEPT = 256;
/** Its checks come from several programs, none of which keeps the connection. */
const PROBE = 'nodered-probe';

function createTakeovers() {
  /** @type {Map<string, {times: number[], thrownOut: Endpoint, connected: Endpoint, addresses: Map<string, number>}>} the latest last */
  const known = new Map();
  /** @type {Map<string, {endpoint: Endpoint, ms: number}>} by client id, whose session was just taken */
  const taken = new Map();
  let total = 0;

  /** @param {number} nowMs */
  function forget(nowMs) {
    for (const [id, one] of known) {
      one.times = one.times.filter((ms) => nowMs - ms < WINDOW_MS);
      for (const [address, ms] of one.addresses) if (nowMs - ms >= WINDOW_MS) one.addresses.delete(address);
      if (one.times.length === 0) known.delete(id);
    }
    for (const [id, { ms }] of taken) if (nowMs - ms > PAIR_MS) taken.delete(id);
  }

  /** @param {string} id @param {Endpoint} thrownOut @param {Endpoint} connected @param {number} nowMs */
  function add(id, thrownOut, connected, nowMs) {
    const { times = [], addresses = new Map() } = known.get(id) ?? {};
    for (const { address } of [thrownOut, connected]) {
      addresses.delete(address);
      addresses.set(address, nowMs);
    }
    known.delete(id);
    known.set(id, { times: [...times, nowMs].slice(-1000), thrownOut, connected, addresses });
    if (known.size > KEPT) known.delete(/** @type {string} */ (known.keys().next().value));
    total += 1;
  }

  return {
    /** Takes a line of the broker's log. @param {string} line @param {number} nowMs */
    handleLine(line, nowMs) {
      const { ended, connected } = readLine(line);
      if (ended?.reason === 'session taken over') {
        forget(nowMs);
        taken.set(ended.id, { endpoint: ended.endpoint, ms: nowMs });
      }
      const before = connected && taken.get(connected.id);
      if (!before) return;
      taken.delete(connected.id);
      if (connected.user !== PROBE && nowMs - before.ms <= PAIR_MS) add(connected.id, before.endpoint, connected.endpoint, nowMs);
    },

    /** Those of the last ten minutes, the latest first. @param {number} nowMs @returns {Takeover[]} */
    list(nowMs) {
      forget(nowMs);
      return [...known].reverse().map(([id, { times, thrownOut, connected, addresses }]) => ({
        id, count: times.length, since: times[0] ?? nowMs, last_ms: times.at(-1) ?? nowMs, shared: times.length >= SHARED_FROM,
        thrown_out: thrownOut, connected, addresses: [...addresses.keys()].reverse(),
      }));
    },

    /** Since our start. */
    total: () => total,
  };
}

module.exports = { createTakeovers };
