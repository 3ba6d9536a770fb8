// @ts-check
'use strict';

/**
 * Reads a TLS connection at most once in READ_INTERVAL_MS, then all that has come since. Else a message of each few hundred microseconds
 * wakes this process, and costs a turn of the event loop, a message of Node-RED, and a write of acknowledgements: a quarter of all that
 * it costs. The first message after an interval without any is read at once. The broker sends each message as a TLS record. Node hands
 * over records one by one, and here they are put together. Whoever reads the stream gets them as `data`, as of any other.
 */

/** A message may be this late; people are shown by the second. */
const READ_INTERVAL_MS = 5;
/** Most that a TLS record holds. */
const RECORD_BYTES = 16 * 1024;

/**
 * @param {() => import('node:net').Socket|null|undefined} streamOf the connection at present, also after a reconnect
 * @param {(work: () => void) => void} [later] at the end of a turn of the event loop, when all was read that had come
 * @returns {import('node:net').OnReadOpts} the option `onread` of `tls.connect`
 */
function createCoalescedReads(streamOf, later = setImmediate) {
  /** @type {Buffer[]} */
  let records = [];
  /** @type {import('node:net').Socket|null|undefined} */
  let stream;

  function handOver() {
    const [data, from] = [Buffer.concat(records), stream];
    records = [];
    if (!from || from.destroyed || data.length === 0) return; // what is not acknowledged comes again
    from.emit('data', data);
    if (from.isPaused()) return; // by the reader, who has enough for now and resumes it
    from.pause();
    setTimeout(() => from.resume(), READ_INTERVAL_MS);
  }

  function followStream() {
    if (stream === streamOf()) return;
    stream = streamOf();
    stream?.prependOnceListener('end', handOver);
  }

  return {
    buffer: Buffer.allocUnsafeSlow(RECORD_BYTES),
    callback(bytes, buffer) {
      followStream();
      if (records.push(Buffer.from(buffer.subarray(0, bytes))) === 1) later(handOver);
      return true;
    },
  };
}

/**
 * From its next connection on; a plain one is read as ever, since MQTT.js hands its options to TLS alone. Node-RED's node has no field
 * for this option, so it is set beside those that the node has made for MQTT.js.
 * @param {import('./connections').BrokerNode} broker a mocked one has no options
 */
function coalesceReads(broker) {
  if (broker.options) broker.options.onread = createCoalescedReads(() => broker.client?.stream);
}

module.exports = { createCoalescedReads, coalesceReads, READ_INTERVAL_MS };
