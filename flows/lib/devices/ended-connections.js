// @ts-check
'use strict';

const { readLine } = require('./broker-log');

/**
 * Gateways whose connection ended without a word: the broker publishes no last will of an account that is removed, nor for a client that
 * says goodbye, nor has every gateway one. What such a gateway claims, that it is online, is retained for ever.
 * @typedef {ReturnType<typeof createEndedConnections>} EndedConnections
 */

/** Who is there says something sooner: agents send their health every 15 s, and reconnect within that. */
const WAIT_MS = 20_000;
/** At a restart of a switch all gateways end at once. */
const KEPT = 10_000;

function createEndedConnections() {
  /** When, by our clock, by client id. @type {Map<string, number>} */
  const ended = new Map();

  return {
    /** Takes a line of the broker's log. @param {string} line @param {number} nowMs */
    handleLine(line, nowMs) {
      const { ended: gone, connected } = readLine(line);
      if (connected) ended.delete(connected.id);
      else if (gone && gone.reason !== 'session taken over' && ended.size < KEPT) ended.set(gone.id, nowMs);
    },
    /** Clients that did not connect again, and when they ended; each once. @param {number} nowMs @returns {[id: string, ms: number][]} */
    take(nowMs) {
      const gone = [...ended].filter(([, ms]) => nowMs - ms >= WAIT_MS);
      for (const [id] of gone) ended.delete(id);
      return gone;
    },
  };
}

/** The status that such a gateway did not send. @param {string} id @param {number} nowMs */
const statusOf = (id, nowMs) => ({ topic: `sda/v1/gateway/${id}/status`, retain: true,
  payload: JSON.stringify({ state: 'offline', ts: nowMs, reason: 'its connection ended without a word' }) });

module.exports = { createEndedConnections, statusOf };
