// @ts-check
'use strict';

/**
 * When the broker may forget what it keeps for the flows: when all that is in flight is acknowledged. What is in flight as the connection
 * breaks MQTT.js sends again, one after the other, and it is not connected before: with a busy broker for a minute. Pure.
 */

const ACKNOWLEDGED_MS = 5000; // longer is not waited
const HOLD_MS = 2000; // by then the connection is broken

/**
 * @param {Pick<ReturnType<typeof import('./connection').createConnection>, 'willGoOn'>} connection
 * @param {() => number} inFlight how many messages
 * @param {() => void} forget
 */
function createForgetting(connection, inFlight, forget) {
  let latestMs = -Infinity;
  let heldToMs = -Infinity;

  return {
    /** @param {number} nowMs */
    request(nowMs) { if (latestMs === -Infinity) latestMs = nowMs + ACKNOWLEDGED_MS; },
    /** Whether nothing is to be sent now; forgets when it is time. @param {number} nowMs */
    holds(nowMs) {
      if (latestMs === -Infinity) return nowMs < heldToMs && nowMs >= heldToMs - HOLD_MS;
      if (inFlight() > 0 && nowMs < latestMs && nowMs >= latestMs - ACKNOWLEDGED_MS) return true;
      latestMs = -Infinity;
      heldToMs = nowMs + HOLD_MS;
      connection.willGoOn(nowMs);
      forget();
      return true;
    },
  };
}

module.exports = { createForgetting };
