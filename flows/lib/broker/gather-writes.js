// @ts-check
'use strict';

const { RecordChain } = require('./mosquitto-one-tls-record');

/**
 * Writes of MQTT.js within one turn of the event loop go out together, in one system call instead of one for each message and each
 * acknowledgement. Nothing waits for a timer, and not for the broker's kernel to acknowledge what went before (Nagle's algorithm, which
 * delays a message after a PUBACK by up to 40 ms). Over TLS the writes are chained (`mosquitto-one-tls-record.js`).
 * @typedef {import('node:stream').Writable & {encrypted?: boolean, setNoDelay?: (noDelay: boolean) => unknown}} Stream
 * @typedef {Pick<import('node:events').EventEmitter, 'on'|'listeners'> & {stream: Stream}} Client of MQTT.js; it says `packetsend` before
 *   it writes a packet, which it writes as a whole before the turn ends
 */

/** Marks our listener. */
const GATHERS = Symbol('gathers writes');

/** @param {Client} client gathers from now on, on each of its connections; once, however often this is called */
function gatherWrites(client) {
  if (client.listeners('packetsend').some((listener) => GATHERS in listener)) return;
  /** @type {Stream|null} */
  let stream = null;
  /** @type {RecordChain|null} of a TLS connection */
  let chain = null;
  let isOpen = false;

  function beginTurn() {
    if (client.stream !== stream) follow(client.stream);
    if (isOpen) return;
    isOpen = true;
    const its = /** @type {Stream} */ (stream);
    const itsChain = chain;
    its.cork();
    itsChain?.begin();
    setImmediate(() => {
      if (its === stream) isOpen = false;
      itsChain?.end();
      its.uncork();
    });
  }

  /** @param {Stream} next of a new connection */
  function follow(next) {
    stream = next;
    isOpen = false;
    chain = next.encrypted ? new RecordChain(next) : null;
    next.setNoDelay?.(true); // a WebSocket's stream has none
  }

  client.on('packetsend', Object.assign(beginTurn, { [GATHERS]: true }));
}

module.exports = { gatherWrites };
