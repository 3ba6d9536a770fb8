// @ts-check
'use strict';

const { chainWrites } = require('./chain-writes');

/**
 * What is written to a socket within one turn of the event loop goes out together, in one system call instead of one for each
 * message and each acknowledgement. Nothing waits for a timer, and not for the broker's kernel to acknowledge what went before
 * (Nagle's algorithm, which delays a message after a PUBACK by up to 40 ms). Over TLS the writes are chained (`chain-writes.js`).
 */

/** @type {WeakSet<import('node:stream').Writable>} */
const gathered = new WeakSet();

/**
 * @param {import('node:stream').Writable & {setNoDelay?: (noDelay: boolean) => unknown}} stream gathers from now on; it does so once,
 *   however often this is called
 */
function gatherWrites(stream) {
  if (gathered.has(stream)) return;
  gathered.add(stream);
  chainWrites(stream);
  stream.setNoDelay?.(true); // a WebSocket's stream has none
  const write = stream.write.bind(stream);
  let open = false;
  const release = () => {
    open = false;
    stream.uncork();
  };
  stream.write = (/** @type {any[]} */ ...args) => {
    if (!open) {
      open = true;
      stream.cork();
      setImmediate(release);
    }
    return Reflect.apply(write, stream, args);
  };
}

module.exports = { gatherWrites };
