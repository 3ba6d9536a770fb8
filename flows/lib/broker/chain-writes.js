// @ts-check
'use strict';

/**
 * Mosquitto reads one TLS record of a client, then serves all other clients. With 8,000 publishing clients each client gets a few turns a
 * second, too few for the flows' acknowledgements. Within one MQTT packet Mosquitto reads record after record until it has all data. So
 * each large write ends with the first byte of a PINGREQ, and the next write begins with the second byte. The PINGRESP is ignored.
 */

const PING_BEGIN = { chunk: Buffer.from([0xc0]), encoding: 'buffer' };
const PING_END = { chunk: Buffer.from([0x00]), encoding: 'buffer' };
const MANY_BYTES = 64; // sixteen acknowledgements in one turn of the event loop: the broker sends faster than it is answered

/**
 * @typedef {{chunk: Buffer|string, encoding: string}} Chunk
 * @typedef {import('node:stream').Writable & {_writev(chunks: Chunk[], done: (error?: Error|null) => void): void}} Socket
 */

/**
 * @param {import('node:stream').Writable & {encrypted?: boolean}} stream of MQTT.js, which writes whole packets before its turn ends;
 *   chained from now on if it is a TLS socket
 */
function chainWrites(stream) {
  if (!stream.encrypted) return;
  const socket = /** @type {Socket} */ (/** @type {unknown} */ (stream));
  const writev = socket._writev.bind(socket);
  let isOpen = false;
  socket._writev = (chunks, done) => {
    const packets = isOpen ? [PING_END, ...chunks] : [...chunks];
    isOpen = chunks.reduce((size, { chunk }) => size + chunk.length, 0) >= MANY_BYTES;
    writev(isOpen ? [...packets, PING_BEGIN] : packets, done);
  };
  socket._write = (chunk, encoding, done) => socket._writev([{ chunk, encoding }], done);
}

module.exports = { chainWrites };
