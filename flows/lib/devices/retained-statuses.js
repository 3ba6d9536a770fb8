// @ts-check
'use strict';

const { readLine } = require('./broker-log');

/**
 * The states of gateways that the broker retains, compared with what is heard. Of an account that is removed the broker publishes no last
 * will, nor for a client that says goodbye, and not every gateway has one: what it claimed, that it is online, would be retained for
 * ever. So would the status of a gateway that is in no building any more.
 * @typedef {{topic: string, payload: string, retain: true}} Message
 */

/** Who is there says something sooner: agents send their health every 15 s, and reconnect within that. */
const WAIT_MS = 20_000;
/** Messages in flight when a connection ended come within this. */
const FLIGHT_MS = 1000;
/** The status of a gateway that the building file does not list is taken off after such a silence. */
const LEFT_MS = 600_000;
/** At a restart of a switch all gateways end at once. */
const ENDED_MAX = 10_000;

function createRetainedStatuses() {
  /** Of each gateway: what it said, and when by our clock. @type {Map<string, {online: boolean, ms: number}>} */
  const retained = new Map();
  /** When a connection ended, by client id, which is the account's name for receivers. @type {Map<string, number>} */
  const ended = new Map();

  /** Gateways whose connection ended without a word and that are not back. @param {(id: string) => number} aliveMs @param {number} nowMs */
  function leftOnline(aliveMs, nowMs) {
    const due = [...ended].filter(([, ms]) => nowMs - ms >= WAIT_MS);
    for (const [id] of due) ended.delete(id);
    // one that is there goes on, whoever else tried its name
    return due.filter(([id, ms]) => retained.get(id)?.online && aliveMs(id) <= ms + FLIGHT_MS).map(([id]) => id);
  }

  return {
    /** A status came. @param {string} id @param {boolean} online @param {number} nowMs */
    note: (id, online, nowMs) => { retained.set(id, { online, ms: nowMs }); },
    /** It was taken off. @param {string} id */
    forget: (id) => { retained.delete(id); },
    /** Takes a line of the broker's log. @param {string} line @param {number} nowMs */
    handleLine(line, nowMs) {
      const { ended: gone, connected } = readLine(line);
      if (connected) ended.delete(connected.id);
      else if (gone && gone.reason !== 'session taken over' && ended.size < ENDED_MAX) ended.set(gone.id, nowMs);
    },
    /**
     * Messages to publish; each once.
     * @param {import('../building').Building} building
     * @param {(id: string) => number} aliveMs when a gateway sent something last; 0: never
     * @param {number} nowMs
     * @returns {Message[]}
     */
    corrections(building, aliveMs, nowMs) {
      const offline = leftOnline(aliveMs, nowMs).map((id) => messageOf(id, JSON.stringify(
        { state: 'offline', ts: nowMs, reason: 'its connection ended without a word' })));
      const left = [...retained].filter(([id, { ms }]) => !building.gateways.has(id) && nowMs - Math.max(ms, aliveMs(id)) > LEFT_MS);
      for (const [id] of left) retained.delete(id);
      return [...offline, ...left.map(([id]) => messageOf(id, ''))];
    },
  };
}

/** @param {string} id @param {string} payload @returns {Message} */
const messageOf = (id, payload) => ({ topic: `sda/v1/gateway/${id}/status`, payload, retain: true });

module.exports = { createRetainedStatuses };
