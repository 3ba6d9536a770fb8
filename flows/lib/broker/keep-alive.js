// @ts-check
'use strict';

/**
 * Messages that arrive prove that the connection is alive. MQTT.js counts only answers to its own packets, and these wait behind the
 * messages that the broker sends: with a long queue they come later than MQTT.js waits, and it would begin the queue anew.
 */

const EVERY_MS = 1000;

/**
 * @param {{client?: {reschedulePing?: (force: boolean) => void}}} broker config node of Node-RED
 * @param {() => number} [clockMs] only goes on
 * @returns {() => void} to be called when messages have arrived
 */
function createKeepAlive(broker, clockMs = () => performance.now()) {
  let saidMs = -Infinity;
  return () => {
    const nowMs = clockMs();
    if (nowMs - saidMs < EVERY_MS) return;
    saidMs = nowMs;
    broker.client?.reschedulePing?.(true); // a mocked broker has none
  };
}

module.exports = { createKeepAlive };
